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
export type { Family } from './protocol.js';
export { digestTable, SEAL_SET, type TableDeclaration } from './seal.js';
export type { Value, ValueType } from './values.js';
