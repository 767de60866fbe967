/** The status of ProviderNetworks, by what nodes say of them. */
import { planOvnCluster } from '@podwire/cluster-ovn';
import { checkObject, type ProviderNetwork, type StoredObject, withStatusOf } from '@podwire/objects';
import { expect, it } from 'vitest';
import { lookOf, make, nodeOf, nodeSaying, options, settle, writesOf } from './cluster-look.js';

const start = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const missing = 'provider network net1: this node has no interface eth1';

const network = (spec: Readonly<Record<string, unknown>> = {}) =>
  make('ProviderNetwork', 'net1', { defaultInterface: 'eth1', ...spec });

const statusOf = (objects: readonly StoredObject[]) =>
  (objects.find(({ object }) => object.kind === 'ProviderNetwork')!.object as ProviderNetwork).status!;

const ready = nodeSaying('n1', { net1: 'ready', net2: 'something else' });
const failed = nodeSaying('n2', { net1: missing });

it('names nodes that are ready and those that are not, and says why', () => {
  const status = statusOf(settle([network()], [failed, ready, nodeOf('n3')], start));
  expect(status).toMatchObject({ ready: false, readyNodes: ['n1'], notReadyNodes: ['n2', 'n3'], vlans: [] });
  const time = '2026-01-02T03:04:05Z';
  const times = { lastUpdateTime: time, lastTransitionTime: time };
  expect(status.conditions).toEqual([
    {
      ...{ node: 'n2', type: 'Ready', status: 'False', reason: 'InitOVSBridgeFailed', message: missing },
      ...times,
    },
    {
      ...{ node: 'n1', type: 'Ready', status: 'True', reason: 'InitOVSBridgeSucceeded', message: '' },
      ...times,
    },
  ]);
});

it('is ready when all nodes are that are not excluded, and has no condition of those', () => {
  const status = statusOf(settle([network({ excludeNodes: ['n2'] })], [ready, failed]));
  expect(status).toMatchObject({ ready: true, readyNodes: ['n1'], notReadyNodes: [] });
  expect(status.conditions.map(({ node }) => node)).toEqual(['n1']);
});

it('knows nothing of a network that a node does not name, whatever its name is', () => {
  const odd = make('ProviderNetwork', 'constructor', { defaultInterface: 'eth1' });
  expect(statusOf(settle([odd], [ready]))).toMatchObject({ notReadyNodes: ['n1'], conditions: [] });
});

it('names its VLANs', () => {
  const vlans = [
    make('Vlan', 'v20', { id: 20, provider: 'net1' }),
    make('Vlan', 'v10', { id: 10, provider: 'net1' }),
    make('Vlan', 'v30', { id: 30, provider: 'net2' }),
  ];
  expect(statusOf(settle([network(), ...vlans])).vlans).toEqual(['v10', 'v20']);
});

it('keeps the times of a condition until it changes', () => {
  const before = settle([network()], [failed], start);
  const other = nodeSaying('n2', { net1: 'another problem' });
  const after = settle(before, [other], start + 60_000);
  expect(statusOf(after).conditions).toMatchObject([
    { lastUpdateTime: '2026-01-02T03:05:05Z', lastTransitionTime: '2026-01-02T03:04:05Z' },
  ]);
  const sound = settle(after, [nodeSaying('n2', { net1: 'ready' })], start + 120_000);
  expect(statusOf(sound).conditions).toMatchObject([{ lastTransitionTime: '2026-01-02T03:06:05Z' }]);
});

it('forgets nodes that are gone, or are excluded by now', () => {
  const before = settle([network()], [ready, failed]);
  expect(statusOf(settle(before, [ready])).conditions.map(({ node }) => node)).toEqual(['n1']);
  const excluding = before.map((one) => {
    if (one.object.kind !== 'ProviderNetwork') return one;
    const checked = checkObject(network({ excludeNodes: ['n2'] }).object);
    if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
    return { ...one, object: withStatusOf(checked.object, one.object) };
  });
  const { conditions, ready: isReady } = statusOf(settle(excluding, [ready, failed]));
  expect([isReady, conditions.map(({ node }) => node)]).toEqual([true, ['n1']]);
});

it('is written when it differs alone, whatever the time is', () => {
  const nodes = [ready, failed];
  const objects = settle([network()], nodes, start);
  expect(writesOf(planOvnCluster(lookOf(objects, nodes, start + 1e9), options))).toEqual([]);
});
