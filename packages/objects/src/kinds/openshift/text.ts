/** Text that the kinds of OpenShift SDN share. All of it is IPv4: the original knows nothing else. */
import { formatPrefix, parsePrefix, type Prefix, specialKinds, tryParseAddress } from '@podwire/addresses';
import { z } from 'zod';

/** Undefined for what is no IPv4 prefix: checks of a whole object run beside those of its fields. */
export function toPrefix(text: string): Prefix | undefined {
  try {
    const read = parsePrefix(text, { loose: true });
    return read.family === 4 ? read : undefined;
  } catch {
    return undefined;
  }
}

function findFault(text: string): string | undefined {
  const read = toPrefix(text);
  if (read === undefined) return 'must be an IPv4 prefix in CIDR notation: 10.128.0.0/14';
  const canonical = formatPrefix(read);
  return canonical === text ? undefined : `has bits set beyond its length; the prefix is ${canonical}`;
}

const prefixWith = (check: (text: string) => string | undefined) =>
  z
    .string()
    .max(18)
    .superRefine((text, context) => {
      const message = findFault(text) ?? check(text);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    });

/** The original refuses bits beyond the length, where other kinds take them away. */
export const prefix = prefixWith(() => undefined);

/** A prefix of pods. */
export const podPrefix = prefixWith((text) => {
  const kinds = specialKinds(parsePrefix(text));
  return kinds.length === 0 ? undefined : `has ${kinds.join(', ')} addresses, which no pod can have`;
});

export const address = z.string().refine((text) => tryParseAddress(text)?.family === 4, {
  error: 'must be an IPv4 address: 10.0.0.1',
});

/** As `oc get` prints a list: JSON, and nothing where there is none. */
export const showList = (list: readonly string[]): string => (list.length === 0 ? '' : JSON.stringify(list));
