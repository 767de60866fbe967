import { Attributes, DecodeError, eachAttribute, type NetlinkMessage, readStructure } from '@podwire/netlink';
import { compact } from '@podwire/platform';
import type { Element, Verdict } from './element.js';
import { verdictCodes } from './element-request.js';
import { pairBounds } from './interval.js';
import {
  chainAttribute,
  dataAttribute,
  elementAttribute,
  elementListAttribute,
  familyName,
  type Family,
  generationAttribute,
  hookAttribute,
  LIST_ITEM,
  NFGENMSG,
  NFT_DATA_VERDICT,
  NFT_SET_ANONYMOUS,
  NFT_SET_ELEM_CATCHALL,
  NFT_SET_ELEM_INTERVAL_END,
  NFT_SET_INTERVAL,
  NFT_SET_MAP,
  NFT_SET_OBJECT,
  objectAttribute,
  ruleAttribute,
  setAttribute,
  tableAttribute,
  verdictAttribute,
} from './protocol.js';
import { decodeValues, type PlainType, typesOfNumber, type Value } from './values.js';

export interface Table {
  readonly family: Family;
  readonly name: string;
  /** Unlike that of any other table of this namespace, also of deleted ones. */
  readonly handle: bigint;
}

export interface Chain {
  readonly family: Family;
  readonly table: string;
  readonly name: string;
  readonly handle: bigint;
  /** Only of base chains. */
  readonly hook?: { readonly number: number; readonly priority: number; readonly policy: number };
}

/** A rule by its place; what it says is nft's business. */
export interface RuleReference {
  readonly chain: string;
  readonly handle: bigint;
}

export interface NamedObject {
  readonly name: string;
  /** NFT_OBJECT_* */
  readonly type: number;
}

/** How a set or map is declared. Types that this library does not know are `undefined`. */
export interface SetDeclaration {
  readonly family: Family;
  readonly table: string;
  readonly name: string;
  readonly handle: bigint;
  readonly map: boolean;
  /** Made by nft for a rule, gone with it. */
  readonly anonymous: boolean;
  /** Its keys are intervals of this type. */
  readonly interval: boolean;
  readonly key: readonly PlainType[] | undefined;
  /** Of maps. */
  readonly data: readonly PlainType[] | 'verdict' | undefined;
}

/** The attributes of a message behind its struct nfgenmsg, and the family that stands in it. */
function open(message: NetlinkMessage): { family: Family | undefined; attributes: Attributes } {
  const payload = readStructure(message.payload, NFGENMSG, 'struct nfgenmsg');
  return { family: familyName(payload.readUInt8(0)), attributes: new Attributes(payload, NFGENMSG) };
}

function required<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new DecodeError(`${what} is missing`);
  return value;
}

function be64(attributes: Attributes, type: number, what: string): bigint {
  const bytes = required(attributes.bytes(type), what);
  if (bytes.length < 8) throw new DecodeError(`${what} has ${bytes.length} of 8 bytes`);
  return bytes.readBigUInt64BE(0);
}

export function decodeTable(message: NetlinkMessage): Table {
  const { family, attributes } = open(message);
  return {
    family: required(family, 'the family of a table'),
    name: required(attributes.text(tableAttribute.name), 'the name of a table'),
    handle: be64(attributes, tableAttribute.handle, 'the handle of a table'),
  };
}

export function decodeChain(message: NetlinkMessage): Chain {
  const { family, attributes } = open(message);
  const hook = attributes.nested(chainAttribute.hook);
  return {
    family: required(family, 'the family of a chain'),
    table: required(attributes.text(chainAttribute.table), 'the table of a chain'),
    name: required(attributes.text(chainAttribute.name), 'the name of a chain'),
    handle: be64(attributes, chainAttribute.handle, 'the handle of a chain'),
    ...(hook === undefined ? {} : { hook: decodeHook(hook, attributes) }),
  };
}

function decodeHook(hook: Attributes, chain: Attributes): NonNullable<Chain['hook']> {
  return {
    number: required(hook.be32(hookAttribute.number), 'the number of a hook'),
    priority: required(hook.be32(hookAttribute.priority), 'the priority of a hook') | 0,
    policy: chain.be32(chainAttribute.policy) ?? 0,
  };
}

export function decodeRule(message: NetlinkMessage): RuleReference {
  const { attributes } = open(message);
  return {
    chain: required(attributes.text(ruleAttribute.chain), 'the chain of a rule'),
    handle: be64(attributes, ruleAttribute.handle, 'the handle of a rule'),
  };
}

export function decodeObject(message: NetlinkMessage): NamedObject {
  const { attributes } = open(message);
  return {
    name: required(attributes.text(objectAttribute.name), 'the name of an object'),
    type: required(attributes.be32(objectAttribute.type), 'the type of an object'),
  };
}

export function decodeSet(message: NetlinkMessage): SetDeclaration {
  const { family, attributes } = open(message);
  const flags = attributes.be32(setAttribute.flags) ?? 0;
  const dataType = attributes.be32(setAttribute.dataType);
  return {
    family: required(family, 'the family of a set'),
    table: required(attributes.text(setAttribute.table), 'the table of a set'),
    name: required(attributes.text(setAttribute.name), 'the name of a set'),
    handle: be64(attributes, setAttribute.handle, 'the handle of a set'),
    map: (flags & (NFT_SET_MAP | NFT_SET_OBJECT)) !== 0,
    anonymous: (flags & NFT_SET_ANONYMOUS) !== 0,
    interval: (flags & NFT_SET_INTERVAL) !== 0,
    key: typesOfNumber(attributes.be32(setAttribute.keyType) ?? 0),
    data: dataType === NFT_DATA_VERDICT ? 'verdict' : typesOfNumber(dataType ?? 0),
  };
}

/** The number of the last transaction in this namespace. */
export function decodeGeneration(message: NetlinkMessage): number {
  return required(open(message).attributes.be32(generationAttribute.id), 'the generation');
}

/** Types with which elements are read: `data` is absent for sets. */
export type ElementTypes = {
  readonly key: readonly PlainType[];
  readonly data?: readonly PlainType[] | 'verdict';
};

/** An element whose bytes have not been given types. */
export interface RawElement {
  readonly key: Buffer;
  readonly data?: Buffer;
  readonly verdict?: Verdict;
  readonly comment?: string;
  /** A single key; not an end of an interval or the catch-all element. */
  readonly exact: boolean;
  /** The key behind an interval. */
  readonly isEnd: boolean;
}

/** The elements in one message, or `undefined` for those that are no exact keys (intervals, catch-all). */
export function decodeElements(message: NetlinkMessage, types: ElementTypes): (Element | undefined)[] {
  return decodeRawElements(message).map((element) =>
    element.exact ? typed(element, decodeValues(types.key, element.key), types) : undefined,
  );
}

/** The intervals in all messages of a dump. @throws DecodeError when it has keys that are none */
export function decodeIntervals(messages: readonly NetlinkMessage[], types: ElementTypes): Element[] {
  const elements = messages.flatMap(decodeRawElements);
  // Also where the kernel's bytes are no address of the set's type.
  for (const { key } of elements) decodeValues(types.key, key);
  return pairBounds(elements).map(({ begin, key }) => typed(begin, key, types));
}

function typed({ data, verdict, comment }: RawElement, key: readonly Value[], types: ElementTypes): Element {
  return {
    key,
    ...(data === undefined || !Array.isArray(types.data) ? {} : { value: decodeValues(types.data, data) }),
    ...compact({ verdict, comment }),
  };
}

export function decodeRawElements(message: NetlinkMessage): RawElement[] {
  const list = open(message).attributes.bytes(elementListAttribute.elements);
  if (list === undefined) return [];
  return [...eachAttribute(list)]
    .filter(({ type }) => type === LIST_ITEM)
    .map(({ value }) => decodeElement(new Attributes(value)));
}

const INEXACT = NFT_SET_ELEM_INTERVAL_END | NFT_SET_ELEM_CATCHALL;

function decodeElement(attributes: Attributes): RawElement {
  const flags = attributes.be32(elementAttribute.flags) ?? 0;
  const exact = (flags & INEXACT) === 0 && !attributes.has(elementAttribute.keyEnd);
  const key = attributes.nested(elementAttribute.key)?.bytes(dataAttribute.value);
  const data = attributes.nested(elementAttribute.data);
  const bytes = data?.bytes(dataAttribute.value);
  const verdict = data?.nested(dataAttribute.verdict);
  const comment = decodeComment(attributes.bytes(elementAttribute.userdata));
  return {
    exact,
    isEnd: (flags & NFT_SET_ELEM_INTERVAL_END) !== 0,
    // Only the catch-all element has no key.
    key: exact ? required(key, 'the key of an element') : (key ?? Buffer.alloc(0)),
    ...compact({ data: bytes }),
    ...(verdict === undefined ? {} : { verdict: decodeVerdict(verdict) }),
    ...compact({ comment }),
  };
}

const verdictNames = new Map<number, Verdict['verdict']>(
  Object.entries(verdictCodes).map(([name, code]) => [code, name as Verdict['verdict']]),
);

function decodeVerdict(attributes: Attributes): Verdict {
  const code = required(attributes.be32(verdictAttribute.code), 'the code of a verdict') | 0;
  const verdict = required(verdictNames.get(code), `a name for verdict ${code}`);
  if (verdict !== 'jump' && verdict !== 'goto') return { verdict };
  return { verdict, chain: required(attributes.text(verdictAttribute.chain), 'the chain of a verdict') };
}

const UDATA_COMMENT = 0;

/** User data is a list of type, length, value; other programs may keep what they like in it. */
export function decodeComment(userdata: Buffer | undefined): string | undefined {
  if (userdata === undefined) return undefined;
  for (let at = 0; at + 2 <= userdata.length; at += 2 + userdata[at + 1]!) {
    if (userdata[at] !== UDATA_COMMENT) continue;
    return userdata.toString('utf8', at + 2, at + 2 + userdata[at + 1]!).replace(/\0.*$/s, '');
  }
  return undefined;
}
