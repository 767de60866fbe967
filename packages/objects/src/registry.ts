/** Kinds by name: as objects write them, and as people type them. */
import { PodwireError } from '@podwire/errors';
import { suggest } from '@podwire/apimachinery';
import type { KindDefinition, KindName } from './contract.js';
import { kinds } from './kinds/index.js';

const byName = new Map(kinds.map((definition) => [nameOf(definition), definition]));

function nameOf({ apiVersion, kind }: KindName): string {
  return `${apiVersion} ${kind}`;
}

export const findKind = (name: KindName): KindDefinition | undefined => byName.get(nameOf(name));

/** `networking.k8s.io` of `networking.k8s.io/v1`; `` for `v1`. */
export const groupOf = ({ apiVersion }: Pick<KindName, 'apiVersion'>): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';

/**
 * The kind that a word means: kind, plural or short name in any case; with the group behind it where two groups have the word:
 * `networkpolicies.projectcalico.org`. Without one, the kind that stands first in the list.
 * @throws PodwireError REQUEST_INVALID with the word that was probably meant
 */
export function requireKind(word: string): KindDefinition {
  const [own, ...rest] = word.toLowerCase().split('.');
  const group = rest.join('.');
  const found = kinds.filter((each) => wordsOf(each).includes(own!));
  const kind = group === '' ? found[0] : found.find((each) => groupOf(each) === group);
  if (kind !== undefined) return kind;
  throw new PodwireError('REQUEST_INVALID', `${JSON.stringify(word)} is no kind${suggestKind(own!, found)}`, {
    action: `The kinds are: ${kinds.map(qualifiedName).join(', ')}.`,
  });
}

function suggestKind(word: string, ofOtherGroups: readonly KindDefinition[]): string {
  if (ofOtherGroups.length > 0)
    return ` (did you mean ${ofOtherGroups.map((each) => `${each.plural}.${groupOf(each)}`).join(' or ')}?)`;
  return suggest(word, kinds.flatMap(wordsOf));
}

const wordsOf = ({ kind, plural, shortNames }: KindDefinition): string[] => [
  kind.toLowerCase(),
  plural,
  ...shortNames,
];

/** The shortest word that means this kind: its plural, with the group where another kind comes first. */
export function qualifiedName(definition: KindDefinition): string {
  const { plural } = definition;
  const first = kinds.find((each) => each.plural === plural);
  return first === definition ? plural : `${plural}.${groupOf(definition)}`;
}
