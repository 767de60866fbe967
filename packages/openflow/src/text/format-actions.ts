/** Lists of actions of ovs-actions(7), written. */
import type { Action, Controller, Resubmit } from '../actions.js';
import type { Port } from '../ports.js';
import { formatConntrack } from './conntrack.js';
import { actionName, formatSubfield, formatValue } from './names.js';

/** Writes a list; the empty one is `drop`. @throws RangeError for an action that has no text */
export const formatActions = (actions: readonly Action[]): string =>
  actions.length === 0 ? 'drop' : formatList(actions);

const formatList = (actions: readonly Action[]): string => actions.map(formatAction).join(',');

const formatOutput = (port: Port): string => (typeof port === 'number' ? `output:${port}` : port);

function formatResubmit({ port, table, ct }: Resubmit): string {
  if (table === undefined && ct === undefined) return `resubmit:${port ?? 'IN_PORT'}`;
  return `resubmit(${port ?? ''},${table ?? ''}${ct ? ',ct' : ''})`;
}

function formatController({ maxLength, id, reason }: Controller): string {
  if (id === undefined && reason === undefined) return `CONTROLLER:${maxLength ?? 0xffff}`;
  const terms = [
    ...(maxLength === undefined ? [] : [`max_len=${maxLength}`]),
    ...(id === undefined ? [] : [`id=${id}`]),
    ...(reason === undefined ? [] : [`reason=${reason}`]),
  ];
  return `controller(${terms.join(',')})`;
}

const formatNumber = (value: number | string): string => `0x${BigInt(value).toString(16)}`;
const formatNote = (bytes: string): string => bytes.replace(/..(?!$)/g, '$&.');

function formatAction(action: Action): string {
  switch (action.type) {
    case 'output':
      return formatOutput(action.port);
    case 'output_field':
      return `output:${formatSubfield(action.from)}`;
    case 'controller':
      return formatController(action);
    case 'group':
      return `group:${action.group}`;
    case 'set_queue':
      return `set_queue:${action.queue}`;
    case 'set_field':
      return `set_field:${formatValue(action.field, action.value)}->${actionName(action.field)}`;
    case 'move':
      return `move:${formatSubfield(action.from)}->${formatSubfield(action.to)}`;
    case 'load':
      return `load:${formatNumber(action.value)}->${formatSubfield(action.to)}`;
    case 'push':
      return `push:${formatSubfield(action.from)}`;
    case 'pop':
      return `pop:${formatSubfield(action.to)}`;
    case 'resubmit':
      return formatResubmit(action);
    case 'push_vlan':
      return `push_vlan:0x${action.etherType.toString(16)}`;
    case 'pop_vlan':
    case 'dec_ttl':
    case 'ct_clear':
      return action.type;
    case 'ct':
      return formatConntrack(action, formatList);
    case 'conjunction':
      return `conjunction(${action.id},${action.clause}/${action.of})`;
    case 'note':
      return `note:${formatNote(action.bytes)}`;
    case 'clone':
      return `clone(${formatList(action.actions)})`;
    case 'raw':
      throw new RangeError('an action that is known by its bytes alone has no text');
  }
}
