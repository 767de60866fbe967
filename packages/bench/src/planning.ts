/**
 * The cost of planning alone, without kernel and store, in the sizes that a node may have.
 *
 * Usage: node packages/bench/dist/src/planning.js [ROUNDS]
 */
import { performance } from 'node:perf_hooks';
import { collect, Planner, type PlannerOptions } from '@podwire/planner';
import { summarize } from './statistics.js';
import { formatNumber, formatTable } from './table.js';

interface Thing {
  readonly key: string;
  readonly lines?: readonly string[];
  readonly gateway?: string;
}

declare module '@podwire/planner' {
  interface FactKinds {
    /** The address of a peer. */
    neighbour: string;
    /** Addresses of a set. */
    addresses: ReadonlySet<string>;
  }
}

const rounds = Number(process.argv[2] ?? 20);
const createPlanner = (plan: PlannerOptions<Thing>['plan'], sources: PlannerOptions<Thing>['sources'] = {}) =>
  new Planner<Thing>({ plan, sources, keyOf: ({ key }) => key });

/** Each round begins with a new state. */
function measure(what: string, prepare: () => () => unknown): string[] {
  const samples = Array.from({ length: rounds }, () => {
    const work = prepare();
    const begin = performance.now();
    work();
    return performance.now() - begin;
  });
  const { median, p99 } = summarize(samples);
  return [what, formatNumber(median), formatNumber(p99)];
}

function mark(planner: Planner<Thing>, kind: string, count: number): Planner<Thing> {
  for (let n = 0; n < count; n++) planner.markScope(`${kind}/${n}`);
  return planner;
}

function settle(planner: Planner<Thing>): Planner<Thing> {
  planner.replan();
  planner.succeed(planner.begin(planner.difference()));
  return planner;
}

const planOne = (planner: Planner<Thing>, scope: string) => () => {
  planner.markScope(scope);
  planner.replan();
  return planner.difference();
};

const chainOf = (): Thing => ({
  key: 'chain podwire-shared',
  lines: Array.from(
    { length: 20 },
    (_, n) => `ip saddr 10.0.${n}.0/24 tcp dport ${8_000 + n} counter accept`,
  ),
});

/** Each of the endpoints makes the chain anew, as a plan that keeps nothing does. */
const endpoints = () => createPlanner((scope) => [chainOf(), { key: `route ${scope}` }]);

const inSets = (scope: string): Thing[] =>
  Array.from({ length: 100 }, (_, set) => ({ key: `element ${set} ${scope}` }));

function joinSets() {
  const planner = mark(createPlanner(inSets), 'endpoint', 1_000);
  return planOne(settle(planner), 'endpoint/new');
}

/** The same, with a scope for each set. */
function joinCollections() {
  const sets = Array.from(
    { length: 100 },
    () => new Set(Array.from({ length: 1_000 }, (_, n) => `10.0.0.${n}`)),
  );
  const planner = createPlanner(
    (scope) => ({
      collections: [collect(`addresses/${scope.slice(4)}`, (name) => [{ key: `element ${scope} ${name}` }])],
    }),
    { addresses: (id) => sets[Number(id)]! },
  );
  settle(mark(planner, 'set', 100));
  return () => {
    for (const [id, set] of sets.entries()) {
      set.add('10.1.0.1');
      planner.noteMembers(`addresses/${id}`, ['10.1.0.1']);
    }
    planner.replan();
    return planner.difference();
  };
}

function changePeer() {
  const gateways = new Map<string, string>();
  const planner = createPlanner(
    (scope, read) => {
      const gateway = read(`neighbour/${scope.slice(5)}`);
      return ['v4 a', 'v4 b', 'v6 a', 'v6 b', 'fdb', 'neigh'].map((key) => ({
        key: `${key} ${scope}`,
        gateway,
      }));
    },
    { neighbour: (id) => gateways.get(id) ?? '192.0.2.1' },
  );
  settle(mark(planner, 'peer', 5_000));
  return () => {
    gateways.set('7', '192.0.2.2');
    planner.noteChanged(['neighbour/7']);
    planner.replan();
    return planner.difference();
  };
}

const rows = [
  measure('2,000 endpoints that share a chain of 20 lines, from nothing', () => {
    const planner = mark(endpoints(), 'endpoint', 2_000);
    return () => planner.replan();
  }),
  measure('one endpoint more', () => planOne(settle(mark(endpoints(), 'endpoint', 2_000)), 'endpoint/new')),
  measure('a pod joins 100 sets of 1,000, as elements of its scope', joinSets),
  measure('the same, as a member of 100 collections', joinCollections),
  measure('one of 5,000 peers changes', changePeer),
];
process.stdout.write(`${formatTable([['milliseconds', 'p50', 'p99'], ...rows]).join('\n')}\n`);
