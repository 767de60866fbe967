/** Stand-in for the kernel in tests: the same interfaces and errors, in memory, with failures on demand. */
export { createFakeConntrack, FakeConntrack } from './fake/conntrack.js';
export type { Fault } from './fake/faults.js';
export { createFakeNftables, FakeNftables } from './fake/nftables.js';
