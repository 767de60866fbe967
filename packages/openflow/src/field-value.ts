/** Values of fields as people write them, and as numbers with a mask. */
import { parseAddress, formatAddress } from '@podwire/addresses';
import { fieldOf, type Field, type FieldName } from './fields.js';
import { findReservedPort, portNumber, portOf, portOfShort, shortPort, type Port } from './ports.js';

/**
 * A value, or a value and a mask: `5`, `'0x5/0xff'`, `'10.0.0.0/8'`, `'02:00:00:00:00:00/ff:00:00:00:00:00'`,
 * `'+trk-new'`, `'LOCAL'`, `'later'`. Numbers are exact; those beyond 53 bits are texts.
 */
export type FieldValue = number | string;

/** A value and the bits of it that count. */
export interface Masked {
  readonly value: bigint;
  readonly mask: bigint;
}

const ctStates = ['new', 'est', 'rel', 'rpl', 'inv', 'trk', 'snat', 'dnat'];
const tcpFlags = ['fin', 'syn', 'rst', 'psh', 'ack', 'urg', 'ece', 'cwr', 'ns', '[200]', '[400]', '[800]'];

/** ovs-fields(7), "ip_frag": bit 0 is set in every fragment, bit 1 in all but the first. */
const fragments: Readonly<Record<string, Masked>> = {
  no: { value: 0n, mask: 3n },
  yes: { value: 1n, mask: 1n },
  first: { value: 1n, mask: 3n },
  later: { value: 3n, mask: 3n },
  not_later: { value: 0n, mask: 2n },
};

interface Notation {
  /** One value, or one mask. */
  parse(text: string, field: Field): bigint;
  format(value: bigint, field: Field): string;
}

const numberPattern = /^(0x[0-9a-f]+|\d+)$/i;

function parseNumber(text: string): bigint {
  if (!numberPattern.test(text) || text.length > 42) throw new RangeError(`not a number: ${quote(text)}`);
  return BigInt(text);
}

const macPattern = /^[0-9a-f]{1,2}(:[0-9a-f]{1,2}){5}$/i;

function parseMac(text: string): bigint {
  if (!macPattern.test(text)) throw new RangeError(`not an Ethernet address: ${quote(text)}`);
  return BigInt(
    `0x${text
      .split(':')
      .map((byte) => byte.padStart(2, '0'))
      .join('')}`,
  );
}

const formatMac = (value: bigint): string =>
  value
    .toString(16)
    .padStart(12, '0')
    .replace(/..(?!$)/g, '$&:');

function parseIp(text: string, { bits }: Field): bigint {
  const { family, value } = parseAddress(text);
  if (bits !== (family === 4 ? 32 : 128)) throw new RangeError(`the wrong family: ${quote(text)}`);
  return value;
}

function parsePort(text: string, { bits }: Field): bigint {
  const port: Port = findReservedPort(text) ?? Number(parseNumber(text));
  return BigInt(bits === 16 ? shortPort(port) : portNumber(port));
}

const formatPort = (value: bigint, { bits }: Field): string =>
  String(bits === 16 ? portOfShort(Number(value)) : portOf(Number(value)));

const hex: Notation = { parse: parseNumber, format: (value) => `0x${value.toString(16)}` };

const notations: Readonly<Record<Field['format'], Notation>> = {
  hex,
  decimal: { parse: parseNumber, format: String },
  'ct-state': hex,
  'tcp-flags': hex,
  fragment: hex,
  ipv4: { parse: parseIp, format: (value) => formatAddress({ family: 4, value }) },
  ipv6: { parse: parseIp, format: (value) => formatAddress({ family: 6, value }) },
  mac: { parse: parseMac, format: formatMac },
  port: { parse: parsePort, format: formatPort },
};

const quote = (text: string): string => JSON.stringify(text.slice(0, 80));

const isAddress = ({ format }: Field): boolean => format === 'ipv4' || format === 'ipv6';

const prefixMask = (length: number, bits: number): bigint =>
  ((1n << BigInt(length)) - 1n) << BigInt(bits - length);

function parseMask(text: string, field: Field): bigint {
  if (!isAddress(field) || !/^\d{1,3}$/.test(text)) return notations[field.format].parse(text, field);
  if (Number(text) > field.bits) throw new RangeError(`a prefix of ${text} bits`);
  return prefixMask(Number(text), field.bits);
}

/** `+new-est`: flags that must be set, and flags that must not. */
function parseFlags(text: string, names: readonly string[]): Masked {
  let [value, mask] = [0n, 0n];
  for (const [, sign, name] of text.matchAll(/([+-])([a-z]+|\[\d+\])/g)) {
    const at = names.indexOf(name!);
    if (at < 0) throw new RangeError(`no such flag: ${quote(name!)}`);
    mask |= 1n << BigInt(at);
    if (sign === '+') value |= 1n << BigInt(at);
  }
  return { value, mask };
}

/** `new|trk`: these flags and no others. */
const parseExactFlags = (text: string, field: Field): Masked => {
  const signed = text.split('|').map((name) => `+${name}`);
  return { value: parseFlags(signed.join(''), flagsOf(field)).value, mask: field.valid };
};

const flagsOf = ({ format }: Field): readonly string[] =>
  format === 'ct-state' ? ctStates : format === 'tcp-flags' ? tcpFlags : [];

const exactFlagsPattern = /^([a-z]+|\[\d+\])(\|([a-z]+|\[\d+\]))*$/;
const flagsPattern = /^([+-]([a-z]+|\[\d+\]))+$/;

function parseText(text: string, field: Field): Masked {
  if (field.format === 'fragment' && text in fragments) return fragments[text]!;
  if (flagsPattern.test(text)) return parseFlags(text, flagsOf(field));
  if (flagsOf(field).length > 0 && exactFlagsPattern.test(text)) return parseExactFlags(text, field);
  const slash = text.indexOf('/');
  const value = notations[field.format].parse(slash < 0 ? text : text.slice(0, slash), field);
  return { value, mask: slash < 0 ? field.valid : parseMask(text.slice(slash + 1), field) };
}

const parseExact = (value: number, field: Field): Masked => {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not a number of a field: ${value}`);
  return { value: BigInt(value), mask: field.valid };
};

/**
 * The number and the mask of a value; without a mask every valid bit counts.
 * @throws RangeError naming the field when the value is none of this field.
 */
export function parseFieldValue(name: FieldName, value: FieldValue): Masked {
  const field = fieldOf(name);
  try {
    const masked = typeof value === 'number' ? parseExact(value, field) : parseText(value, field);
    if ((masked.value | masked.mask) >> BigInt(field.bits) === 0n) return masked;
    throw new RangeError(`more than ${field.bits} bits: ${String(value)}`);
  } catch (error) {
    throw new RangeError(`${name}: ${(error as Error).message}`, { cause: error });
  }
}

function formatFlags({ value, mask }: Masked, names: readonly string[]): string {
  const shown = names.filter((_, at) => (mask >> BigInt(at)) & 1n);
  return shown.map((name) => `${(value >> BigInt(names.indexOf(name))) & 1n ? '+' : '-'}${name}`).join('');
}

const notationOf = ({ format }: Field): Notation => (format === 'decimal' ? hex : notations[format]);

function maskText({ mask }: Masked, field: Field): string {
  if (!isAddress(field)) return notationOf(field).format(mask, field);
  const length = mask.toString(2).replace(/0+$/, '').length;
  return mask === prefixMask(length, field.bits) ? String(length) : notationOf(field).format(mask, field);
}

function formatMasked(masked: Masked, field: Field): string {
  const fragment = Object.entries(fragments).find(
    ([, { value, mask }]) => value === masked.value && mask === masked.mask,
  );
  if (field.format === 'fragment' && fragment !== undefined) return fragment[0];
  const names = flagsOf(field);
  if (names.length > 0 && masked.mask >> BigInt(names.length) === 0n) return formatFlags(masked, names);
  return `${notationOf(field).format(masked.value, field)}/${maskText(masked, field)}`;
}

const isNumeric = ({ format }: Field): boolean =>
  !['ipv4', 'ipv6', 'mac', 'port', 'fragment', 'ct-state'].includes(format);

/** The canonical form: equal values are equal texts or numbers. Exact numbers of up to 32 bits are numbers. */
export function formatFieldValue(name: FieldName, masked: Masked): FieldValue {
  const field = fieldOf(name);
  const isExact = masked.mask === field.valid;
  if (isExact && isNumeric(field) && field.bits <= 32) return Number(masked.value);
  if (field.format === 'fragment' || field.format === 'ct-state' || !isExact)
    return formatMasked(masked, field);
  const text = notations[field.format].format(masked.value, field);
  return field.format === 'port' && /^\d/.test(text) ? Number(text) : text;
}
