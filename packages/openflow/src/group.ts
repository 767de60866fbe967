/** Groups and meters as data; OpenFlow 1.4.0, 5.6 and 5.7. */
import type { Action } from './actions.js';
import type { Port } from './ports.js';

/** Every bucket, one of them by weight, the only one, the first that is alive. */
export type GroupType = 'all' | 'select' | 'indirect' | 'fast_failover';

export interface Bucket {
  /** Only of `select`, where it is 1 when absent. */
  readonly weight?: number;
  /** Only of `fast_failover`: a bucket is alive while this port is up, or this group has a bucket that is alive. */
  readonly watchPort?: Port;
  readonly watchGroup?: number;
  readonly actions: readonly Action[];
}

export interface Group {
  readonly id: number;
  readonly type: GroupType;
  readonly buckets: readonly Bucket[];
}

export interface GroupMod {
  readonly type: 'group_mod';
  readonly command: 'add' | 'modify' | 'delete';
  readonly group: Group;
}

export interface GroupStatistics {
  readonly id: number;
  /** Flows and groups that send to it. */
  readonly references: number;
  readonly packets: number;
  readonly bytes: number;
  /** seconds */
  readonly duration: number;
  readonly buckets: readonly { readonly packets: number; readonly bytes: number }[];
}

export const addGroup = (group: Group): GroupMod => ({ type: 'group_mod', command: 'add', group });
/** Replaces type and buckets of a group. */
export const modifyGroup = (group: Group): GroupMod => ({ type: 'group_mod', command: 'modify', group });
/** Deletes a group and the flows that send to it; a group that is not there is fine. */
export const deleteGroup = (id: number): GroupMod => ({
  type: 'group_mod',
  command: 'delete',
  group: { id, type: 'all', buckets: [] },
});
export const deleteAllGroups = (): GroupMod => deleteGroup(0xfffffffc);

/** Drops what is above its rate. */
export interface MeterBand {
  /** In the unit of the meter. */
  readonly rate: number;
  readonly burst?: number;
}

export interface Meter {
  readonly id: number;
  /** Kilobits or packets per second. */
  readonly unit: 'kbps' | 'pktps';
  /** Bands have a burst. */
  readonly burst?: true;
  readonly statistics?: true;
  readonly bands: readonly MeterBand[];
}

export interface MeterMod {
  readonly type: 'meter_mod';
  readonly command: 'add' | 'modify' | 'delete';
  readonly meter: Meter;
}

export const addMeter = (meter: Meter): MeterMod => ({ type: 'meter_mod', command: 'add', meter });
export const modifyMeter = (meter: Meter): MeterMod => ({ type: 'meter_mod', command: 'modify', meter });
export const deleteMeter = (id: number): MeterMod => ({
  type: 'meter_mod',
  command: 'delete',
  meter: { id, unit: 'kbps', bands: [] },
});
