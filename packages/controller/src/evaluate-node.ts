/** Decides what the controller does about one node. Pure. */
import type { Node, NodeLease, Stored, UnreachableNode } from '@podwire/cluster-state';

export interface NodeObservation {
  readonly node: Stored<Node> | undefined;
  readonly lease: Stored<NodeLease> | undefined;
  readonly unreachable: Stored<UnreachableNode> | undefined;
}

export interface Times {
  /** Milliseconds since the epoch, by this controller's wall clock. */
  readonly now: number;
  /** Milliseconds that controllers have counted on monotonic clocks since the node became unreachable. */
  readonly observed: number;
  readonly evictionTimeout: number;
  /** Milliseconds after which the counted time is written to the store. */
  readonly saveEvery: number;
}

export type Decision =
  | { readonly act: 'nothing' }
  /** The lease has ended. */
  | { readonly act: 'mark-unreachable' }
  /** Writes the counted time. */
  | { readonly act: 'save-time' }
  /** The node is back, or its object is gone. */
  | { readonly act: 'mark-reachable' }
  /** The eviction timeout is over: its blocks are released. */
  | { readonly act: 'release' }
  /** Nothing can be due for so many milliseconds. */
  | { readonly act: 'wait'; readonly milliseconds: number };

/**
 * A node is released when the eviction timeout has passed by both clocks: the wall clock since the first leader saw the lease end,
 * and the time that leaders have counted on monotonic clocks, which cannot jump. Either may be late; neither makes it early.
 */
export function evaluateNode({ node, lease, unreachable }: NodeObservation, times: Times): Decision {
  if (lease !== undefined || node === undefined)
    return { act: unreachable === undefined ? 'nothing' : 'mark-reachable' };
  if (unreachable === undefined) return { act: 'mark-unreachable' };
  return evaluateTimeout(unreachable.value, times);
}

function evaluateTimeout(unreachable: UnreachableNode, times: Times): Decision {
  const { now, observed, evictionTimeout, saveEvery } = times;
  const left = Math.max(evictionTimeout - observed, evictionTimeout - (now - unreachable.since));
  if (left <= 0) return { act: 'release' };
  const unsaved = observed - (unreachable.observed ?? 0);
  if (unsaved >= saveEvery || unreachable.since > now) return { act: 'save-time' };
  return { act: 'wait', milliseconds: Math.min(left, saveEvery - unsaved) };
}
