/** Flows as in ovs-ofctl(8): `table=1,priority=9,tcp,tp_dst=80,actions=output:2`. */
import type { Action } from '../actions.js';
import { formatFieldValue, parseFieldValue } from '../field-value.js';
import { DEFAULT_PRIORITY, type Flow, type FlowFlag, type Instructions } from '../flow.js';
import { parseActions } from './actions.js';
import { formatActions } from './format-actions.js';
import { formatMatch, parseTerms } from './match.js';
import { parseCount, quote, splitKey, splitOutside } from './split.js';

type Mutable = { -readonly [Key in keyof Flow]: Flow[Key] };

const flags: Readonly<Record<string, FlowFlag>> = {
  send_flow_rem: 'send_flow_rem',
  no_packet_counts: 'no_packet_counts',
  no_byte_counts: 'no_byte_counts',
};

/** Counters and ages of a dump, which are no part of a flow. */
const statistics = ['duration', 'n_packets', 'n_bytes', 'idle_age', 'hard_age'];

const format64 = (text: string): string =>
  String(formatFieldValue('metadata', parseFieldValue('metadata', text)));

const parseCookie = (text: string): Partial<Flow> => {
  const cookie = format64(text);
  return cookie === '0x0' ? {} : { cookie };
};

const counted = (key: 'idleTimeout' | 'hardTimeout' | 'importance', text: string): Partial<Flow> => {
  const count = parseCount(text, 0xffff);
  return count === 0 ? {} : { [key]: count };
};

const settings: { readonly [key: string]: ((value: string) => Partial<Flow>) | undefined } = {
  table: (value) => ({ table: parseCount(value, 254) }),
  priority: (value) => ({ priority: parseCount(value, 0xffff) }),
  cookie: parseCookie,
  idle_timeout: (value) => counted('idleTimeout', value),
  hard_timeout: (value) => counted('hardTimeout', value),
  importance: (value) => counted('importance', value),
};

const ACTIONS = /(^|[\s,])actions?=/;

/** The parts in front of and behind `actions=`. */
function cut(text: string): readonly [string, string] {
  const found = ACTIONS.exec(text);
  if (found === null) throw new RangeError(`no actions: ${quote(text)}`);
  return [text.slice(0, found.index), text.slice(found.index + found[0].length)];
}

/** Reads a flow, in the canonical form in which a dump returns it. @throws RangeError naming what is wrong */
export function parseFlow(text: string): Flow {
  const [head, actions] = cut(text);
  const flow: Mutable = { table: 0, priority: DEFAULT_PRIORITY };
  const terms: string[] = [];
  const found: FlowFlag[] = [];
  for (const term of splitOutside(head, ', \t')) {
    const [key, value] = splitKey(term, '=');
    if (value === undefined && Object.hasOwn(flags, key)) found.push(flags[key]!);
    else if (value !== undefined && Object.hasOwn(settings, key)) Object.assign(flow, settings[key]!(value));
    else if (!statistics.includes(key)) terms.push(term);
  }
  flow.match = parseTerms(terms);
  if (found.length > 0) flow.flags = found;
  return { ...flow, ...parseInstructions(actions) };
}

const instructions: { readonly [key: string]: ((value: string) => Instructions) | undefined } = {
  goto_table: (value) => ({ goto: parseCount(value, 254) }),
  write_metadata: (value) => ({ metadata: format64(value) }),
  meter: (value) => ({ meter: parseCount(value) }),
  clear_actions: () => ({ clear: true }),
  write_actions: (value) => ({ write: parseActions(value) }),
};

/** In the text instructions stand among the actions. */
function parseInstructions(text: string): Instructions {
  const found: Instructions = {};
  const actions: Action[] = [];
  for (const part of splitOutside(text, ', \t')) {
    const [key, value = ''] = splitKey(part, ':');
    if (Object.hasOwn(instructions, key)) Object.assign(found, instructions[key]!(value));
    else actions.push(...parseActions(part));
  }
  return { ...found, ...(actions.length > 0 ? { actions } : {}) };
}

function formatInstructions(flow: Instructions): string {
  const { meter, actions = [], clear, write, metadata, goto } = flow;
  const parts = [
    ...(meter === undefined ? [] : [`meter:${meter}`]),
    ...(actions.length === 0 ? [] : [formatActions(actions)]),
    ...(clear ? ['clear_actions'] : []),
    ...(write === undefined ? [] : [`write_actions(${formatActions(write)})`]),
    ...(metadata === undefined ? [] : [`write_metadata:${metadata}`]),
    ...(goto === undefined ? [] : [`goto_table:${goto}`]),
  ];
  return parts.length === 0 ? 'drop' : parts.join(',');
}

/** Writes a flow in one line that ovs-ofctl(8) adds. @throws RangeError for an action that has no text */
export function formatFlow(flow: Flow): string {
  const { table = 0, priority = DEFAULT_PRIORITY, cookie, idleTimeout, hardTimeout, importance } = flow;
  const match = formatMatch(flow.match ?? {});
  const terms = [
    ...(cookie === undefined ? [] : [`cookie=${cookie}`]),
    `table=${table}`,
    ...(idleTimeout === undefined ? [] : [`idle_timeout=${idleTimeout}`]),
    ...(hardTimeout === undefined ? [] : [`hard_timeout=${hardTimeout}`]),
    ...(importance === undefined ? [] : [`importance=${importance}`]),
    ...(flow.flags ?? []),
    `priority=${priority}`,
    ...(match === '' ? [] : [match]),
  ];
  return `${terms.join(',')},actions=${formatInstructions(flow)}`;
}
