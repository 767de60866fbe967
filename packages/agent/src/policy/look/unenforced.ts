/** Policies that select pods for which nothing enforces them. */
import { referenceKey } from '@podwire/objects';
import { groupBy } from '@podwire/platform';
import type { CompiledDirection, CompiledState } from '@podwire/policy';
import { enforcesPolicy, type Network, networkOf } from '../../networks.js';
import type { EndpointRecord } from '../../records/record.js';
import { podKeyOf, policyPodOf } from '../inputs/facts.js';
import type { PolicyProblem } from '../parts.js';

/** One problem for each object, with the first pod that it selects. Pure. */
export function findUnenforced(
  { endpoints, policies }: Pick<CompiledState, 'endpoints' | 'policies'>,
  networks: readonly Pick<Network, 'view' | 'model'>[],
  registry: { all(): readonly Pick<EndpointRecord, 'id' | 'pod' | 'endpoint'>[] },
): PolicyProblem[] {
  const unguarded = networks.filter((network) => !enforcesPolicy(network));
  // Every change of policy asks: on most nodes no pod has to be looked at.
  if (unguarded.length === 0) return [];
  const selected = registry.all().flatMap((record) => {
    const network = networkOf(unguarded, record);
    if (network === undefined) return [];
    const pod = podKeyOf(policyPodOf(record));
    const { ingress, egress } = endpoints.get(pod) ?? {};
    const ids = new Set([...policiesOf(ingress), ...policiesOf(egress)]);
    const objects = [...ids].flatMap((id) => policies.get(id)?.reference ?? []);
    return objects.map((object) => ({ object: referenceKey(object), pod, network }));
  });
  return [...groupBy(selected, ({ object }) => object)].map(([object, [first, ...more]]) => {
    const { pod, network } = first!;
    const pods = more.length === 0 ? `pod ${pod}` : `pod ${pod} and ${more.length} more`;
    const { view, model } = network;
    return {
      object,
      message: `selects ${pods} of network ${view.name}, whose model ${model.name} enforces no policy`,
    };
  });
}

const policiesOf = (direction: CompiledDirection | undefined): string[] =>
  (direction?.tiers ?? []).flatMap(({ policies }) => policies);
