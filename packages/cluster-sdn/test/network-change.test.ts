/** Changes of VNIDs that NetNamespaces ask for. */
import { describe, expect, test } from 'vitest';
import { checkObject, type NetNamespace } from '@podwire/objects';
import { decideNetworkChange, lowestVnid, type NetworkDecision, planCluster, Vnids } from '../src/index.js';
import {
  changeNetwork,
  clusterNetwork,
  createCluster,
  netNamespace,
  problemsOf,
  settle,
  vnidsOf,
} from './support.js';

const others = { default: 0, alpha: 10, bravo: 11, charlie: 11, delta: 1 };

function decide(own: NetNamespace, mayChange = true, highest?: number): NetworkDecision {
  const vnidOf = new Map(Object.entries({ ...others, [own.netname]: own.netid }));
  const vnids = new Vnids(vnidOf.values(), lowestVnid, highest);
  return decideNetworkChange(own, { mayChange, vnids, vnidOf });
}

const refusalOf = (decision: NetworkDecision): string =>
  decision.act === 'refuse' ? `${decision.error.code} ${decision.error.message}` : decision.act;

describe('a request', () => {
  test.each<[string, NetNamespace, number]>([
    ['to be global gives VNID 0', netNamespace('alpha', 10, 'global'), 0],
    ['to join gives the VNID of the other', netNamespace('alpha', 10, 'join:bravo'), 11],
    ['to join a global namespace gives VNID 0', netNamespace('alpha', 10, 'join:default'), 0],
    ['to join itself changes nothing', netNamespace('alpha', 10, 'join:alpha'), 10],
    ['to be isolated gives the next free VNID', netNamespace('bravo', 11, 'isolate'), 12],
    ['to be isolated changes nothing for a sole namespace', netNamespace('alpha', 10, 'isolate'), 10],
    [
      'to be isolated changes nothing for a sole namespace of the control plane',
      netNamespace('delta', 1, 'isolate'),
      1,
    ],
    ['to be isolated ends being global', netNamespace('alpha', 0, 'isolate'), 10],
  ])('%s', (_, own, netid) => {
    expect(decide(own)).toEqual({ act: 'change', netNamespace: netNamespace(own.netname, netid) });
  });

  test('to be isolated ends being global also for the only one', () => {
    const own = netNamespace('alpha', 0, 'isolate');
    const view = { mayChange: true, vnids: new Vnids([0]), vnidOf: new Map([['alpha', 0]]) };
    expect(decideNetworkChange(own, view)).toMatchObject({ act: 'change', netNamespace: { netid: 10 } });
  });

  test('is none without the annotation', () => {
    expect(decide(netNamespace('alpha', 10))).toEqual({ act: 'nothing' });
  });

  test.each<[string, NetNamespace, string]>([
    [
      'to join what is not there',
      netNamespace('alpha', 10, 'join:bogus'),
      'SDN_CHANGE_REFUSED netnamespace alpha: cannot join bogus, which has no NetNamespace',
    ],
    [
      'to isolate the namespace default',
      netNamespace('default', 0, 'isolate'),
      'SDN_CHANGE_REFUSED netnamespace default: the namespace default cannot be isolated',
    ],
    [
      'that cannot be read',
      {
        ...netNamespace('alpha', 10),
        metadata: { name: 'alpha', annotations: { [changeNetwork]: 'joined' } },
      },
      'SDN_CHANGE_REFUSED netnamespace alpha: "joined" is none of global, isolate and join:NAMESPACE',
    ],
  ])('%s is refused', (_, own, refusal) => {
    expect(refusalOf(decide(own))).toBe(refusal);
    expect(decide(own)).not.toHaveProperty('netNamespace');
  });

  test('is refused without a free VNID', () => {
    expect(refusalOf(decide(netNamespace('bravo', 11, 'isolate'), true, 11))).toBe(
      'SDN_EXHAUSTED no VNID is free for the namespace bravo',
    );
  });

  test('is refused and answered where VNIDs do not change', () => {
    const decision = decide(netNamespace('alpha', 10, 'global'), false);
    expect(refusalOf(decision)).toContain(
      'VNIDs change with the plugin redhat/openshift-ovs-multitenant only',
    );
    expect(decision).toMatchObject({ netNamespace: netNamespace('alpha', 10) });
  });

  test('leaves other annotations alone', () => {
    const own = netNamespace('alpha', 10, 'global');
    const annotations = { ...own.metadata.annotations, team: 'a' };
    const decision = decide({ ...own, metadata: { ...own.metadata, annotations } });
    expect(decision).toMatchObject({
      netNamespace: { metadata: { name: 'alpha', annotations: { team: 'a' } } },
    });
  });
});

/** The steps of the original's own test of its map (vnids_test.go). */
test('requests one after the other give what the original gives', () => {
  const namespaces = ['default', 'alpha', 'bravo', 'charlie'];
  let { cluster, plan } = settle(createCluster([], { namespaces }));
  expect(vnidsOf(cluster)).toEqual({ default: 0, alpha: 10, bravo: 11, charlie: 12 });
  const ask = (name: string, request: string): void => {
    const { netNamespaces } = cluster.objects;
    const asked = netNamespaces.map((each) =>
      each.object.netname === name
        ? { ...each, object: netNamespace(name, each.object.netid, request) }
        : each,
    );
    ({ cluster, plan } = settle(
      { ...cluster, objects: { ...cluster.objects, netNamespaces: asked } },
      plan.cursors,
    ));
  };
  ask('alpha', 'join:bravo');
  expect(vnidsOf(cluster)).toEqual({ default: 0, alpha: 11, bravo: 11, charlie: 12 });
  ask('alpha', 'global');
  ask('charlie', 'global');
  expect(vnidsOf(cluster)).toEqual({ default: 0, alpha: 0, bravo: 11, charlie: 0 });
  ask('alpha', 'isolate');
  ask('bravo', 'isolate');
  expect(vnidsOf(cluster)).toEqual({ default: 0, alpha: 13, bravo: 11, charlie: 0 });
  ({ cluster } = settle({ ...cluster, namespaces: [] }));
  expect(vnidsOf(cluster)).toEqual({ default: 0 });
});

test('requests of one plan are met one after the other, by name', () => {
  const objects = [
    netNamespace('default', 0),
    netNamespace('a', 10, 'join:b'),
    netNamespace('b', 11, 'isolate'),
    netNamespace('c', 12, 'isolate'),
    netNamespace('d', 12),
    netNamespace('e', 13, 'join:new'),
  ];
  const { cluster } = settle(createCluster(objects, { namespaces: ['a', 'b', 'c', 'd', 'e', 'new'] }));
  expect(vnidsOf(cluster)).toEqual({ default: 0, a: 11, b: 15, c: 16, d: 12, e: 14, new: 14 });
  const again = settle(createCluster(objects.slice(0, 5), { namespaces: ['a', 'b', 'c', 'd'] }));
  expect(vnidsOf(again.cluster)).toEqual({ default: 0, a: 11, b: 10, c: 13, d: 12 });
});

test('a request that cannot be met stays, and is met later', () => {
  const alone = createCluster([netNamespace('default', 0), netNamespace('a', 10, 'join:b')], {
    namespaces: ['a'],
  });
  const refused = planCluster(alone);
  expect([refused.changes, problemsOf(refused)]).toEqual([[], [expect.stringContaining('cannot join b')]]);
  const { cluster, plan } = settle({ ...alone, namespaces: ['a', 'b'] });
  expect([vnidsOf(cluster), plan.problems]).toEqual([{ default: 0, a: 11, b: 11 }, []]);
});

test('a request in the mode of NetworkPolicy is reported once, and gone', () => {
  const objects = [
    clusterNetwork('networkpolicy'),
    netNamespace('default', 0),
    netNamespace('a', 10, 'global'),
  ];
  const { cluster, plan } = settle(createCluster(objects, { namespaces: ['a'] }));
  expect(problemsOf(plan)).toEqual([expect.stringContaining('SDN_CHANGE_REFUSED netnamespace a')]);
  expect(planCluster(cluster)).toMatchObject({ changes: [], problems: [] });
  expect(checkObject(cluster.objects.netNamespaces[1]?.object)).toMatchObject({
    ok: true,
    object: { netid: 10 },
  });
});
