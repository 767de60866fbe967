/** Text with a rule of its own: names, labels, prefixes, ports. */
import { formatPrefix, hostPrefix, parsePrefix, tryParseAddress } from '@podwire/addresses';
import { isQualifiedName, labelValueRule, type NameRule, portNameRule } from '@podwire/apimachinery';
import { z } from 'zod';

/** Text that keeps a rule of names. */
export const named = ({ pattern, longest, words }: NameRule) =>
  z.string().refine((text) => text !== '' && text.length <= longest && pattern.test(text), {
    error: `must be made of ${words}`,
  });

export const labelKey = z
  .string()
  .refine(isQualifiedName, { error: 'must be the key of a label: NAME or PREFIX/NAME, as example.com/tier' });

export const labelValue = z
  .string()
  .refine(({ length }) => length <= labelValueRule.longest, { error: 'must have at most 63 characters' })
  .refine((text) => labelValueRule.pattern.test(text), { error: `must be made of ${labelValueRule.words}` });

export const labels = z.record(labelKey, labelValue);

export const annotations = z.record(labelKey, z.string().max(256 * 1024));

/** Bits beyond the length are taken away, as API servers take such prefixes. */
export const cidr = z
  .string()
  .max(64)
  .refine(isPrefix, { error: 'must be a prefix in CIDR notation: 10.0.0.0/8 or fd00::/8' })
  .overwrite((text) => (isPrefix(text) ? formatPrefix(parsePrefix(text, { loose: true })) : text));

function isPrefix(text: string): boolean {
  try {
    parsePrefix(text, { loose: true });
    return true;
  } catch {
    return false;
  }
}

/** A prefix, or an address: kept as a prefix. */
export const net = z
  .string()
  .max(64)
  .refine((text) => toPrefix(text) !== undefined, {
    error: 'must be an address or a prefix: 10.0.0.1, 10.0.0.0/8 or fd00::/8',
  })
  .overwrite((text) => toPrefix(text) ?? text);

function toPrefix(text: string): string | undefined {
  const host = tryParseAddress(text);
  if (host !== undefined) return formatPrefix(hostPrefix(host));
  return isPrefix(text) ? formatPrefix(parsePrefix(text, { loose: true })) : undefined;
}

export const address = z.string().refine((text) => tryParseAddress(text) !== undefined, {
  error: 'must be an address: 10.0.0.1 or fd00::1',
});

/** As Kubernetes writes protocols that have ports. */
export const protocol = z.enum(['TCP', 'UDP', 'SCTP']);

export const portNumber = z.int().min(1).max(65_535);

export const portName = named(portNameRule);

/** Fields of which exactly one may be there, as network-policy-api has many. */
export const isExactlyOne = (value: object): boolean =>
  Object.values(value).filter((field) => field !== undefined).length === 1;
