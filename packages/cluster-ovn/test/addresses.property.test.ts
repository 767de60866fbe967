/** Pods come, go, come again under their name, lose what is written about them: no address has two owners. */
import fc from 'fast-check';
import { type OvnCluster, planAddresses, type PodObject, readAllocation } from '@podwire/cluster-ovn';
import { expect, it } from 'vitest';
import { asking, blue, clusterOf, join, podOf, settle } from './address-cluster.js';

const subnet = {
  ...blue,
  ranges: [{ cidr: '10.17.0.0/28', gateway: '10.17.0.1' }],
  excludeIps: ['10.17.0.12..10.17.0.13'],
};

const set = { namespace: 'a', name: 'set', replicas: 3, isDeleting: false };

type Change = (cluster: OvnCluster) => OvnCluster;

const ids = fc.constantFrom('a/set-0', 'a/set-1', 'a/set-2', 'a/web', 'b/web', 'b/db', 'b/cache', 'b/job');
const address = fc.integer({ min: 0, max: 15 }).map((last) => `10.17.0.${last}`);
const asked = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  address.map((addresses) => asking({ addresses })),
  fc.array(address, { minLength: 1, maxLength: 3 }).map((list) => asking({ pool: list.join() })),
  fc.constantFrom('02:00:00:00:00:01', '02:00:00:00:00:02').map((mac) => asking({ mac })),
);

const changePod =
  (id: string, change: (pod: PodObject) => PodObject): Change =>
  (cluster) => ({
    ...cluster,
    pods: cluster.pods.map((pod) => (`${pod.namespace}/${pod.name}` === id ? change(pod) : pod)),
  });

const removePod =
  (id: string): Change =>
  (cluster) => ({
    ...cluster,
    pods: cluster.pods.filter(({ namespace, name }) => `${namespace}/${name}` !== id),
  });

/** In the place of one of that name. */
const addPod =
  (id: string, uid: string, annotations: PodObject['annotations']): Change =>
  (cluster) => {
    const set = id.startsWith('a/set') ? { statefulSet: 'set' } : {};
    return { ...cluster, pods: [...removePod(id)(cluster).pods, podOf(id, { uid, annotations, ...set })] };
  };

const changes: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(ids, fc.uuid(), asked).map((args) => addPod(...args)) },
  { weight: 3, arbitrary: ids.map(removePod) },
  ids.map((id) => changePod(id, (pod) => ({ ...pod, hasEnded: true }))),
  ids.map((id) => changePod(id, (pod) => ({ ...pod, annotations: {} }))),
  fc
    .nat({ max: 3 })
    .map((at): Change => (cluster) => ({ ...cluster, ips: cluster.ips.filter((_, i) => i !== at) })),
  fc.nat({ max: 3 }).map((replicas): Change => (cluster) => ({
    ...cluster,
    statefulSets: [{ ...set, replicas }],
  })),
  fc.nat({ max: 1 }).map((n): Change => (cluster) => ({
    ...cluster,
    nodes: [...cluster.nodes, { name: `n${cluster.nodes.length}`, addresses: [`10.17.0.${n + 2}`] }].slice(
      0,
      4,
    ),
  })),
);

/** Of pods that are not over, by their annotations, and of nodes, by their IP objects: `subnet text` → owner. */
function listOwners({ pods, nodes, ips }: OvnCluster): [string, string][] {
  const held = [
    ...pods.flatMap((pod) => {
      const allocation = pod.hasEnded ? undefined : readAllocation(pod.annotations);
      return allocation === undefined ? [] : { owner: `${pod.namespace}/${pod.name}`, ...allocation };
    }),
    ...ips.flatMap((ip) =>
      nodes.some(({ name }) => ip.name === `node-${name}`) ? { owner: ip.name, ...ip } : [],
    ),
  ];
  return held.flatMap(({ owner, subnet: of, addresses, mac }) =>
    [...addresses, mac].map((text): [string, string] => [`${of} ${text}`, owner]),
  );
}

it('gives no address and no MAC to two, takes none away, and has nothing to do afterwards', () => {
  const step = fc.record({ change: changes, isRestart: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let { cluster, cursors } = settle(clusterOf({ subnets: [subnet, join], statefulSets: [set] }));
      for (const { change, isRestart } of steps) {
        const changed = change(cluster);
        const before = new Map(listOwners(changed));
        const next = settle(changed, isRestart ? undefined : cursors);
        ({ cluster, cursors } = next);
        const owners = listOwners(cluster);
        expect(new Map(owners).size).toBe(owners.length);
        for (const [text, owner] of before) expect(new Map(owners).get(text)).toBe(owner);
        const waiting = cluster.pods.filter(
          (pod) => !pod.hasEnded && readAllocation(pod.annotations) === undefined,
        );
        // An address that came back with this plan is for the next one.
        if (waiting.length === 0) expect(planAddresses(cluster, cursors).changes).toEqual([]);
        expect(next.plan.problems).toHaveLength(waiting.length + countNodesWithout(cluster));
        const outside = owners.filter(([text]) => /^blue 10\.17\.0\.(0|1|15)$/.test(text));
        expect(outside).toEqual([]);
      }
    }),
    { numRuns: 300 },
  );
});

const countNodesWithout = ({ nodes, ips }: OvnCluster): number =>
  nodes.filter(({ name }) => !ips.some((ip) => ip.name === `node-${name}`)).length;
