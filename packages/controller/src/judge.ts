/** What is to be done about one node. Pure. */
import type { UnreachableNode, Node, NodeLease, Stored } from '@podwire/cluster-state';

/** What the store says of a node. */
export interface Sight {
  readonly node: Stored<Node> | undefined;
  readonly presence: Stored<NodeLease> | undefined;
  readonly absence: Stored<UnreachableNode> | undefined;
}

export interface Times {
  /** Milliseconds since the epoch, by this controller's wall clock. */
  readonly now: number;
  /** Milliseconds of this absence that controllers have counted on monotonic clocks, up to now. */
  readonly observed: number;
  readonly vanishAfter: number;
  /** Milliseconds after which what was counted is written down. */
  readonly noteEvery: number;
}

export type Verdict =
  | { readonly act: 'rest' }
  /** Its presence has ended. */
  | { readonly act: 'note-absence' }
  /** What was counted so far is written down. */
  | { readonly act: 'note-time' }
  /** It is back, or there is no such node any more. */
  | { readonly act: 'end-absence' }
  | { readonly act: 'release' }
  /** Nothing can be due for so many milliseconds. */
  | { readonly act: 'wait'; readonly milliseconds: number };

/**
 * A node has vanished when it was absent for `vanishAfter` by both: the wall clock since it was seen first, whoever led then, and
 * what leaders have counted on clocks that cannot jump. Either of them can be late; neither makes it early.
 */
export function evaluateNode({ node, presence, absence }: Sight, times: Times): Verdict {
  if (presence !== undefined) return absence === undefined ? { act: 'rest' } : { act: 'end-absence' };
  if (node === undefined) return absence === undefined ? { act: 'rest' } : { act: 'end-absence' };
  if (absence === undefined) return { act: 'note-absence' };
  return judgeAbsence(absence.value, times);
}

function judgeAbsence(absence: UnreachableNode, { now, observed, vanishAfter, noteEvery }: Times): Verdict {
  const left = Math.max(vanishAfter - observed, vanishAfter - (now - absence.since));
  if (left <= 0) return { act: 'release' };
  const unnoted = observed - (absence.observed ?? 0);
  if (unnoted >= noteEvery || absence.since > now) return { act: 'note-time' };
  return { act: 'wait', milliseconds: Math.min(left, noteEvery - unnoted) };
}
