/** Everything that a switch holds. Changes work on a copy, so that a bundle is all or nothing. */
import { canonicalMatch } from '../codec/match.js';
import { DEFAULT_PRIORITY, type Flow } from '../flow.js';
import type { Group, Meter } from '../group.js';
import { patternOf, type Pattern } from './matching.js';

export interface FlowRecord {
  /** With table, priority and match. */
  readonly flow: Flow & Required<Pick<Flow, 'table' | 'priority' | 'match'>>;
  readonly pattern: Pattern;
  /** milliseconds */
  readonly addedAt: number;
  /** Counted up by packets. */
  readonly counters: { packets: number; bytes: number };
}

export interface Tables {
  /** By table, priority and match. */
  readonly flows: Map<string, FlowRecord>;
  readonly groups: Map<number, Group>;
  readonly meters: Map<number, Meter>;
}

export const emptyTables = (): Tables => ({ flows: new Map(), groups: new Map(), meters: new Map() });

export const copyTables = ({ flows, groups, meters }: Tables): Tables => ({
  flows: new Map(flows),
  groups: new Map(groups),
  meters: new Map(meters),
});

/** A flow with what is usual written out. */
export function toRecord(flow: Flow, addedAt: number): FlowRecord {
  const match = canonicalMatch(flow.match ?? {});
  const { table = 0, priority = DEFAULT_PRIORITY } = flow;
  const counters = { packets: 0, bytes: 0 };
  return { flow: { ...flow, table, priority, match }, pattern: patternOf(match), addedAt, counters };
}

export const keyOf = ({ flow: { table, priority, match } }: FlowRecord): string =>
  `${table}/${priority}/${JSON.stringify(match)}`;
