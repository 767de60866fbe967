import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import type Registry from 'prom-client/lib/registry.js';
import type { NodePolicy } from './contract.js';
import { isStandIn } from './inputs/departed-pods.js';
import { DropSeries, mostDropSeries } from './look/drop-series.js';

/** From a tenth of a millisecond, one element, to seconds, a whole table. */
const seconds = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** Read when a scrape comes, except for the durations. */
export function addPolicyMetrics(registry: Registry, policy: NodePolicy): void {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      ...{ name, help, registers },
      collect() {
        this.set(read());
      },
    });
  };
  const state = () => policy.compiler.state;
  gauge('podwire_policy_in_force', '1 when the packet filter has what policies say.', () =>
    Number(policy.state.isApplied && policy.state.problem === undefined),
  );
  gauge('podwire_policies', 'Policies that select something on this node.', () => state().policies.size);
  gauge(
    'podwire_policy_endpoints',
    'Endpoints of this node that policy knows.',
    () => [...state().endpoints.keys()].filter((key) => !isStandIn(key)).length,
  );
  gauge(
    'podwire_policy_pods',
    'Pods of the whole cluster that policy knows.',
    () => policy.inputs.pods.pods.size,
  );
  gauge('podwire_policy_sets', 'Sets of addresses and ports that rules look into.', () => state().sets.size);
  gauge('podwire_policy_set_members', 'Members of all sets.', () => {
    let count = 0;
    for (const { members } of state().sets.values()) count += members.size;
    return count;
  });
  gauge(
    'podwire_policy_problems',
    'Objects that are not in force as they are written.',
    () => policy.state.problems.length,
  );
  const drops = new DropSeries();
  new Counter({
    name: 'podwire_policy_dropped_packets_total',
    help: `Packets that policy has dropped, since the rules of a policy or tier were last written. At most ${mostDropSeries} reasons have a series of their own; all others are one, whose labels are \`other\`.`,
    labelNames: ['direction', 'reason', 'tier', 'policy'],
    registers,
    collect() {
      this.reset();
      for (const { labels, packets } of drops.take(policy.dropCounts())) this.inc(labels, packets);
    },
  });
  const durations = new Histogram({
    name: 'podwire_policy_apply_duration_seconds',
    help: 'Time of changes of policy, by stage: compile and kernel.',
    labelNames: ['stage'],
    buckets: seconds,
    registers,
  });
  policy.onApplied(({ compile, exchange }) => {
    durations.observe({ stage: 'compile' }, compile / 1_000);
    durations.observe({ stage: 'kernel' }, exchange / 1_000);
  });
}
