/** The part of a bridge that a call is about, as it is. */
import type { FlowSelector, SwitchConnection } from '@podwire/openflow';
import { type FlowItem, flowItem, groupItem, type Item, meterItem } from './items.js';

export interface View {
  /** Of ours and of others, by key. */
  readonly items: ReadonlyMap<string, Item>;
  /** Flows that send to a group; of groups that were asked about. */
  usersOf(group: number): readonly FlowItem[];
}

export interface Needs {
  readonly items: readonly Item[];
  /** Groups whose users are asked for. */
  readonly usersOf: readonly number[];
}

/** Flows that are asked for one by one; beyond that all flows of their tables are. */
const MOST_SINGLE = 32;

/** @throws OpenFlowError; the signal's reason */
export async function lookAt(
  connection: SwitchConnection,
  bridge: string,
  { items, usersOf }: Needs,
  signal: AbortSignal,
): Promise<View> {
  const flows = items.filter((item) => item.sort === 'flow');
  const has = (sort: Item['sort']): boolean => items.some((item) => item.sort === sort);
  const dumpFlows = async (selectors: readonly FlowSelector[]): Promise<FlowItem[]> =>
    (await connection.dump('flow', selectors, { signal })).map(({ flow }) => flowItem(bridge, flow));
  const findUsers = async (outGroup: number) => [outGroup, await dumpFlows([{ outGroup }])] as const;
  const [users, ...seen] = await Promise.all([
    Promise.all(usersOf.map(findUsers)),
    dumpFlows(selectorsFor(flows)),
    has('group') ? dumpGroups(connection, bridge, signal) : [],
    has('meter') ? dumpMeters(connection, bridge, signal) : [],
  ]);
  return viewOf(seen.flat(), new Map(users));
}

async function dumpGroups(
  connection: SwitchConnection,
  bridge: string,
  signal: AbortSignal,
): Promise<Item[]> {
  const groups = await connection.dump('groupDescription', undefined, { signal });
  return groups.map((group) => groupItem(bridge, group));
}

async function dumpMeters(
  connection: SwitchConnection,
  bridge: string,
  signal: AbortSignal,
): Promise<Item[]> {
  const meters = await connection.dump('meterConfig', undefined, { signal });
  return meters.map((meter) => meterItem(bridge, meter));
}

/** @throws OpenFlowError; the signal's reason */
export async function lookAtAll(
  connection: SwitchConnection,
  bridge: string,
  signal: AbortSignal,
): Promise<View> {
  const flows = await connection.dump('flow', undefined, { signal });
  return viewOf([
    ...flows.map(({ flow }) => flowItem(bridge, flow)),
    ...(await dumpGroups(connection, bridge, signal)),
    ...(await dumpMeters(connection, bridge, signal)),
  ]);
}

export const viewOf = (
  items: readonly Item[],
  users: ReadonlyMap<number, readonly FlowItem[]> = new Map(),
): View => ({
  items: new Map(items.map((item) => [item.key, item])),
  usersOf: (group) => users.get(group) ?? [],
});

/** A dump covers also all flows that match less than its own match does. */
function selectorsFor(flows: readonly FlowItem[]): readonly FlowSelector[] {
  const sendable = flows.filter(({ refused }) => refused === undefined);
  if (sendable.length <= MOST_SINGLE) return sendable.map(({ data: { table, match } }) => ({ table, match }));
  return [...new Set(sendable.map(({ data }) => data.table))].map((table) => ({ table }));
}
