/** Policies of a dump, and what they speak of. */
import { applyImport, planImport, readCalicoDump, readImportState } from '@podwire/calico-import';
import { type AnyObject, createStoreSource, referenceKey, referenceOf } from '@podwire/objects';
import { systemClock } from '@podwire/platform';
import { createMemoryStore } from '@podwire/store/memory';
import { describe, expect, it } from 'vitest';
import { etcdPool, type Json, jsonPage, pool, resource } from './support/calico.js';
import { diagnosticsOf, keys, plan } from './support/plan.js';

const { signal } = new AbortController();
const allow = { action: 'Allow' };
const inShop = {
  namespace: 'shop',
  creationTimestamp: '2024-03-01T10:05:00Z',
  uid: 'x',
  resourceVersion: '7',
};
const names = (objects: readonly AnyObject[]): string[] =>
  objects.map((each) => referenceKey(referenceOf(each)));

const items: readonly Json[] = [
  resource('Tier', 'default', { order: 1_000_000 }),
  resource('Tier', 'kube-admin', { order: 1000 }),
  resource('Tier', 'security', { order: 100 }),
  resource('NetworkPolicy', 'security.web', { tier: 'security', ingress: [allow] }, inShop),
  resource('GlobalNetworkPolicy', 'default.all', { selector: 'all()' }),
  resource('NetworkSet', 'friends', { nets: ['10.0.0.1'] }, inShop),
  resource('GlobalNetworkSet', 'enemies', { nets: ['10.0.0.0/8'] }),
  resource('HostEndpoint', 'n1-auto', {
    node: 'n1',
    interfaceName: '*',
    profiles: ['projectcalico-default-allow'],
  }),
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'web', ...inShop },
    spec: { podSelector: {} },
  },
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'shop', labels: { team: 'a' } },
    status: { phase: 'Active' },
  },
];

describe('policies of custom resources', () => {
  it('are taken over with tiers, sets, host endpoints and namespaces', () => {
    const made = plan(items);
    expect(diagnosticsOf(made, 'error')).toEqual([]);
    expect(names(made.objects)).toEqual([
      'projectcalico.org/v3 Tier security',
      'projectcalico.org/v3 NetworkPolicy shop/security.web',
      'projectcalico.org/v3 GlobalNetworkPolicy default.all',
      'projectcalico.org/v3 NetworkSet shop/friends',
      'projectcalico.org/v3 GlobalNetworkSet enemies',
      'projectcalico.org/v3 HostEndpoint n1-auto',
      'networking.k8s.io/v1 NetworkPolicy shop/web',
      'v1 Namespace shop',
      'projectcalico.org/v3 Profile projectcalico-default-allow',
    ]);
    expect(diagnosticsOf(made, 'note')).toEqual([
      'Profile projectcalico-default-allow: is built into Calico, and written as an object that allows everything',
    ]);
  });

  it('come first: what gets an address is closed as it was', () => {
    const made = plan([pool('p', '10.0.0.0/16'), ...items]);
    expect(made.creations.map(({ kind }) => kind)).toEqual([
      ...Array.from({ length: 9 }, () => 'object'),
      'pool',
    ]);
  });

  it('have the labels that Calico keeps in an annotation', () => {
    const kept = JSON.stringify({ labels: { role: 'enemy' }, annotations: { why: 'bad' } });
    const annotations = { 'projectcalico.org/metadata': kept, other: 'x' };
    const made = plan([resource('GlobalNetworkSet', 'a', { nets: [] }, { annotations })]);
    expect(made.objects[0]?.metadata).toEqual({
      name: 'a',
      labels: { role: 'enemy' },
      annotations: { why: 'bad', other: 'x' },
    });
  });

  it('are written where agents read them, and not a second time', async () => {
    const store = createMemoryStore();
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    const planned = async () =>
      planImport(readCalicoDump([{ name: 'dump', text }]), await readImportState(store, keys, signal), {
        network: 'default',
      });
    const first = await planned();
    expect(await applyImport(first, { store, clock: systemClock, signal })).toBe(9);
    const source = createStoreSource({ store, root: keys.root, clock: systemClock });
    const { objects, unreadable } = await source.list();
    expect(unreadable).toEqual([]);
    expect(names(objects.map(({ object }) => object)).sort()).toEqual([...names(first.objects)].sort());
    const web = objects.find(({ object }) => object.metadata.name === 'security.web');
    expect(web?.created).toBe(Date.parse('2024-03-01T10:05:00Z'));
    expect(await planned()).toMatchObject({ creations: [], present: 9 });
    expect(diagnosticsOf(await planned(), 'error')).toEqual([]);
  });

  it('are not written over others of the same name', async () => {
    const store = createMemoryStore();
    const source = createStoreSource({ store, root: keys.root, clock: systemClock });
    const [there] = plan([resource('GlobalNetworkSet', 'a', { nets: ['10.0.0.0/8'] })]).objects;
    await source.save(there!, undefined);
    const made = plan(
      [resource('GlobalNetworkSet', 'a', { nets: ['10.1.0.0/16'] })],
      await readImportState(store, keys, signal),
    );
    expect(diagnosticsOf(made, 'error')).toEqual([
      'GlobalNetworkSet a: spec: is there already with {"nets":["10.0.0.0/8"]}, and the dump says {"nets":["10.1.0.0/16"]}',
    ]);
  });
});

describe('policies of etcd', () => {
  const key = '/calico/resources/v3/projectcalico.org';
  const value = (kind: string, metadata: Json, spec: Json) =>
    JSON.stringify({ apiVersion: 'projectcalico.org/v3', kind, metadata, spec });

  it('are taken over, in the tier that Calico makes for those of administrators', () => {
    const made = plan(
      jsonPage([
        ...etcdPool('p', '10.0.0.0/16'),
        [`${key}/tiers/kube-admin`, value('Tier', { name: 'kube-admin' }, { order: 1000 })],
        [
          `${key}/globalnetworkpolicies/kanp.x`,
          value(
            'GlobalNetworkPolicy',
            { name: 'kanp.x' },
            { tier: 'kube-admin', order: 1, ingress: [{ action: 'Pass' }] },
          ),
        ],
        [
          `${key}/profiles/kns.shop`,
          value('Profile', { name: 'kns.shop' }, { ingress: [allow], egress: [allow] }),
        ],
      ]),
    );
    expect(diagnosticsOf(made, 'error')).toEqual([]);
    expect(names(made.objects)).toEqual([
      'projectcalico.org/v3 Tier kube-admin',
      'projectcalico.org/v3 GlobalNetworkPolicy kanp.x',
      'projectcalico.org/v3 Profile kns.shop',
    ]);
  });
});

describe('what is not taken', () => {
  it.each<[string, Json, string]>([
    [
      'HTTP',
      resource('NetworkPolicy', 'a', { ingress: [{ ...allow, http: { methods: ['GET'] } }] }, inShop),
      'NetworkPolicy shop/a: spec.ingress.0.http: is not supported: what is in a connection is not looked at',
    ],
    [
      'a selector',
      resource('GlobalNetworkPolicy', 'a', { selector: 'a = b' }),
      'GlobalNetworkPolicy a: spec.selector: is no selector: at character 3, "=" means nothing here; write ==',
    ],
    [
      'a tier that is nowhere',
      resource('GlobalNetworkPolicy', 'a', { tier: 'security' }),
      'GlobalNetworkPolicy a: spec.tier: is security, and the dump has no such Tier; dump tiers.crd.projectcalico.org, too',
    ],
    [
      'a field of a later version',
      resource('Tier', 'a', { colour: 'red' }),
      'Tier a: spec.colour: unknown field',
    ],
  ])('is refused by name: %s', (_, object, error) => {
    expect(diagnosticsOf(plan([object]), 'error')).toContain(error);
  });

  it('a profile that is nowhere is told of', () => {
    const made = plan([
      resource('HostEndpoint', 'a', { node: 'n1', interfaceName: 'eth0', profiles: ['open'] }),
    ]);
    expect(diagnosticsOf(made, 'warning')).toEqual([
      'HostEndpoint a: spec.profiles: names open, which the dump does not have: it allows nothing until it is there',
    ]);
  });

  it('staged policies do nothing with Calico either', () => {
    const made = plan([resource('StagedNetworkPolicy', 'a', {}, inShop)]);
    expect(made.objects).toEqual([]);
    expect(diagnosticsOf(made, 'note')).toEqual(['dump: not taken over: 1 StagedNetworkPolicy']);
  });
});
