/** Lists of actions of ovs-actions(7), read. */
import type { Action, PacketInReason } from '../actions.js';
import { formatFieldValue, parseFieldValue } from '../field-value.js';
import { type FieldFormat, fieldOf, type FieldName } from '../fields.js';
import { findReservedPort, type Port } from '../ports.js';
import { spanOf, type Subfield } from '../subfield.js';
import { parseConntrack } from './conntrack.js';
import { parseActionField, parseSubfield } from './names.js';
import { parseCount, quote, splitKey, splitOutside } from './split.js';

export const parsePort = (text: string): Port => findReservedPort(text) ?? parseCount(text);

/** Reads a list; `drop` is the empty one. @throws RangeError naming what is wrong */
export function parseActions(text: string): Action[] {
  const parts = splitOutside(text, ', \t');
  return parts.length === 1 && parts[0] === 'drop' ? [] : parts.flatMap(parseAction);
}

type Parse = (value: string, key: string) => Action | readonly Action[];

/** `A->B` */
function splitArrow(text: string): readonly [string, string] {
  const at = text.indexOf('->');
  if (at < 0) throw new RangeError(`an arrow is missing: ${quote(text)}`);
  return [text.slice(0, at), text.slice(at + 2)];
}

function parseMove(value: string): Action {
  const [from, to] = splitArrow(value);
  return { type: 'move', from: parseSubfield(from), to: parseSubfield(to) };
}

const short = (value: bigint): number | string =>
  value > 0xffff_ffffn ? `0x${value.toString(16)}` : Number(value);

/** The value is a number of at most 64 bits, or an address as the field of the target has it. */
function parseLoad(text: string): Action {
  const [value, target] = splitArrow(text);
  const to = parseSubfield(target);
  const isNumber = addressFormats.includes(fieldOf(to.field).format) && /^0x[0-9a-f]{1,16}$/i.test(value);
  return {
    type: 'load',
    value: short(isNumber ? BigInt(value) : parseFieldValue(to.field, value).value),
    to,
  };
}

/** Fields whose own values are no numbers. */
const addressFormats: readonly FieldFormat[] = ['ipv4', 'ipv6', 'mac'];

/** The runs of ones of a mask. */
function* listRuns(mask: bigint): Iterable<readonly [start: number, bits: number]> {
  const digits = mask.toString(2);
  for (const run of [...digits.matchAll(/1+/g)].reverse())
    yield [digits.length - run.index - run[0].length, run[0].length];
}

/** A masked value is loaded bit by bit: OpenFlow 1.4 has no `set_field` with a mask. */
function parseSetField(text: string): readonly Action[] {
  const [value, target] = splitArrow(text);
  const field = parseActionField(target);
  return setField(field, value);
}

function setField(field: FieldName, text: string): readonly Action[] {
  const { value, mask } = parseFieldValue(field, text);
  if (mask === fieldOf(field).valid)
    return [{ type: 'set_field', field, value: formatFieldValue(field, { value, mask }) }];
  return [...listRuns(mask)].map(([start, bits]) => {
    const part = (value >> BigInt(start)) & ((1n << BigInt(bits)) - 1n);
    const to: Subfield = { field, start, bits };
    spanOf(to);
    return { type: 'load', value: short(part), to };
  });
}

function parseResubmit(value: string): Action {
  const [port = '', table = '', ct] = value.split(',').map((each) => each.trim());
  return {
    type: 'resubmit',
    ...(port === '' || port.toUpperCase() === 'IN_PORT' ? {} : { port: parsePort(port) }),
    ...(table === '' ? {} : { table: parseCount(table, 254) }),
    ...(ct === 'ct' ? { ct: true } : {}),
  };
}

function parseConjunction(value: string): Action {
  const [id, place] = value.split(',').map((each) => each.trim());
  const [clause, of] = (place ?? '').split('/');
  return { type: 'conjunction', id: parseCount(id), clause: parseCount(clause, 64), of: parseCount(of, 64) };
}

const reasons: readonly string[] = ['no_match', 'action', 'invalid_ttl'] satisfies PacketInReason[];

function parseControllerTerm(term: string): Partial<Extract<Action, { type: 'controller' }>> {
  const [key, value = ''] = splitKey(term, '=');
  if (key === 'max_len') return withoutDefault('maxLength', parseCount(value, 0xffff), 0xffff);
  if (key === 'id') return withoutDefault('id', parseCount(value, 0xffff), 0);
  if (key === 'reason' && reasons.includes(value)) return { reason: value as PacketInReason };
  throw new RangeError(`controller: not known: ${quote(term)}`);
}

const withoutDefault = <Key extends string>(
  key: Key,
  value: number,
  usual: number,
): { [K in Key]?: number } => (value === usual ? {} : { [key]: value }) as { [K in Key]?: number };

function parseController(value: string): Action {
  if (/^\d*$/.test(value))
    return {
      type: 'controller',
      ...(value === '' ? {} : withoutDefault('maxLength', Number(value), 0xffff)),
    };
  return Object.assign(
    { type: 'controller' as const },
    ...splitOutside(value, ',').map(parseControllerTerm),
  ) as Action;
}

function parseOutput(value: string): Action {
  const port = /^\d+$/.test(value) ? parseCount(value) : findReservedPort(value);
  if (port === 'CONTROLLER') return { type: 'controller' };
  return port === undefined ? { type: 'output_field', from: parseSubfield(value) } : { type: 'output', port };
}

/** Bytes in hexadecimal digits between dots, filled up as the switch does. */
function parseNote(value: string): Action {
  const bytes = value
    .split('.')
    .map((byte) => byte.padStart(2, '0'))
    .join('');
  if (!/^([0-9a-f]{2})*$/i.test(bytes)) throw new RangeError(`note: not bytes: ${quote(value)}`);
  const count = Math.max(6, Math.ceil((bytes.length / 2 + 2) / 8) * 8 - 2);
  return { type: 'note', bytes: bytes.toLowerCase().padEnd(2 * count, '0') };
}

const popVlan: Parse = () => ({ type: 'pop_vlan' });

const parsers: { readonly [key: string]: Parse | undefined } = {
  output: parseOutput,
  group: (value) => ({ type: 'group', group: parseCount(value) }),
  set_queue: (value) => ({ type: 'set_queue', queue: parseCount(value) }),
  set_field: parseSetField,
  move: parseMove,
  load: parseLoad,
  push: (value) => ({ type: 'push', from: parseSubfield(value) }),
  pop: (value) => ({ type: 'pop', to: parseSubfield(value) }),
  resubmit: parseResubmit,
  push_vlan: (value) => ({ type: 'push_vlan', etherType: parseCount(value, 0xffff) }),
  pop_vlan: popVlan,
  strip_vlan: popVlan,
  dec_ttl: () => ({ type: 'dec_ttl' }),
  ct: (value) => parseConntrack(value, parseActions),
  ct_clear: () => ({ type: 'ct_clear' }),
  conjunction: parseConjunction,
  controller: parseController,
  CONTROLLER: parseController,
  note: parseNote,
  clone: (value) => ({ type: 'clone', actions: parseActions(value) }),
  mod_dl_src: (value) => setField('eth_src', value),
  mod_dl_dst: (value) => setField('eth_dst', value),
  mod_nw_src: (value) => setField('ip_src', value),
  mod_nw_dst: (value) => setField('ip_dst', value),
};

function parseAction(text: string): readonly Action[] {
  const [key, value] = splitKey(text, ':');
  const parse = Object.hasOwn(parsers, key) ? parsers[key] : undefined;
  if (parse !== undefined) return [parse(value ?? '', key)].flat();
  if (value === undefined && (findReservedPort(key) !== undefined || /^\d+$/.test(key)))
    return [{ type: 'output', port: parsePort(key) }];
  throw new RangeError(`there is no action ${quote(text)}`);
}
