export type { AppliedTable } from './apply-table.js';
export {
  type Conntrack,
  type ConntrackEntry,
  type ConntrackFilter,
  type ConntrackOptions,
  type ConntrackTuple,
  createConntrack,
  openConntrack,
} from './conntrack.js';
export { type Declaration, parseBody } from './declarations.js';
export {
  describeChange,
  describeElement,
  type Element,
  type ElementChange,
  type ElementOperation,
  type ElementReference,
  type SetReference,
  type Verdict,
} from './element.js';
export { type ForwardPolicy, iptablesForward } from './forward-policy.js';
export { DecodeError, NftablesError, type NftablesFailure } from './errors.js';
export {
  type CallOptions,
  createNftables,
  type Json,
  type Nftables,
  type NftablesOptions,
  openNftables,
  type TableReference,
} from './nftables.js';
export { findNft, loadRuleset, type NftOptions, NftProgramError } from './program.js';
export type { LoggedPacket } from './nflog/codec.js';
export type { PacketHeader } from './nflog/packet.js';
export { openPacketLog, type PacketLog, type PacketLogOptions } from './nflog/packet-log.js';
export type { Family } from './protocol.js';
export { type ChainState, isChainAsDeclared, type RuleCount } from './rules/chains.js';
export { type Command, describeCommand } from './rules/commands.js';
export { describeRule, describeStatement } from './rules/describe.js';
export { digestRule } from './rules/digest.js';
export type { ChainReference } from './rules/requests.js';
export type * from './rules/statement.js';
export { digestTable, SEAL_SET, type TableDeclaration } from './seal.js';
export type { Value, ValueType } from './values.js';
