/** Checks of actions that need no match: those that a switch makes as it decodes. */
import { parseAddress } from '@podwire/addresses';
import type { Action, Conntrack, Nat } from '../actions.js';
import { parseFieldValue } from '../field-value.js';
import { fieldOf, type FieldName } from '../fields.js';
import { portNumber, type Port } from '../ports.js';
import { Refusal, refuseUnless } from './refusal.js';

const FIRST_RESERVED = 0xff00;

/** Numbers between the ordinary ports and the reserved ones mean nothing. */
function isPort(port: Port): boolean {
  return typeof port === 'number' ? portNumber(port) < FIRST_RESERVED : port !== 'ANY';
}

const connectionFields: readonly FieldName[] = ['ct_mark', 'ct_label'];

/** Fields of the connection are written in the `exec` of `ct` and nowhere else, and nothing else there. */
function checkTarget(name: FieldName, isExec: boolean): void {
  const ofConnection = connectionFields.includes(name);
  if (isExec) refuseUnless(ofConnection, 'OFPBAC_BAD_ARGUMENT', `${name} is no field of a connection`);
  else
    refuseUnless(
      fieldOf(name).writable && !ofConnection,
      'OFPBAC_BAD_SET_ARGUMENT',
      `${name} cannot be written`,
    );
}

function checkSetField({ field, value }: Extract<Action, { type: 'set_field' }>, isExec: boolean): void {
  checkTarget(field, isExec);
  const number = parseFieldValue(field, value).value;
  const isValid = field !== 'vlan_vid' || (number & 0x1000n) !== 0n;
  refuseUnless(isValid, 'OFPBAC_BAD_SET_ARGUMENT', 'an identifier of a VLAN without the bit of its presence');
}

function checkRange(isOrdered: boolean): void {
  refuseUnless(isOrdered, 'OFPBAC_BAD_ARGUMENT', 'a range that ends before it begins');
}

function checkNat(nat: Nat, commit: boolean): void {
  const { direction, addresses, ports } = nat;
  refuseUnless(commit || direction === undefined, 'OFPBAC_BAD_ARGUMENT', 'a new translation without commit');
  refuseUnless(
    ports === undefined || addresses !== undefined,
    'OFPBAC_BAD_ARGUMENT',
    'ports without addresses',
  );
  const [first, last] = (addresses ?? '')
    .split('-')
    .filter((text) => text !== '')
    .map(parseAddress);
  if (first !== undefined && last !== undefined) checkRange(first.value <= last.value);
  if (ports !== undefined) checkRange(ports[0] <= ports[1]);
}

function checkConntrack({ commit, force, zone, nat, exec = [] }: Conntrack): void {
  refuseUnless(commit === true || !force, 'OFPBAC_BAD_ARGUMENT', 'force without commit');
  refuseUnless(commit === true || exec.length === 0, 'OFPBAC_BAD_ARGUMENT', 'exec without commit');
  if (typeof zone === 'object')
    refuseUnless(
      zone.bits === 16 || (zone.bits === undefined && fieldOf(zone.field).bits === 16),
      'OFPBAC_BAD_SET_LEN',
      'a zone of a part that has not 16 bits',
    );
  if (nat !== undefined) checkNat(nat, commit === true);
  checkList(exec, true);
}

function checkAction(action: Action, isExec: boolean): void {
  switch (action.type) {
    case 'set_field':
      return checkSetField(action, isExec);
    case 'load':
    case 'move':
    case 'pop':
      return checkTarget(action.to.field, isExec);
    default:
      refuseUnless(!isExec, 'OFPBAC_BAD_ARGUMENT', `${action.type} in exec`);
  }
  switch (action.type) {
    case 'output':
      return refuseUnless(isPort(action.port), 'OFPBAC_BAD_OUT_PORT', `there is no port ${action.port}`);
    case 'ct':
      return checkConntrack(action);
    case 'push_vlan':
      return refuseUnless(
        action.etherType === 0x8100 || action.etherType === 0x88a8,
        'OFPBAC_BAD_ARGUMENT',
        'a tag of an unknown type',
      );
    case 'clone':
      return checkList(action.actions, false);
    case 'raw':
      throw new Refusal('OFPBAC_BAD_TYPE', 'an unknown action');
    default:
  }
}

function checkList(actions: readonly Action[], isExec: boolean): void {
  for (const action of actions) checkAction(action, isExec);
}

/** @throws Refusal */
export const checkActions = (actions: readonly Action[]): void => checkList(actions, false);

const neverWritten: readonly Action['type'][] = [
  'note',
  'conjunction',
  'push',
  'pop',
  'clone',
  'output_field',
];

/** Actions of an action set. @throws Refusal */
export function checkActionSet(actions: readonly Action[]): void {
  for (const { type } of actions)
    refuseUnless(!neverWritten.includes(type), 'OFPBAC_BAD_TYPE', `${type} in an action set`);
  checkActions(actions);
}

/** Conjunctive flows do nothing else. @throws Refusal */
export function checkConjunctions(actions: readonly Action[], isAlone: boolean): void {
  if (!actions.some(({ type }) => type === 'conjunction')) return;
  const others = actions.filter(({ type }) => type !== 'conjunction' && type !== 'note');
  refuseUnless(isAlone && others.length === 0, 'NXBAC_BAD_CONJUNCTION', 'conjunction beside other actions');
}
