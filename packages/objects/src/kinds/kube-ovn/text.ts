/** Text that the kinds of Kube-OVN share. Both families stand in one text, IPv4 first: `10.16.0.0/16,fd00:10:16::/64`. */
import {
  type Address,
  type Family,
  formatAddress,
  formatPrefix,
  type InterfaceAddress,
  parseInterfaceAddress,
  type Prefix,
  prefixOf,
  tryParseAddress,
} from '@podwire/addresses';
import { labelRule, type NameRule, subdomainRule } from '@podwire/apimachinery';
import { z } from 'zod';
import { named } from '../shared/text.js';

export const apiVersion = 'kubeovn.io/v1';

/** The VPC that subnets belong to which name none: the cluster's own router. */
export const defaultVpc = 'ovn-cluster';

/** The provider of subnets whose pods have their first interface there. */
export const defaultProvider = 'ovn';

/** Of an object of the whole cluster, a node too. */
export const objectName = named(subdomainRule);

export const optionalName = z.union([z.literal(''), objectName]).default('');

export const namespaceName = named(labelRule);

/** Each IP has the name of its subnet as a label: the key of one, the value of another. */
export const subnetRule: NameRule = {
  ...subdomainRule,
  longest: 63,
  words: subdomainRule.words.replace('253', '63'),
};

export const subnetName = named(subnetRule);

/** A list in which nothing stands twice; empty where there is none. */
export const uniqueList = (element: z.ZodType<string>, most = 4096) =>
  z
    .array(element)
    .max(most)
    .superRefine((list, context) => {
      const seen = new Set<string>();
      for (const [index, each] of list.entries()) {
        if (seen.has(each))
          context.addIssue({ code: 'custom', path: [index], message: 'stands in the list already' });
        seen.add(each);
      }
    })
    .default([]);

const isOfEachFamily = (parts: readonly { readonly family: Family }[]): boolean =>
  ['4', '6', '4,6'].includes(parts.map(({ family }) => family).join());

function tryParseInterface(text: string): InterfaceAddress | undefined {
  try {
    return parseInterfaceAddress(text);
  } catch {
    return undefined;
  }
}

export interface Block {
  readonly prefixes: readonly Prefix[];
  /** Bits are set beyond the length of one of them. */
  readonly isLoose: boolean;
}

/** Undefined unless there is one prefix of a family, or one of each. */
export function readBlock(text: string): Block | undefined {
  const parts = text.split(',').flatMap((part) => tryParseInterface(part) ?? []);
  const prefixes = parts.map(({ address, length }) => prefixOf(address, length));
  if (parts.length !== text.split(',').length || !isOfEachFamily(prefixes)) return undefined;
  const isLoose = prefixes.some(({ address }, index) => address.value !== parts[index]!.address.value);
  return { prefixes, isLoose };
}

export const formatPrefixes = (prefixes: readonly Prefix[]): string => prefixes.map(formatPrefix).join(',');

/** Undefined unless there is one address of a family, or one of each. */
export function readAddresses(text: string): readonly Address[] | undefined {
  const parts = text.split(',').map(tryParseAddress);
  const addresses = parts.flatMap((each) => each ?? []);
  return parts.length === addresses.length && isOfEachFamily(addresses) ? addresses : undefined;
}

export const formatAddresses = (addresses: readonly Address[]): string =>
  addresses.map(formatAddress).join(',');

export const wantedAddresses =
  'must be an address, or one of each family with that of IPv4 first: 10.16.0.1 or 10.16.0.1,fd00:10:16::1';

/** In its canonical form. */
export const addresses = z
  .string()
  .max(128)
  .refine((text) => readAddresses(text) !== undefined, { error: wantedAddresses })
  .overwrite((text) => formatAddresses(readAddresses(text) ?? []) || text);

/** 48 bits; that of a group cannot be an interface's. */
export const mac = z.string().regex(/^[0-9a-f][02468ace](:[0-9a-f]{2}){5}$/i, {
  error: 'must be the MAC address of an interface: 00:00:00:b8:58:ab',
});

/** As `kubectl get` prints a list: JSON, and nothing where there is none. */
export const showList = (list: readonly string[] = []): string =>
  list.length === 0 ? '' : JSON.stringify(list);

/** Nothing where the controller has not written it yet. */
export const showValue = (value: string | number | boolean | undefined): string => `${value ?? ''}`;

export type Problem = readonly [path: readonly (string | number)[], message: string];

/** Tells a schema what is wrong with several fields together. */
export function addProblems(problems: Iterable<Problem>, context: z.RefinementCtx): void {
  for (const [path, message] of problems) context.addIssue({ code: 'custom', path: [...path], message });
}
