/** Annotations of Kube-OVN: what pods ask for, and what the controller answers. */
import {
  annotationNames,
  answeringAnnotations,
  isOvnAnnotation,
  parseRate,
  problemAnnotation,
  rateAnnotations,
} from '@podwire/objects/kube-ovn-names';
import type { Allocation } from '../allocation/subnet-addresses.js';

export { annotationNames };

export type Annotations = Readonly<Record<string, string>>;

/** A list as people write it: `10.16.0.5, fd00::5`. */
export const readList = (text = ''): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** The subnet, addresses and MAC that a pod or node has been given; undefined before. */
export function readAllocation(
  found: Annotations = {},
): (Allocation & { readonly subnet: string }) | undefined {
  const [subnet, mac] = [found[annotationNames.subnet], found[annotationNames.mac]];
  const addresses = readList(found[annotationNames.addresses]);
  if (found[annotationNames.isAllocated] !== 'true' || subnet === undefined || mac === undefined)
    return undefined;
  return addresses.length === 0 ? undefined : { subnet, addresses, mac };
}

/** Rates that are none, in words. */
export const findRateFaults = (found: Annotations): string[] =>
  rateAnnotations
    .filter((name) => (found[name] ?? '') !== '' && parseRate(found[name]!) === undefined)
    .map((name) => `annotation ${name}: ${JSON.stringify(found[name])} is not a rate in Mbit/s`);

/** Annotations that a pod's node goes by while it runs, as far as it can read them. */
export const selectPortAnnotations = (found: Annotations): Annotations => ({
  ...Object.fromEntries(
    rateAnnotations.flatMap((name) => {
      const text = found[name] ?? '';
      return parseRate(text) === undefined ? [] : [[name, text]];
    }),
  ),
  ...(found[annotationNames.mirror] === 'true' ? { [annotationNames.mirror]: 'true' } : {}),
});

/** The part of an answer that {@link readAllocation} reads. */
export const writeAllocation = ({
  subnet,
  addresses,
  mac,
}: Allocation & { readonly subnet: string }): Annotations => ({
  [annotationNames.subnet]: subnet,
  [annotationNames.addresses]: addresses.join(','),
  [annotationNames.mac]: mac,
  [annotationNames.isAllocated]: 'true',
});

const { subnet, addresses, mac, nicType } = annotationNames;

/** With those that are asked for and answered. */
const answered: ReadonlySet<string> = new Set([...answeringAnnotations, subnet, addresses, mac, nicType]);

const select = (all: Annotations, isWanted: (name: string) => boolean): Annotations =>
  Object.fromEntries(Object.entries(all).filter(([name]) => isWanted(name)));

/** Those by which a pod asks for something. */
export const readAsked = (all: Annotations): Annotations =>
  select(all, (name) => isOvnAnnotation(name) && !answeringAnnotations.has(name));

export const selectAnswers = (all: Annotations): Annotations => select(all, (name) => answered.has(name));

/**
 * Annotations by which a pod asks by now, with those that it has been given.
 * @param found of its record: the answer, or the reason why there is none yet
 */
export const mergeAnswers = (asked: Annotations, found: Annotations): Annotations => ({
  ...asked,
  ...(readAllocation(found) === undefined
    ? select(found, (name) => name === problemAnnotation)
    : selectAnswers(found)),
});
