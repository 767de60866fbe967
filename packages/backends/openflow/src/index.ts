import type { Backend } from '@podwire/engine';
import { type Clock, systemClock } from '@podwire/platform';
import { isConflict } from './errors.js';
import { watchBridge } from './feed.js';
import { flowKinds, OPENFLOW } from './kinds.js';
import { BridgeLink, type OpenBridge } from './link.js';
import { FlowSession } from './session.js';
import { BridgeSnapshot } from './snapshot.js';

export { flowKinds } from './kinds.js';
export type { OpenBridge } from './link.js';
export type * from './resources.js';

export interface FlowBackendOptions {
  /** Bridges that are followed, and that leftovers are looked for on. Resources may name others. */
  readonly bridges: readonly string[];
  readonly open: OpenBridge;
  /** Milliseconds that a call may take on one bridge, less than the engine waits for all; 10 s when absent. */
  readonly timeout?: number;
  readonly clock?: Pick<Clock, 'sleep'>;
}

/** A backend whose resources are on bridges of Open vSwitch. A connection is opened when something needs it. */
export function createFlowBackend({
  bridges,
  open,
  timeout = 10_000,
  clock = systemClock,
}: FlowBackendOptions): Backend {
  const options = { open, timeout, clock };
  const links = new Map(bridges.map((bridge) => [bridge, new BridgeLink(bridge, options)]));
  const linkOf = (bridge: string): BridgeLink => {
    const known = links.get(bridge) ?? new BridgeLink(bridge, options);
    links.set(bridge, known);
    return known;
  };
  return {
    name: OPENFLOW,
    kinds: Object.values(flowKinds),
    open: () => new FlowSession(links, linkOf),
    snapshot: () => new BridgeSnapshot(),
    isAbsent: () => false,
    isConflict,
    changes: [...links.values()].map(watchBridge),
    close: () => links.forEach((link) => link.close()),
  };
}
