/**
 * A server of the part of Consul's HTTP API that Podwire uses, written for tests from its public documentation: Consul itself
 * is not among Debian's packages. What was tested with it is tested against this, and not against Consul.
 */
export { Consul, type ConsulOptions, type Rights } from './consul.js';
export type { Fault, FaultQueue } from './faults.js';
export { type ConsulServer, serveConsul, type ServerOptions } from './server.js';
export type { Contents } from './state.js';
