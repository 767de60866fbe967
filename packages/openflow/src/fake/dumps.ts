/** Answers to requests for lists. */
import { encodeMessage } from '../codec/message.js';
import type { DumpReply, DumpRequest } from '../message.js';
import type { PortDescription } from '../port-description.js';
import { groupsOf, referencedGroups, selectFlows } from './flow-changes.js';
import type { Tables } from './state.js';

export const TABLE_COUNT = 254;

interface Facts {
  readonly tables: Tables;
  readonly ports: readonly PortDescription[];
  readonly now: number;
}

function countReferences({ flows, groups }: Tables, id: number): number {
  const ofFlows = [...flows.values()].flatMap(({ flow }) => groupsOf(flow));
  const ofGroups = [...groups.values()].flatMap(({ buckets }) =>
    buckets.flatMap(({ actions }) => referencedGroups(actions)),
  );
  return [...ofFlows, ...ofGroups].filter((group) => group === id).length;
}

const noCounters = { packets: 0, bytes: 0 };

function countByTable({ flows }: Tables): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { flow } of flows.values()) counts.set(flow.table, (counts.get(flow.table) ?? 0) + 1);
  return counts;
}

/** The whole list in one answer. */
export function answerDump({ kind, selector = {} }: DumpRequest, { tables, ports, now }: Facts): DumpReply {
  const common = { type: 'dump_reply', more: false } as const;
  switch (kind) {
    case 'flow': {
      const entries = selectFlows(tables, selector).map(({ flow, counters, addedAt }) => ({
        flow,
        ...counters,
        duration: (now - addedAt) / 1000,
      }));
      return { ...common, kind, entries };
    }
    case 'groupDescription':
      return { ...common, kind, entries: [...tables.groups.values()] };
    case 'group': {
      const entries = [...tables.groups.values()].map(({ id, buckets }) => ({
        ...{ id, references: countReferences(tables, id), ...noCounters, duration: 0 },
        buckets: buckets.map(() => noCounters),
      }));
      return { ...common, kind, entries };
    }
    case 'meterConfig':
      return { ...common, kind, entries: [...tables.meters.values()] };
    case 'portDescription':
      return { ...common, kind, entries: ports };
    case 'port': {
      const entries = ports.map(({ port }) => ({
        port,
        duration: 0,
        received: noCounters,
        sent: noCounters,
      }));
      return { ...common, kind, entries };
    }
    case 'table': {
      const counts = countByTable(tables);
      const entries = [...Array(TABLE_COUNT).keys()].map((table) => ({
        ...{ table, active: counts.get(table) ?? 0, lookups: 0, matches: 0 },
      }));
      return { ...common, kind, entries };
    }
  }
}

/** A list as messages: halves of what does not fit in one. */
export function encodeDump(reply: DumpReply, xid: number): Buffer[] {
  const fits = reply.entries.length <= 100;
  try {
    if (fits) return [encodeMessage({ xid, message: reply })];
  } catch (error) {
    if (reply.entries.length < 2) throw error;
  }
  const middle = Math.ceil(reply.entries.length / 2);
  const part = (entries: readonly unknown[], more: boolean): DumpReply =>
    ({ ...reply, entries, more }) as DumpReply;
  return [
    ...encodeDump(part(reply.entries.slice(0, middle), true), xid),
    ...encodeDump(part(reply.entries.slice(middle), reply.more), xid),
  ];
}
