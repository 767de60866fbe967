/** Messages as data; OpenFlow 1.4.0, 7. */
import type { ErrorCode } from './error-codes.js';
import type { FlowEntry, FlowMod, FlowSelector } from './flow.js';
import type { Group, GroupMod, GroupStatistics, Meter, MeterMod } from './group.js';
import type {
  Features,
  FlowChange,
  FlowRemoved,
  PacketIn,
  PacketOut,
  PortDescription,
  PortStatistics,
  PortStatus,
  SwitchEvent,
  TableStatistics,
} from './port-description.js';

export type BundleStep =
  'open' | 'opened' | 'close' | 'closed' | 'commit' | 'committed' | 'discard' | 'discarded';

/** Changes that a bundle can hold. */
export type Change = FlowMod | GroupMod;

/** The lists that a switch sends on request, in one message or more. */
export interface Dumps {
  readonly flow: FlowEntry;
  readonly table: TableStatistics;
  readonly port: PortStatistics;
  readonly group: GroupStatistics;
  readonly groupDescription: Group;
  readonly meterConfig: Meter;
  readonly portDescription: PortDescription;
}
export type DumpKind = keyof Dumps;

/** `selector` is for flows alone. */
export interface DumpRequest {
  readonly type: 'dump_request';
  readonly kind: DumpKind;
  readonly selector?: FlowSelector;
}

export type DumpReply = {
  [Kind in DumpKind]: {
    readonly type: 'dump_reply';
    readonly kind: Kind;
    readonly entries: readonly Dumps[Kind][];
    /** More messages follow. */
    readonly more: boolean;
  };
}[DumpKind];

export type Message =
  | { readonly type: 'hello' }
  | { readonly type: 'error'; readonly error: ErrorCode; readonly data: Uint8Array }
  | { readonly type: 'echo_request'; readonly data: Uint8Array }
  | { readonly type: 'echo_reply'; readonly data: Uint8Array }
  | { readonly type: 'features_request' }
  | { readonly type: 'barrier_request' }
  | { readonly type: 'barrier_reply' }
  | ({ readonly type: 'features_reply' } & Features)
  | Change
  | MeterMod
  | PacketOut
  | PacketIn
  | PortStatus
  | FlowRemoved
  | DumpRequest
  | DumpReply
  /** Begins or ends reports of changes of flows. */
  | { readonly type: 'flow_monitor'; readonly command: 'add' | 'delete' }
  | { readonly type: 'flow_changes'; readonly changes: readonly FlowChange[] }
  /** Which other events the connection gets. */
  | { readonly type: 'set_async'; readonly events: readonly SwitchEvent['type'][] }
  | { readonly type: 'bundle_control'; readonly bundle: number; readonly step: BundleStep }
  | { readonly type: 'bundle_add'; readonly bundle: number; readonly change: Change }
  /** A message that this library does not know. */
  | { readonly type: 'unknown'; readonly number: number };

/** A message with its transaction id. */
export interface Envelope {
  readonly xid: number;
  readonly message: Message;
}
