/** Chains, rules and sets as the kernel gives them back: cheaply enough to compare them with what is wanted. */
import {
  Attributes,
  DecodeError,
  eachAttribute,
  type NetlinkConnection,
  type NetlinkMessage,
  type NetlinkRequest,
} from '@podwire/netlink';
import { hasCode } from '@podwire/linux';
import { compact } from '@podwire/platform';
import { decodeChain, decodeComment, decodeSet } from '../decode.js';
import type { SetReference } from '../element.js';
import { translating } from '../errors.js';
import { requestExisting } from '../lookup.js';
import {
  chainAttribute,
  expressionAttribute,
  type Family,
  hookAttribute,
  LIST_ITEM,
  NFGENMSG,
  NFT_MSG_GETCHAIN,
  NFT_MSG_GETRULE,
  NFT_MSG_GETSET,
  ruleAttribute,
} from '../protocol.js';
import { plainRequest } from '../request.js';
import { digestRule, findDigest } from './digest.js';
import {
  type ChainReference,
  getChainRequest,
  getSetRequest,
  hookNumbers,
  listRulesRequest,
  policyNumbers,
} from './requests.js';
import type { BaseChain, ChainDeclaration, SetDeclaration } from './statement.js';

/** A chain as it is in the kernel. */
export interface ChainState {
  readonly name: string;
  readonly base?: BaseChain;
  /** Of each rule, `digestRule` of what it was made from; `undefined` for those that were not made by this library. */
  readonly rules: readonly (string | undefined)[];
}

/** How often a rule with a counter was reached. */
export interface RuleCount {
  readonly chain: string;
  /** Its place in the chain, from 0. */
  readonly index: number;
  readonly packets: bigint;
  readonly bytes: bigint;
  readonly comment?: string;
}

const nameOf = <K extends string>(names: Readonly<Record<K, number>>, number: number): K | undefined =>
  (Object.keys(names) as K[]).find((name) => names[name] === number);

const attributesOf = ({ payload }: NetlinkMessage): Attributes => new Attributes(payload, NFGENMSG);

/** The hook of a chain; `undefined` of one that is only jumped to. */
export function decodeBase(message: NetlinkMessage): BaseChain | undefined {
  const attributes = attributesOf(message);
  const hook = attributes.nested(chainAttribute.hook);
  if (hook === undefined) return undefined;
  return {
    type: (attributes.text(chainAttribute.type) ?? 'filter') as BaseChain['type'],
    hook: nameOf(hookNumbers, hook.be32(hookAttribute.number) ?? -1) ?? 'prerouting',
    priority: (hook.be32(hookAttribute.priority) ?? 0) | 0,
    policy: nameOf(policyNumbers, attributes.be32(chainAttribute.policy) ?? 1) ?? 'accept',
  };
}

/** Where it hangs; the policy of a chain can be changed. */
export function sameBase(one: BaseChain | undefined, other: BaseChain | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.type === other.type && one.hook === other.hook && one.priority === other.priority;
}

/** True if a chain matches a declaration. */
export function isChainAsDeclared(found: ChainState, wanted: ChainDeclaration): boolean {
  const policy = found.base?.policy === (wanted.base && (wanted.base.policy ?? 'accept'));
  return (
    policy &&
    sameBase(found.base, wanted.base) &&
    found.rules.length === wanted.rules.length &&
    wanted.rules.every((rule, index) => found.rules[index] === digestRule(rule))
  );
}

/** The answer of a dump of a table; empty when there is no such table (any more). */
function dumpTable(
  connection: NetlinkConnection,
  request: NetlinkRequest,
  family: Family,
  table: string,
): NetlinkMessage[] {
  try {
    return translating(`list table ${family} ${table}`, () => connection.dump(request));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** All chains of a table; none when there is no such table. */
export function listChains(connection: NetlinkConnection, family: Family, table: string): ChainState[] {
  const dump = (type: number) => dumpTable(connection, plainRequest(type, family, table), family, table);
  // The kernel filters rules by table, chains it does not.
  const chains = dump(NFT_MSG_GETCHAIN).filter((message) => decodeChain(message).table === table);
  const rules = new Map<string, (string | undefined)[]>();
  for (const message of chains.length === 0 ? [] : dump(NFT_MSG_GETRULE)) {
    const attributes = attributesOf(message);
    const chain = attributes.text(ruleAttribute.chain) ?? '';
    const known = rules.get(chain);
    const digest = findDigest(attributes.bytes(ruleAttribute.userdata));
    if (known === undefined) rules.set(chain, [digest]);
    else known.push(digest);
  }
  return chains.map((message) => {
    const { name } = decodeChain(message);
    return { name, rules: rules.get(name) ?? [], ...compact({ base: decodeBase(message) }) };
  });
}

/** One chain; `undefined` when there is none. */
export function getChain(connection: NetlinkConnection, reference: ChainReference): ChainState | undefined {
  const [answer] = requestExisting(connection, [getChainRequest(reference)]);
  if (answer?.[0] === undefined) return undefined;
  const { family, table } = reference;
  const digests = dumpTable(connection, listRulesRequest(reference), family, table).map((message) =>
    findDigest(attributesOf(message).bytes(ruleAttribute.userdata)),
  );
  return { name: reference.chain, rules: digests, ...compact({ base: decodeBase(answer[0]) }) };
}

/** How sets and maps of a table are declared, without those of single rules. Those with types unknown here have no key. */
export function listSets(connection: NetlinkConnection, family: Family, table: string): SetDeclaration[] {
  return dumpTable(connection, plainRequest(NFT_MSG_GETSET, family, table), family, table)
    .filter((message) => !decodeSet(message).anonymous)
    .map(declarationOf);
}

export function getSet(connection: NetlinkConnection, reference: SetReference): SetDeclaration | undefined {
  const [answer] = requestExisting(connection, [getSetRequest(reference)]);
  return answer?.[0] === undefined ? undefined : declarationOf(answer[0]);
}

function declarationOf(message: NetlinkMessage): SetDeclaration {
  const { name, key = [], interval, map, data = [] } = decodeSet(message);
  return { name, key, ...(interval ? { interval } : {}), ...(map ? { data } : {}) };
}

/** Of all rules of a table that have a counter. */
export function readCounters(connection: NetlinkConnection, family: Family, table: string): RuleCount[] {
  const places = new Map<string, number>();
  return dumpTable(connection, plainRequest(NFT_MSG_GETRULE, family, table), family, table).flatMap(
    (message) => {
      const attributes = attributesOf(message);
      const chain = attributes.text(ruleAttribute.chain) ?? '';
      const index = places.get(chain) ?? 0;
      places.set(chain, index + 1);
      const counter = findCounter(attributes.bytes(ruleAttribute.expressions));
      const comment = decodeComment(attributes.bytes(ruleAttribute.userdata));
      return counter === undefined ? [] : [{ chain, index, ...counter, ...compact({ comment }) }];
    },
  );
}

const counterAttribute = { bytes: 1, packets: 2 } as const;

function findCounter(list: Buffer | undefined): Pick<RuleCount, 'packets' | 'bytes'> | undefined {
  for (const { type, value } of list === undefined ? [] : eachAttribute(list)) {
    if (type !== LIST_ITEM) continue;
    const expression = new Attributes(value);
    if (expression.text(expressionAttribute.name) !== 'counter') continue;
    const data = expression.nested(expressionAttribute.data);
    return { packets: be64(data, counterAttribute.packets), bytes: be64(data, counterAttribute.bytes) };
  }
  return undefined;
}

function be64(attributes: Attributes | undefined, type: number): bigint {
  const bytes = attributes?.bytes(type);
  if (bytes?.length !== 8) throw new DecodeError('an incomplete counter');
  return bytes.readBigUInt64BE();
}
