export type {
  Action,
  Conjunction,
  Conntrack,
  Controller,
  Load,
  Move,
  Nat,
  Output,
  OutputField,
  PacketInReason,
  Resubmit,
  SetField,
} from './actions.js';
export { decodeMessage, encodeMessage } from './codec/message.js';
export { connectSwitch, openSwitch, type OpenOptions } from './connection/open.js';
export type { BundleOptions, RequestOptions, SwitchConnection } from './connection/switch-connection.js';
export { SwitchError, type SwitchFailure } from './connection/switch-error.js';
export { type ErrorCode, errorCode, type ErrorName, findErrorName } from './error-codes.js';
export { DecodeError, OpenFlowError } from './errors.js';
export { type FieldValue, formatFieldValue, type Masked, parseFieldValue } from './field-value.js';
export {
  type Field,
  type FieldFormat,
  type FieldName,
  fieldOf,
  fields,
  type Prerequisite,
  type RegisterName,
  type WideRegisterName,
  type WidestRegisterName,
} from './fields.js';
export {
  addFlow,
  deleteFlow,
  deleteFlows,
  type Flow,
  type FlowCommand,
  type FlowEntry,
  type FlowFlag,
  type FlowMod,
  type FlowSelector,
  type Instructions,
} from './flow.js';
export {
  addGroup,
  addMeter,
  type Bucket,
  deleteAllGroups,
  deleteGroup,
  deleteMeter,
  type Group,
  type GroupMod,
  type GroupStatistics,
  type GroupType,
  type Meter,
  type MeterBand,
  type MeterMod,
  modifyGroup,
  modifyMeter,
} from './group.js';
export type { KnownFields, Match } from './match.js';
export type {
  BundleStep,
  Change,
  DumpKind,
  DumpReply,
  DumpRequest,
  Dumps,
  Envelope,
  Message,
} from './message.js';
export type {
  Features,
  FlowChange,
  FlowRemoved,
  PacketIn,
  PacketOut,
  PortCounters,
  PortDescription,
  PortStatistics,
  PortStatus,
  RemovalReason,
  SwitchEvent,
  TableStatistics,
} from './port-description.js';
export type { Port, ReservedPort } from './ports.js';
export type { Subfield } from './subfield.js';
export { formatActions } from './text/format-actions.js';
export { parseActions } from './text/actions.js';
export { formatFlow, parseFlow } from './text/flow.js';
export { formatGroup, parseGroup } from './text/group.js';
export { formatMatch, parseMatch } from './text/match.js';
