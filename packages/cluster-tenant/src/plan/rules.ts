/** Rules of policies. */
import type { ClusterView, ObjectType, Plan, Rule } from '../contract.js';
import { keyIn, ruleKey } from '../keys.js';
import { fieldsOf, objectPlan, requireNamed, requireSame } from './shared.js';

/** Rules never change; the same rule once more is no change. */
export function putRule(cluster: ClusterView, rule: Rule): Plan {
  const key = ruleKey(rule);
  const object = `rule ${key}`;
  const before = cluster.table('rule').get(key);
  if (before !== undefined) {
    requireSame(object, before, rule, fieldsOf(before, rule));
    return objectPlan('rule', key, []);
  }
  for (const [field, type, name] of namedBy(rule))
    requireNamed(cluster, { type, key: keyIn(rule, name) }, { object, field });
  return objectPlan('rule', key, [{ type: 'rule', key, value: rule }]);
}

function* namedBy(rule: Rule): Generator<readonly [field: string, type: ObjectType, name: string]> {
  yield ['policyName', 'policy', rule.policyName];
  for (const field of ['fromEndpointGroup', 'toEndpointGroup'] as const) {
    const name = rule[field];
    if (name !== undefined) yield [field, 'endpointGroup', name];
  }
  for (const field of ['fromNetwork', 'toNetwork'] as const) {
    const name = rule[field];
    if (name !== undefined) yield [field, 'network', name];
  }
}
