import { addressToBytes, parsePrefix } from '@podwire/addresses';
import { compact } from '@podwire/platform';
import { Attributes, readStructure } from './attributes.js';
import type { NetlinkConnection, NetlinkMessage, NetlinkRequest } from './connection.js';
import type { DumpLimit } from './dump.js';
import { DecodeError } from './errors.js';
import { decodeIp, type Family, familyNumber, familyOf } from './ip-address.js';
import { PayloadWriter } from './payload.js';
import { NLM_F_CREATE, NLM_F_EXCL } from './protocol.js';

export const RTM_NEWRULE = 32;
export const RTM_DELRULE = 33;
export const RTM_GETRULE = 34;

/** struct fib_rule_hdr: family, dst_len, src_len, tos, table, 2 reserved, action (u8 each), flags (u32 at 8). */
export const FIB_RULE_HDR = 12;

const FRA_DST = 1;
export const FRA_SRC = 2;
export const FRA_IIFNAME = 3;
const FRA_GOTO = 4;
export const FRA_PRIORITY = 6;
export const FRA_FWMARK = 10;
const FRA_SUPPRESS_PREFIXLEN = 14;
export const FRA_TABLE = 15;
export const FRA_FWMASK = 16;
export const FRA_OIFNAME = 17;
const FRA_PROTOCOL = 21;

export const FIB_RULE_INVERT = 2;
const NO_SUPPRESSION = 0xffffffff;

const actions = { table: 1, goto: 2, nop: 3, blackhole: 6, unreachable: 7, prohibit: 8 } as const;

/** Action of a rule; a number where this library has no name. */
export type RuleAction = keyof typeof actions | number;

/** A rule of policy routing (ip-rule(8)): packets that match are looked up in a table, or refused. */
export interface NewRule {
  readonly family: Family;
  /** Rules are tried in this order; also what tells them apart when one is deleted. */
  readonly priority: number;
  /** `table` when absent. */
  readonly action?: RuleAction;
  /** The main table (254) when absent. */
  readonly table?: number;
  /** Source, ADDRESS/LENGTH. */
  readonly from?: string;
  /** Destination, ADDRESS/LENGTH. */
  readonly to?: string;
  readonly mark?: number;
  /** Bits of the mark that count; all when absent. */
  readonly markMask?: number;
  /** Name of the link that the packet came in by; `lo` for the node's own. */
  readonly inputLink?: string;
  readonly outputLink?: string;
  /** Refuse routes of the table with a prefix this short or shorter. */
  readonly suppressPrefixLength?: number;
  /** Priority of the rule to go on with, for `goto`. */
  readonly goto?: number;
  /** Apply to packets that do not match. */
  readonly invert?: boolean;
  /** Origin of the rule (RTPROT_*). */
  readonly protocol?: number;
}

export interface Rule extends NewRule {
  readonly action: RuleAction;
  readonly table: number;
}

/** Adds a rule. EEXIST when there is the same one. */
export function addRuleRequest(rule: NewRule): NetlinkRequest {
  return ruleRequest(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, rule, 'add');
}

/** Deletes the first rule that has everything that is given. ENOENT when there is none. */
export function deleteRuleRequest(rule: NewRule): NetlinkRequest {
  return ruleRequest(RTM_DELRULE, 0, rule, 'delete');
}

function ruleRequest(type: number, flags: number, rule: NewRule, verb: string): NetlinkRequest {
  const writer = new PayloadWriter(FIB_RULE_HDR);
  const { action = 'table', table = action === 'table' ? 254 : 0 } = rule;
  const header = writer.at(0, FIB_RULE_HDR);
  header[0] = familyNumber(rule.family);
  header[4] = table > 255 ? 0 : table;
  header[7] = typeof action === 'number' ? action : actions[action];
  header.writeUInt32LE(rule.invert === true ? FIB_RULE_INVERT : 0, 8);
  writer.u32(FRA_PRIORITY, rule.priority);
  if (table !== 0) writer.u32(FRA_TABLE, table);
  writeSelectors(writer, rule);
  return { type, flags, payload: writer.finish(), label: `${verb} rule ${rule.priority}` };
}

function writeSelectors(writer: PayloadWriter, rule: NewRule): void {
  writePrefix(writer, rule.to, FRA_DST, 1, rule.family);
  writePrefix(writer, rule.from, FRA_SRC, 2, rule.family);
  if (rule.mark !== undefined) writer.u32(FRA_FWMARK, rule.mark);
  if (rule.markMask !== undefined) writer.u32(FRA_FWMASK, rule.markMask);
  if (rule.inputLink !== undefined) writer.text(FRA_IIFNAME, rule.inputLink);
  if (rule.outputLink !== undefined) writer.text(FRA_OIFNAME, rule.outputLink);
  if (rule.suppressPrefixLength !== undefined) writer.u32(FRA_SUPPRESS_PREFIXLEN, rule.suppressPrefixLength);
  if (rule.goto !== undefined) writer.u32(FRA_GOTO, rule.goto);
  if (rule.protocol !== undefined) writer.u8(FRA_PROTOCOL, rule.protocol);
}

function writePrefix(
  writer: PayloadWriter,
  text: string | undefined,
  attribute: number,
  lengthOffset: number,
  ruleFamily: Family,
): void {
  if (text === undefined) return;
  const { family, length, address } = parsePrefix(text);
  if (family !== ruleFamily) throw new RangeError(`${text} in a rule for IPv${ruleFamily}`);
  writer.at(0, FIB_RULE_HDR)[lengthOffset] = length;
  if (length > 0) writer.bytes(attribute, addressToBytes(address));
}

/** Decodes an RTM_NEWRULE message; `undefined` for one of another family than IP. @throws DecodeError */
export function decodeRule(message: NetlinkMessage): Rule | undefined {
  const bytes = readStructure(message.payload, FIB_RULE_HDR, 'fib_rule_hdr');
  const attributes = new Attributes(bytes, FIB_RULE_HDR);
  const family = familyOf(bytes[0]!);
  if (family === undefined) return undefined;
  const suppress = attributes.u32(FRA_SUPPRESS_PREFIXLEN);
  return compact({
    family,
    priority: attributes.u32(FRA_PRIORITY) ?? 0,
    action: actionName(bytes[7]!),
    table: attributes.u32(FRA_TABLE) ?? bytes[4]!,
    from: prefix(attributes.bytes(FRA_SRC), bytes[2]!),
    to: prefix(attributes.bytes(FRA_DST), bytes[1]!),
    mark: attributes.u32(FRA_FWMARK),
    markMask: attributes.u32(FRA_FWMASK),
    inputLink: attributes.text(FRA_IIFNAME),
    outputLink: attributes.text(FRA_OIFNAME),
    suppressPrefixLength: suppress === NO_SUPPRESSION ? undefined : suppress,
    goto: attributes.u32(FRA_GOTO),
    invert: (bytes.readUInt32LE(8) & FIB_RULE_INVERT) === 0 ? undefined : true,
    protocol: attributes.u8(FRA_PROTOCOL),
  });
}

function actionName(number: number): RuleAction {
  const names = Object.keys(actions) as (keyof typeof actions)[];
  return names.find((name) => actions[name] === number) ?? number;
}

function prefix(bytes: Buffer | undefined, length: number): string | undefined {
  if (bytes === undefined) return undefined;
  if (length > 8 * bytes.length) throw new DecodeError(`a prefix length of ${length}`);
  return `${decodeIp(bytes)}/${length}`;
}

/** The rules of the namespace in their order, first IPv4, then IPv6. */
export function listRules(
  connection: NetlinkConnection,
  filter: { readonly family?: Family } & DumpLimit = {},
): Rule[] {
  return familiesOf(filter).flatMap((family) =>
    dumpRules(connection, family, filter.limit)
      .map(decodeRule)
      .filter((rule) => rule !== undefined)
      .filter((rule) => rule.family === family),
  );
}

/** All of them as the kernel wrote them, for {@link repeatRuleRequest}. */
export const listRuleMessages = (connection: NetlinkConnection): NetlinkMessage[] =>
  familiesOf({}).flatMap((family) => dumpRules(connection, family));

const familiesOf = ({ family }: { readonly family?: Family }): readonly Family[] =>
  family === undefined ? [4, 6] : [family];

function dumpRules(connection: NetlinkConnection, family: Family, limit?: number): NetlinkMessage[] {
  const payload = Buffer.alloc(FIB_RULE_HDR);
  payload[0] = familyNumber(family);
  return connection.dump({ type: RTM_GETRULE, flags: 0, payload, label: 'list rules' }, limit);
}
