/** Changes of flows; OpenFlow 1.4.0, 6.4. */
import type { Action } from '../actions.js';
import { listFields } from '../codec/match.js';
import { parseFieldValue } from '../field-value.js';
import type { Flow, FlowMod, FlowSelector } from '../flow.js';
import type { Match } from '../match.js';
import type { FlowChange } from '../port-description.js';
import { portNumber } from '../ports.js';
import { checkActions, checkActionSet, checkConjunctions } from './check-actions.js';
import { checkConsistency } from './check-consistency.js';
import { covers, overlaps, patternOf } from './matching.js';
import { Refusal, refuseUnless } from './refusal.js';
import { keyOf, toRecord, type FlowRecord, type Tables } from './state.js';

/** Open vSwitch keeps the last of its 255 tables for itself. */
const INTERNAL_TABLE = 254;

export const referencedGroups = (actions: readonly Action[] = []): number[] =>
  actions.flatMap((action) =>
    action.type === 'group'
      ? [action.group]
      : action.type === 'clone'
        ? referencedGroups(action.actions)
        : [],
  );

export const groupsOf = ({ actions, write }: Flow): number[] => [
  ...referencedGroups(actions),
  ...referencedGroups(write),
];

function checkMatch(match: Match): void {
  for (const { field, value } of listFields(match)) {
    const isOwn = field.name === 'dp_hash' || (field.name === 'recirc_id' && value !== 0n);
    refuseUnless(!isOwn, 'OFPBRC_EPERM', `${field.name} is matched by the switch alone`);
    const isPort = field.name !== 'in_port' || value < 0xff00n || value > 0xfffffff7n;
    refuseUnless(isPort, 'OFPBMC_BAD_VALUE', `there is no port ${value}`);
  }
  checkConnectionFamily(match);
}

function checkConnectionFamily(match: Match): void {
  const names = Object.keys(match);
  for (const [prefix, etherType] of [
    ['ct_nw_', 0x0800],
    ['ct_ipv6_', 0x86dd],
  ] as const) {
    // The protocol of a connection belongs to both families.
    const isMatched = names.some((name) => name.startsWith(prefix) && name !== 'ct_nw_proto');
    refuseUnless(
      !isMatched || match.eth_type === etherType,
      'OFPBAC_MATCH_INCONSISTENT',
      `${prefix} of packets of another family`,
    );
  }
}

function checkInstructions(flow: Flow & { readonly table: number }, { groups, meters }: Tables): void {
  const { actions = [], write = [], goto, meter, metadata, clear } = flow;
  checkActions(actions);
  checkActionSet(write);
  const isAlone = flow.write === undefined && goto === undefined && meter === undefined;
  checkConjunctions(actions, isAlone && metadata === undefined && clear === undefined);
  refuseUnless(goto === undefined || goto > flow.table, 'OFPBIC_BAD_TABLE_ID', 'goto does not lead on');
  checkConsistency(actions, write, flow.match ?? {});
  for (const group of groupsOf(flow))
    refuseUnless(groups.has(group), 'OFPBAC_BAD_OUT_GROUP', `there is no group ${group}`);
  refuseUnless(
    meter === undefined || meters.has(meter),
    'OFPMMFC_INVALID_METER',
    `there is no meter ${meter}`,
  );
}

function checkTable(table: number | undefined): number {
  refuseUnless(table !== undefined, 'OFPFMFC_BAD_TABLE_ID', 'a flow in every table');
  refuseUnless(table !== INTERNAL_TABLE, 'OFPBRC_EPERM', 'the table of the switch itself');
  return table ?? 0;
}

function checkOverlap(record: FlowRecord, { flows }: Tables): void {
  const key = keyOf(record);
  for (const [otherKey, other] of flows) {
    const isOther = otherKey !== key && other.flow.table === record.flow.table;
    if (isOther && other.flow.priority === record.flow.priority && overlaps(other.pattern, record.pattern))
      throw new Refusal('OFPFMFC_OVERLAP', 'another flow of this priority matches the same packets');
  }
}

function addFlow(tables: Tables, change: FlowMod, now: number): void {
  const table = checkTable(change.flow.table);
  const record = toRecord(change.flow, now);
  checkMatch(record.flow.match);
  checkInstructions({ ...change.flow, table }, tables);
  if (change.checkOverlap) checkOverlap(record, tables);
  const key = keyOf(record);
  // The order of the map stays that of the first addition otherwise.
  tables.flows.delete(key);
  tables.flows.set(key, record);
}

const sendsTo = ({ actions = [], write = [] }: Flow, port: number): boolean =>
  [...actions, ...write].some((action) => action.type === 'output' && portNumber(action.port) === port);

function hasCookie({ cookie = '0' }: Flow, filter: string | undefined): boolean {
  if (filter === undefined) return true;
  const { value, mask } = parseFieldValue('metadata', filter);
  return (parseFieldValue('metadata', cookie).value & mask) === value;
}

/** The flows that a selector means. */
export const selectFlows = ({ flows }: Tables, selector: FlowSelector): FlowRecord[] =>
  filterFlows([...flows.values()], selector);

function filterFlows(flows: readonly FlowRecord[], selector: FlowSelector): FlowRecord[] {
  const pattern = patternOf(selector.match ?? {});
  const { table, outPort, outGroup, cookieFilter } = selector;
  return flows.filter(
    (record) =>
      (table === undefined || record.flow.table === table) &&
      covers(pattern, record.pattern) &&
      hasCookie(record.flow, cookieFilter) &&
      (outPort === undefined || sendsTo(record.flow, portNumber(outPort))) &&
      (outGroup === undefined || groupsOf(record.flow).includes(outGroup)),
  );
}

function selectChanged(tables: Tables, change: FlowMod): FlowRecord[] {
  const { flow, cookieFilter, outPort, outGroup, command } = change;
  const selector: FlowSelector = {
    ...(flow.table === undefined ? {} : { table: flow.table }),
    match: flow.match ?? {},
    ...(cookieFilter === undefined ? {} : { cookieFilter }),
    // Only deletions look at where flows send.
    ...(outPort === undefined || !command.startsWith('delete') ? {} : { outPort }),
    ...(outGroup === undefined || !command.startsWith('delete') ? {} : { outGroup }),
  };
  if (!command.endsWith('strict')) return selectFlows(tables, selector);
  const same = tables.flows.get(keyOf(toRecord(flow, 0)));
  return same === undefined ? [] : filterFlows([same], selector);
}

function modifyFlows(tables: Tables, change: FlowMod): void {
  const { actions, write, clear, metadata, goto, meter } = change.flow;
  const instructions = { actions, write, clear, metadata, goto, meter };
  for (const record of selectChanged(tables, change)) {
    const kept = withoutInstructions(record.flow);
    const flow = { ...kept, ...definedOf(instructions) };
    checkInstructions(flow, tables);
    tables.flows.set(keyOf(record), { ...record, flow });
  }
}

const withoutInstructions = (flow: FlowRecord['flow']): FlowRecord['flow'] => {
  const { actions: _a, write: _w, clear: _c, metadata: _d, goto: _g, meter: _m, ...kept } = flow;
  return kept;
};

const definedOf = (instructions: { readonly [Key in keyof Flow]?: Flow[Key] | undefined }): Partial<Flow> =>
  Object.fromEntries(Object.entries(instructions).filter(([, value]) => value !== undefined));

/** Carries out a change. Returns the flows that it has removed. @throws Refusal */
export function changeFlows(tables: Tables, change: FlowMod, now: number): FlowRecord[] {
  switch (change.command) {
    case 'add':
      addFlow(tables, change, now);
      return [];
    case 'modify':
    case 'modify_strict':
      modifyFlows(tables, change);
      return [];
    case 'delete':
    case 'delete_strict': {
      const removed = selectChanged(tables, change);
      for (const record of removed) tables.flows.delete(keyOf(record));
      return removed;
    }
  }
}

/** How the flows differ, without their instructions. */
export function listFlowChanges({ flows: before }: Tables, { flows: after }: Tables): FlowChange[] {
  const changes: FlowChange[] = [];
  const note = (change: 'add' | 'modify' | 'delete', record: FlowRecord): void => {
    const flow = withoutInstructions(record.flow);
    changes.push({ type: 'flow_change', change, flow });
  };
  for (const [key, record] of before) if (!after.has(key)) note('delete', record);
  for (const [key, record] of after) {
    const old = before.get(key);
    // One that was added in the place of another is a new one; a changed one counts on.
    if (old !== record) note(old?.counters === record.counters ? 'modify' : 'add', record);
  }
  return changes;
}
