/** Flows, groups and meters of bridges of Open vSwitch as plain data; fields and actions as in `@podwire/openflow`. */
import type { Bucket, GroupType, Instructions, Match, MeterBand } from '@podwire/openflow';

/** A flow that stays until it is removed. Without an instruction it drops. */
export interface SwitchFlow extends Instructions {
  readonly kind: 'flow';
  readonly bridge: string;
  /** 0 to 253. */
  readonly table: number;
  /** 0 to 65535. */
  readonly priority: number;
  /** Everything when empty. */
  readonly match: Match;
  /** The lower half of the cookie, 32 bits that are the model's: a peer, an owner. 0 when absent. */
  readonly mark?: number;
  /** Keys of resources that it must not stand without: of the port whose number it names. It is made after them. */
  readonly onlyWith?: readonly string[];
}

export interface FlowGroup {
  readonly kind: 'flow-group';
  readonly bridge: string;
  /** 0 to 0xfffffeff. */
  readonly id: number;
  readonly type: GroupType;
  /** At least one: our mark is in the first. One without actions drops. */
  readonly buckets: readonly Bucket[];
}

export interface FlowMeter {
  readonly kind: 'flow-meter';
  readonly bridge: string;
  /** 0x7000 to 0x7fff: these numbers are ours on every bridge. */
  readonly id: number;
  /** Kilobits or packets per second. */
  readonly unit: 'kbps' | 'pktps';
  /** Drop what is above their rate. One at least; all of them have a burst, or none. */
  readonly bands: readonly MeterBand[];
}

export interface FlowResources {
  flow: SwitchFlow;
  'flow-group': FlowGroup;
  'flow-meter': FlowMeter;
}

declare module '@podwire/engine' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- this is how it is extended
  interface ResourceKinds extends FlowResources {}
}
