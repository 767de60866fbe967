/** Random lives of clusters: what was planned and carried out keeps its promises, with restarts in between. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { overlaps, parsePrefix } from '@podwire/addresses';
import type { NetNamespace, StoredObject } from '@podwire/objects';
import { type ClusterNode, type Cursors, planCluster, type SdnCluster } from '../src/index.js';
import { clusterNetwork, createCluster, netNamespace, node, settle, subnetsOf, vnidsOf } from './support.js';

const names = ['a', 'b', 'c', 'd', 'e', 'f'];
const name = fc.constantFrom(...names);

type Step =
  | { readonly type: 'namespaces'; readonly names: readonly string[] }
  | { readonly type: 'nodes'; readonly nodes: readonly ClusterNode[] }
  | { readonly type: 'ask'; readonly name: string; readonly request: string }
  | { readonly type: 'restart' };

const someNodes = fc
  .uniqueArray(fc.tuple(fc.nat({ max: 11 }), fc.constantFrom('x', 'y')), { selector: ([number]) => number })
  .map((list) => list.map(([number, uid]) => node(number, `${number}-${uid}`)));

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constant('namespaces' as const), names: fc.subarray(names) }),
  fc.record({ type: fc.constant('nodes' as const), nodes: someNodes }),
  fc.record({
    type: fc.constant('ask' as const),
    name,
    request: fc.oneof(
      fc.constantFrom('global', 'isolate'),
      name.map((target) => `join:${target}`),
    ),
  }),
  fc.constant({ type: 'restart' as const }),
);

/** Namespaces by what they share, in the simplest form: 0 is global, each other number was made for one namespace. */
class Groups {
  readonly of = new Map<string, number>([['default', 0]]);
  #last = 0;

  follow(namespaces: readonly string[]): void {
    for (const each of [...this.of.keys()])
      if (each !== 'default' && !namespaces.includes(each)) this.of.delete(each);
    for (const each of namespaces) if (!this.of.has(each)) this.of.set(each, ++this.#last);
  }

  ask(own: string, request: string): void {
    const group = this.of.get(own);
    const target = this.of.get(request.replace('join:', ''));
    if (group === undefined) return;
    if (request === 'global') this.of.set(own, 0);
    else if (request === 'isolate') {
      const isAlone = group !== 0 && [...this.of.values()].filter((each) => each === group).length === 1;
      if (!isAlone) this.of.set(own, ++this.#last);
    } else if (target !== undefined) this.of.set(own, target);
  }
}

/** Equal numbers on one side are equal on the other. */
function expectSamePartition(
  vnids: Readonly<Record<string, number>>,
  groups: ReadonlyMap<string, number>,
): void {
  expect(Object.keys(vnids).toSorted()).toEqual([...groups.keys()].toSorted());
  const pairs = new Set([...groups].map(([each, group]) => `${group} ${vnids[each]}`));
  expect(pairs.size).toBe(new Set(groups.values()).size);
  expect(pairs.size).toBe(new Set(Object.values(vnids)).size);
  for (const [each, group] of groups) expect(vnids[each] === 0).toBe(group === 0);
}

function ask(cluster: SdnCluster, own: string, request: string): SdnCluster {
  const netNamespaces = cluster.objects.netNamespaces.map((each): StoredObject<NetNamespace> =>
    each.object.netname === own ? { ...each, object: netNamespace(own, each.object.netid, request) } : each,
  );
  return { ...cluster, objects: { ...cluster.objects, netNamespaces } };
}

/** A request that was refused stays until the cluster changes; the model has no such memory, so it is taken back. */
function takeBack(cluster: SdnCluster): SdnCluster {
  const netNamespaces = cluster.objects.netNamespaces.map((each): StoredObject<NetNamespace> =>
    each.object.metadata.annotations === undefined
      ? each
      : { ...each, object: netNamespace(each.object.netname, each.object.netid) },
  );
  return { ...cluster, objects: { ...cluster.objects, netNamespaces } };
}

function expectDisjoint(subnets: readonly string[]): void {
  const prefixes = subnets.map((each) => parsePrefix(each));
  for (const [at, one] of prefixes.entries())
    expect(prefixes.slice(at + 1).filter((other) => overlaps(one, other))).toEqual([]);
}

test('VNIDs are shared by joined namespaces alone, subnets by no nodes, and a plan that was carried out leaves nothing', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      let cluster = createCluster([clusterNetwork('multitenant', ['10.128.0.0/20', 9])]);
      let cursors: Cursors | undefined;
      const groups = new Groups();
      for (const each of steps) {
        if (each.type === 'namespaces') cluster = { ...cluster, namespaces: each.names };
        else if (each.type === 'nodes') cluster = { ...cluster, nodes: each.nodes };
        else if (each.type === 'ask') cluster = ask(cluster, each.name, each.request);
        else cursors = undefined;
        const settled = settle(cluster, cursors);
        cursors = settled.plan.cursors;
        expect(planCluster(settled.cluster, cursors).changes).toEqual([]);
        expect(planCluster(settled.cluster).changes).toEqual([]);
        groups.follow(cluster.namespaces);
        if (each.type === 'ask') groups.ask(each.name, each.request);
        cluster = takeBack(settled.cluster);
        expectSamePartition(vnidsOf(cluster), groups.of);
        const subnets = Object.values(subnetsOf(cluster));
        expectDisjoint(subnets);
        expect(subnets.length).toBe(Math.min(cluster.nodes.length, 8));
      }
    }),
    { numRuns: 60 },
  );
});

test('10,000 namespaces and 500 nodes are planned, and again when a tenth of them changes', () => {
  const namespaces = Array.from({ length: 10_000 }, (_, number) => `ns-${number}`);
  const nodes = Array.from({ length: 500 }, (_, number) => node(number));
  const plan = planCluster(createCluster([], { namespaces, nodes }));
  expect(plan.changes.length).toBe(10_501);
  const cluster = createCluster(plan.changes.flatMap(({ after }) => after ?? []));
  expect(new Set(Object.values(vnidsOf(cluster))).size).toBe(10_001);
  const next = { ...cluster, namespaces: namespaces.slice(1_000), nodes: nodes.slice(50) };
  expect(planCluster(next, plan.cursors).changes.length).toBe(1_050);
});
