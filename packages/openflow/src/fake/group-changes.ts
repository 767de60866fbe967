/** Changes of groups and meters; OpenFlow 1.4.0, 6.5 and 6.6. */
import { LAST_GROUP } from '../codec/constants.js';
import type { Bucket, Group, GroupMod, Meter, MeterMod } from '../group.js';
import { checkActions } from './check-actions.js';
import { groupsOf } from './flow-changes.js';
import { refuseUnless } from './refusal.js';
import { keyOf, type FlowRecord, type Tables } from './state.js';

const ALL_GROUPS = 0xfffffffc;

function checkBucket({ weight, watchPort, watchGroup, actions }: Bucket, type: Group['type']): void {
  const isWatching = watchPort !== undefined || watchGroup !== undefined;
  refuseUnless(weight === undefined || type === 'select', 'OFPGMFC_INVALID_GROUP', `a weight in ${type}`);
  refuseUnless(!isWatching || type === 'fast_failover', 'OFPGMFC_WATCH_UNSUPPORTED', `a watch in ${type}`);
  refuseUnless(
    isWatching || type !== 'fast_failover',
    'OFPGMFC_INVALID_GROUP',
    'a bucket that watches nothing',
  );
  checkActions(actions);
}

function checkGroup({ id, type, buckets }: Group): void {
  refuseUnless(id < LAST_GROUP, 'OFPGMFC_INVALID_GROUP', `${id} is no number of a group`);
  const isFine = type !== 'indirect' || buckets.length === 1;
  refuseUnless(isFine, 'OFPGMFC_INVALID_GROUP', 'an indirect group has one bucket');
  for (const bucket of buckets) checkBucket(bucket, type);
}

/** A group that goes takes with it the flows that send to it. */
function deleteGroups({ groups, flows }: Tables, id: number): FlowRecord[] {
  const gone = id === ALL_GROUPS ? [...groups.keys()] : [id];
  const removed = [...flows.values()].filter(({ flow }) =>
    groupsOf(flow).some((group) => gone.includes(group)),
  );
  for (const group of gone) groups.delete(group);
  for (const record of removed) flows.delete(keyOf(record));
  return removed;
}

/** Carries out a change. Returns the flows that it has removed. @throws Refusal */
export function changeGroups(tables: Tables, { command, group }: GroupMod): FlowRecord[] {
  if (command === 'delete') return deleteGroups(tables, group.id);
  checkGroup(group);
  const exists = tables.groups.has(group.id);
  if (command === 'add') refuseUnless(!exists, 'OFPGMFC_GROUP_EXISTS', `there is a group ${group.id}`);
  else refuseUnless(exists, 'OFPGMFC_UNKNOWN_GROUP', `there is no group ${group.id}`);
  tables.groups.set(group.id, group);
  return [];
}

function checkMeter({ id, bands }: Meter): void {
  refuseUnless(id > 0, 'OFPMMFC_INVALID_METER', `${id} is no number of a meter`);
  refuseUnless(bands.length > 0, 'OFPMMFC_OUT_OF_BANDS', 'a meter without a band');
  for (const { rate } of bands) refuseUnless(rate > 0, 'OFPMMFC_BAD_RATE', 'a rate of nothing');
}

/** A meter that goes takes with it the flows that pass it. */
function deleteMeters({ meters, flows }: Tables, id: number): FlowRecord[] {
  const removed = [...flows.values()].filter(({ flow }) => flow.meter === id);
  meters.delete(id);
  for (const record of removed) flows.delete(keyOf(record));
  return removed;
}

/** Carries out a change. Returns the flows that it has removed. @throws Refusal */
export function changeMeters(tables: Tables, { command, meter }: MeterMod): FlowRecord[] {
  if (command === 'delete') return deleteMeters(tables, meter.id);
  const exists = tables.meters.has(meter.id);
  if (command === 'add') refuseUnless(!exists, 'OFPMMFC_METER_EXISTS', `there is a meter ${meter.id}`);
  else refuseUnless(exists, 'OFPMMFC_UNKNOWN_METER', `there is no meter ${meter.id}`);
  checkMeter(meter);
  tables.meters.set(meter.id, meter);
  return [];
}
