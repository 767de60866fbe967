import { createHash } from 'node:crypto';
import type { NftChain, NftElement, NftSet } from '@podwire/backend-linux/resources';
import type { CompiledSet } from '@podwire/policy';
import { policyTable } from './contract.js';

export type Direction = 'ingress' | 'egress';
export type Rule = NftChain['chain']['rules'][number];
export type Statement = Rule['statements'][number];
export type BaseChain = NonNullable<NftChain['chain']['base']>;

const known = new Map<string, string>();
const mostKnown = 4_096;

/** 64 bits of SHA-1: names of chains that stay the same from start to start. A policy is asked for by each of its rules. */
export function digest(text: string): string {
  const before = known.get(text);
  if (before !== undefined) return before;
  const made = createHash('sha1').update(text).digest('hex').slice(0, 16);
  if (known.size >= mostKnown) known.clear();
  known.set(text, made);
  return made;
}

const table = { family: policyTable.family, table: policyTable.name } as const;

export const chain = (name: string, rules: readonly Rule[], base?: BaseChain): NftChain => ({
  kind: 'nft-chain',
  ...table,
  chain: { name, ...(base === undefined ? {} : { base }), rules },
});

export const set = (declaration: NftSet['set']): NftSet => ({ kind: 'nft-set', ...table, set: declaration });

export const element = (
  name: string,
  key: NftElement['key'],
  data: Pick<NftElement, 'chain'> = {},
): NftElement => ({ kind: 'nft-element', ...table, set: name, key, ...data });

const letters = { addresses: 'a', nets: 'n', ports: 'p' } as const;

/** Type and family are part of it: a set with another declaration is another set. */
export const setName = ({ id, type, family }: CompiledSet): string => `${letters[type]}${family}-${id}`;

export const policyChain = (direction: Direction, policy: string): string =>
  `policy-${direction}-${digest(policy)}`;
export const dropChain = (direction: Direction, policy: string): string =>
  `drop-${direction}-${digest(policy)}`;

/** From a pod's link to the chain of what it sends, or receives. */
export const podsMap = (direction: Direction): string => `pods-${direction}`;

/** Protocols whose packets have ports. */
export const portedSet = 'ported-protocols';

const commentLimit = 128;

/** Cuts a text to the length of a rule's comment. */
export function comment(text: string): string {
  const bytes = Buffer.from(text);
  // A character that is cut in two would come back as another one.
  return bytes.length <= commentLimit
    ? text
    : bytes
        .subarray(0, commentLimit)
        .toString()
        .replace(/\uFFFD+$/, '');
}
