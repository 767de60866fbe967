/** Messages about tables, chains, rules and sets. */
import { type NetlinkRequest, NLM_F_APPEND, NLM_F_CREATE, type PayloadWriter } from '@podwire/netlink';
import type { SetReference } from '../element.js';
import { encodeComment } from '../element-request.js';
import {
  chainAttribute,
  families,
  type Family,
  hookAttribute,
  NFT_DATA_VERDICT,
  NFT_MSG_DELCHAIN,
  NFT_MSG_DELRULE,
  NFT_MSG_DELSET,
  NFT_MSG_GETCHAIN,
  NFT_MSG_GETRULE,
  NFT_MSG_GETSET,
  NFT_MSG_NEWCHAIN,
  NFT_MSG_NEWRULE,
  NFT_MSG_NEWSET,
  NFT_MSG_NEWTABLE,
  NFT_SET_INTERVAL,
  NFT_SET_MAP,
  ruleAttribute,
  setAttribute,
  tableAttribute,
} from '../protocol.js';
import { startPayload } from '../request.js';
import { lengthOfTypes, numberOfTypes, type PlainType } from '../values.js';
import { digestRule, encodeDigest } from './digest.js';
import { writeStatements } from './encode.js';
import type { BaseChain, ChainDeclaration, RuleDeclaration, SetDeclaration } from './statement.js';

export interface ChainReference {
  readonly family: Family;
  readonly table: string;
  readonly chain: string;
}

/** NF_INET_* */
export const hookNumbers = { prerouting: 0, input: 1, forward: 2, output: 3, postrouting: 4 } as const;
export const policyNumbers = { drop: 0, accept: 1 } as const;
const COMMENT_LIMIT = 128;

export function addTableRequest(family: Family, name: string): NetlinkRequest {
  const writer = startPayload(families[family]).text(tableAttribute.name, name).be32(tableAttribute.flags, 0);
  return { type: NFT_MSG_NEWTABLE, flags: NLM_F_CREATE, payload: writer.finish() };
}

const startChain = ({ family, table, chain }: ChainReference): PayloadWriter =>
  startPayload(families[family]).text(chainAttribute.table, table).text(chainAttribute.name, chain);

/** The chain without its rules; one that is there stays, with its hook, which cannot be changed. */
export function addChainRequest(reference: ChainReference, { base }: ChainDeclaration): NetlinkRequest {
  const writer = startChain(reference);
  if (base !== undefined) writeBase(writer, base);
  return { type: NFT_MSG_NEWCHAIN, flags: NLM_F_CREATE, payload: writer.finish() };
}

function writeBase(writer: PayloadWriter, { type, hook, priority, policy = 'accept' }: BaseChain): void {
  writer.nest(chainAttribute.hook, () => {
    writer.be32(hookAttribute.number, hookNumbers[hook]).be32(hookAttribute.priority, priority >>> 0);
  });
  writer.be32(chainAttribute.policy, policyNumbers[policy]).text(chainAttribute.type, type);
}

export function getChainRequest(reference: ChainReference): NetlinkRequest {
  return { type: NFT_MSG_GETCHAIN, flags: 0, payload: startChain(reference).finish() };
}

export function deleteChainRequest(reference: ChainReference): NetlinkRequest {
  return { type: NFT_MSG_DELCHAIN, flags: 0, payload: startChain(reference).finish() };
}

const startRule = ({ family, table, chain }: ChainReference): PayloadWriter =>
  startPayload(families[family]).text(ruleAttribute.table, table).text(ruleAttribute.chain, chain);

/** Deletes all rules of a chain. */
export function flushChainRequest(reference: ChainReference): NetlinkRequest {
  return { type: NFT_MSG_DELRULE, flags: 0, payload: startRule(reference).finish() };
}

/** For a dump. */
export function listRulesRequest(reference: ChainReference): NetlinkRequest {
  return { type: NFT_MSG_GETRULE, flags: 0, payload: startRule(reference).finish() };
}

/** A rule behind those that are there. @throws RangeError for what cannot be written */
export function addRuleRequest(reference: ChainReference, rule: RuleDeclaration): NetlinkRequest {
  const { statements, comment } = rule;
  const writer = startRule(reference);
  writer.nest(ruleAttribute.expressions, () => writeStatements(writer, reference.family, statements));
  // nft reads the comment only where it comes first.
  const note = comment === undefined ? [] : [encodeComment(comment)];
  writer.bytes(ruleAttribute.userdata, Buffer.concat([...note, encodeDigest(digestRule(rule))]));
  return { type: NFT_MSG_NEWRULE, flags: NLM_F_CREATE | NLM_F_APPEND, payload: writer.finish() };
}

const startSet = ({ family, table, set }: SetReference): PayloadWriter =>
  startPayload(families[family]).text(setAttribute.table, table).text(setAttribute.name, set);

export function getSetRequest(reference: SetReference): NetlinkRequest {
  return { type: NFT_MSG_GETSET, flags: 0, payload: startSet(reference).finish() };
}

export function deleteSetRequest(reference: SetReference): NetlinkRequest {
  return { type: NFT_MSG_DELSET, flags: 0, payload: startSet(reference).finish() };
}

/** One that is there with the same declaration stays. `id` is different for each set of a transaction. */
export function addSetRequest(reference: SetReference, set: SetDeclaration, id: number): NetlinkRequest {
  const { key, data, interval = false } = set;
  if (key.length === 0) throw new RangeError(`set ${set.name} has no key`);
  if (interval && !(key.length === 1 && isAddress(key[0]!)))
    throw new RangeError(`set ${set.name}: intervals of something other than addresses`);
  const flags = (interval ? NFT_SET_INTERVAL : 0) | (data === undefined ? 0 : NFT_SET_MAP);
  const writer = startSet(reference)
    .be32(setAttribute.flags, flags)
    .be32(setAttribute.keyType, numberOfTypes(key))
    .be32(setAttribute.keyLength, lengthOfTypes(key));
  if (data === 'verdict') {
    writer.be32(setAttribute.dataType, NFT_DATA_VERDICT).be32(setAttribute.dataLength, VERDICT_LENGTH);
  } else if (data !== undefined) {
    writer.be32(setAttribute.dataType, numberOfTypes(data));
    writer.be32(setAttribute.dataLength, lengthOfTypes(data));
  }
  writer.be32(setAttribute.id, id).bytes(setAttribute.userdata, setUserdata(set));
  return { type: NFT_MSG_NEWSET, flags: NLM_F_CREATE, payload: writer.finish() };
}

/** The kernel does not look at it. */
const VERDICT_LENGTH = 16;

const isAddress = (type: PlainType): boolean => type === 'ipv4_addr' || type === 'ipv6_addr';

/** enum nft_set_udata (libnftnl), and enum byteorder (nftables). */
const setUdata = { keyOrder: 0, dataOrder: 1, comment: 7 } as const;
const byteOrders = { invalid: 0, host: 1, network: 2 } as const;

/** User data that nft needs to show a set as it was declared. */
function setUserdata({ key, data, comment }: SetDeclaration): Buffer {
  const orders = [udataNumber(setUdata.keyOrder, orderOf(key))];
  if (Array.isArray(data)) orders.push(udataNumber(setUdata.dataOrder, orderOf(data)));
  if (comment === undefined) return Buffer.concat(orders);
  if (Buffer.byteLength(comment) > COMMENT_LIMIT || comment.includes('\0'))
    throw new RangeError(`not a comment of at most ${COMMENT_LIMIT} bytes: ${comment}`);
  const text = Buffer.from(`${comment}\0`);
  return Buffer.concat([...orders, Buffer.from([setUdata.comment, text.length]), text]);
}

function orderOf(types: readonly PlainType[]): number {
  if (types.length !== 1) return byteOrders.invalid;
  return types[0] === 'mark' || types[0] === 'ifname' ? byteOrders.host : byteOrders.network;
}

function udataNumber(type: number, value: number): Buffer {
  const bytes = Buffer.from([type, 4, 0, 0, 0, 0]);
  bytes.writeUInt32LE(value, 2);
  return bytes;
}
