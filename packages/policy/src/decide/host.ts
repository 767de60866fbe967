/** The decision of policy of a node's own link, where a packet is the node's own. */
import type { Connection, Decision } from '../compile/compiler-contract.js';
import type { CompiledEndpoint } from '../compile/contract.js';
import type { Direction } from '../model/policy.js';
import { type CompiledView, decideConnection } from './decide.js';

/** Of two host endpoints for one link the first by name counts. @returns by name of the link; `*` is for all without one */
export function hostEndpointsByLink(
  endpoints: Iterable<CompiledEndpoint>,
): ReadonlyMap<string, CompiledEndpoint> {
  const byLink = new Map<string, CompiledEndpoint>();
  const hosts = [...endpoints].filter(({ kind }) => kind === 'host-endpoint');
  for (const host of hosts.sort((a, b) => (a.key < b.key ? -1 : 1)))
    if (host.link !== undefined && !byLink.has(host.link)) byLink.set(host.link, host);
  return byLink;
}

/** A link of the node that a packet comes or goes through. */
export interface HostInspection {
  readonly endpoint: CompiledEndpoint;
  readonly view: CompiledView;
  /** Ports that stay open, by the direction of the first packet. */
  readonly failsafes: Readonly<
    Record<Direction, readonly { readonly protocol: string; readonly port: number }[]>
  >;
}

/** Normal policy, behind failsafe ports. */
export function decideAtHost(
  { endpoint, view, failsafes }: HostInspection,
  direction: Direction,
  connection: Connection,
): Decision {
  const { protocol, destinationPort } = connection;
  const isFailsafe = failsafes[direction].some(
    (each) => each.protocol === protocol && each.port === destinationPort,
  );
  if (isFailsafe) return { verdict: 'allow', reason: 'failsafe' };
  return decideConnection(view, { direction, endpoint, connection });
}
