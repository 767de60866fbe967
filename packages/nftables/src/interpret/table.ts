/** A table as data: chains with rules, sets with elements. */
import { containsAddress, type Family as AddressFamily, parseAddress, parsePrefix } from '@podwire/addresses';
import type { Element } from '../element.js';
import type { ChainDeclaration, FieldValue, SetDeclaration } from '../rules/statement.js';
import { protocols, type Value } from '../values.js';

export interface TableContent {
  readonly chains: readonly ChainDeclaration[];
  readonly sets: readonly SetDeclaration[];
  readonly elements: readonly (Element & { readonly set: string })[];
}

/** Looks keys up in one set or map. */
export interface SetIndex {
  readonly find: (key: readonly FieldValue[]) => Element | undefined;
}

/** @throws RangeError for an element of a set that is not declared, and for a key that is there twice */
export function indexSets({ sets, elements }: TableContent): ReadonlyMap<string, SetIndex> {
  const members = new Map<string, Element[]>(sets.map(({ name }) => [name, []]));
  for (const element of elements) {
    const list = members.get(element.set);
    if (list === undefined)
      throw new RangeError(`an element of the set ${element.set}, which is not declared`);
    list.push(element);
  }
  return new Map(sets.map((set) => [set.name, makeIndex(set, members.get(set.name) ?? [])]));
}

function makeIndex(set: SetDeclaration, elements: readonly Element[]): SetIndex {
  return set.interval === true ? indexIntervals(elements) : indexKeys(set.name, elements);
}

function indexKeys(name: string, elements: readonly Element[]): SetIndex {
  const byKey = new Map<string, Element>();
  for (const element of elements) {
    const key = element.key.map(({ value }) => normalize(value)).join(' . ');
    if (byKey.has(key)) throw new RangeError(`${name} has ${key} twice`);
    byKey.set(key, element);
  }
  return { find: (key) => byKey.get(key.map(normalize).join(' . ')) };
}

/** Names of protocols and their numbers are one; so are all texts of an address. */
export function normalize(value: FieldValue): string {
  if (typeof value === 'string' && Object.hasOwn(protocols, value))
    return `${protocols[value as keyof typeof protocols]}`;
  return `${value}`;
}

function indexIntervals(elements: readonly Element[]): SetIndex {
  const nets = elements.map((element) => ({ element, contains: containment(element.key) }));
  return { find: ([address]) => nets.find(({ contains }) => contains(`${address}`))?.element };
}

function containment([key]: readonly Value[]): (address: string) => boolean {
  const prefix = parsePrefix(`${key?.value ?? ''}`);
  const family: AddressFamily = prefix.family;
  return (text) => {
    const address = parseAddress(text);
    return address.family === family && containsAddress(prefix, address);
  };
}
