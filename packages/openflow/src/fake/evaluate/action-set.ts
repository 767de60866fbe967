/** The action set, and buckets of groups, which are action sets too; OpenFlow 1.4.0, 5.10. */
import type { Action } from '../../actions.js';

/** Of these the last one is carried out, in this order. */
const first: readonly Action['type'][] = ['pop_vlan', 'push_vlan', 'dec_ttl'];
const settings: readonly Action['type'][] = ['set_field', 'load', 'move'];
/** Only one of these ends a set, the one that stands last here. Without any nothing is carried out. */
const final: readonly (readonly Action['type'][])[] = [
  ['ct'],
  ['ct_clear'],
  ['resubmit'],
  ['output', 'controller'],
  ['group'],
];

const lastOf = (actions: readonly Action[], types: readonly Action['type'][]): readonly Action[] =>
  actions.filter(({ type }) => types.includes(type)).slice(-1);

/** The actions of a set in the order in which they are carried out. */
export function orderActionSet(actions: readonly Action[]): readonly Action[] {
  const end = final
    .toReversed()
    .map((types) => lastOf(actions, types))
    .find(({ length }) => length > 0);
  if (end === undefined) return [];
  return [
    ...first.flatMap((type) => lastOf(actions, [type])),
    ...actions.filter(({ type }) => settings.includes(type)),
    ...lastOf(actions, ['set_queue']),
    ...end,
  ];
}
