/** Which pods a policy applies to, and in which directions. */
import { networkPolicy as policy, type PolicyCase, singleStep } from './case.js';

const category = 'target';
const both = { policyTypes: ['Ingress', 'Egress'] };

export const targetCases: readonly PolicyCase[] = [
  singleStep(
    category,
    'no policy at all',
    () => [],
    () => true,
  ),
  singleStep(
    category,
    'deny all ingress of a namespace',
    () => [policy('x/deny', {})],
    (_, to) => to.namespace !== 'x',
  ),
  singleStep(
    category,
    'deny all egress of a namespace',
    () => [policy('x/deny', { policyTypes: ['Egress'] })],
    (from) => from.namespace !== 'x',
  ),
  singleStep(
    category,
    'deny all of a namespace',
    () => [policy('x/deny', both)],
    (from, to) => from.namespace !== 'x' && to.namespace !== 'x',
  ),
  singleStep(
    category,
    'allow all ingress of a namespace',
    () => [policy('x/allow', { ingress: [{}] })],
    () => true,
  ),
  singleStep(
    category,
    'allow all egress of a namespace, which is closed in no other direction',
    () => [policy('x/allow', { policyTypes: ['Egress'], egress: [{}] })],
    () => true,
  ),
  singleStep(
    category,
    'empty list of rules denies as an absent one does',
    () => [policy('x/deny', { ingress: [], egress: [] })],
    (_, to) => to.namespace !== 'x',
  ),
  singleStep(
    category,
    'pods by label',
    () => [policy('x/deny', { podSelector: { matchLabels: { pod: 'a' } } })],
    (_, to) => !(to.namespace === 'x' && to.name === 'a'),
  ),
  singleStep(
    category,
    'pods by expression In',
    () => [policy('x/deny', { podSelector: expression('In', ['a', 'b']) })],
    (_, to) => !(to.namespace === 'x' && to.name !== 'c'),
  ),
  singleStep(
    category,
    'pods by expression NotIn',
    () => [policy('x/deny', { podSelector: expression('NotIn', ['a', 'b']) })],
    (_, to) => !(to.namespace === 'x' && to.name === 'c'),
  ),
  singleStep(
    category,
    'pods by expression Exists',
    () => [policy('x/deny', { podSelector: expression('Exists') })],
    (_, to) => to.namespace !== 'x',
  ),
  singleStep(
    category,
    'pods by expression DoesNotExist',
    () => [policy('x/deny', { podSelector: expression('DoesNotExist') })],
    () => true,
  ),
  singleStep(
    category,
    'labels that no pod has',
    () => [policy('x/deny', { podSelector: { matchLabels: { pod: 'a', no: 'such' } } })],
    () => true,
  ),
  singleStep(
    category,
    'egress rules without policyTypes close ingress, too',
    () => [policy('x/out', { egress: [{}] })],
    (_, to) => to.namespace !== 'x',
  ),
];

function expression(operator: string, values?: readonly string[]): object {
  return { matchExpressions: [{ key: 'pod', operator, ...(values && { values }) }] };
}
