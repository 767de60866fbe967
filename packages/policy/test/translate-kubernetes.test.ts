/** Kubernetes' kinds in the normal form. */
import { describe, expect, it, test } from 'vitest';
import type { AnyObject } from '@podwire/objects';
import { translateObject, translateRemoval } from '../src/index.js';
import { type Fields, make, policyOf } from './support/objects.js';

const networkPolicy = (spec: Fields) =>
  make('NetworkPolicy/web', 'networking.k8s.io/v1', spec, { namespace: 'shop' });
const name = 'kubernetes.io/metadata.name';
const shop = { is: 'in', key: name, values: ['shop'] };
const all = { is: 'all' };
const isLabel = (key: string, value: string) => ({ is: 'in', key, values: [value] });
const anyRule = { action: 'allow', source: [], destination: [] };

describe('NetworkPolicy', () => {
  it('is in the tier default with order 1000, of pods of its namespace', () => {
    expect(policyOf(networkPolicy({ podSelector: { matchLabels: { app: 'web' } } }))).toEqual({
      id: 'networking.k8s.io/v1 NetworkPolicy shop/web',
      reference: {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        namespace: 'shop',
        name: 'web',
      },
      tier: 'default',
      order: 1000,
      subjects: [{ is: 'pods', namespaces: shop, pods: isLabel('app', 'web') }],
      ingress: [],
    });
  });

  it('keeps where it was written', () => {
    const origin = { file: 'a.yaml', line: 7, lines: { 'spec.ingress.0': 9 } };
    expect(translateObject(networkPolicy({}), origin)).toMatchObject([{ value: { origin } }]);
  });

  test.each<[string, Fields, Fields]>([
    ['no type and no egress: ingress alone', {}, { ingress: [], egress: undefined }],
    [
      'no type and egress: both',
      { egress: [{}] },
      { ingress: [], egress: [{ ...anyRule, path: 'spec.egress[0]' }] },
    ],
    ['Egress alone', { policyTypes: ['Egress'] }, { ingress: undefined, egress: [] }],
    [
      'rules of a direction that is not named',
      { policyTypes: ['Egress'], ingress: [{}] },
      { ingress: undefined, egress: [] },
    ],
    ['an empty rule', { ingress: [{}] }, { ingress: [{ ...anyRule, path: 'spec.ingress[0]' }] }],
    [
      'empty lists',
      { ingress: [{ from: [], ports: [] }] },
      { ingress: [{ ...anyRule, path: 'spec.ingress[0]' }] },
    ],
  ])('%s', (_, spec, directions) => {
    const { ingress, egress } = policyOf(networkPolicy(spec));
    expect({ ingress, egress }).toMatchObject(directions);
  });

  test.each<[string, Fields, Fields]>([
    ['podSelector: its own namespace', { podSelector: {} }, { is: 'pods', namespaces: shop, pods: all }],
    [
      'namespaceSelector: all pods there',
      { namespaceSelector: { matchLabels: { team: 'a' } } },
      { is: 'pods', namespaces: isLabel('team', 'a'), pods: all },
    ],
    [
      'both: pods there',
      {
        namespaceSelector: {},
        podSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['x'] }] },
      },
      { is: 'pods', namespaces: all, pods: { is: 'not', of: isLabel('app', 'x') } },
    ],
    [
      'ipBlock',
      { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } },
      { is: 'net', cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] },
    ],
    [
      'ipBlock without except',
      { ipBlock: { cidr: 'fd00::/8' } },
      { is: 'net', cidr: 'fd00::/8', except: [] },
    ],
  ])('a peer with %s', (_, from, peer) => {
    const { ingress, egress } = policyOf(
      networkPolicy({ ingress: [{ from: [from] }], egress: [{ to: [from] }] }),
    );
    expect(ingress).toEqual([{ ...anyRule, source: [{ peers: [peer] }], path: 'spec.ingress[0]' }]);
    expect(egress).toEqual([{ ...anyRule, destination: [{ peers: [peer] }], path: 'spec.egress[0]' }]);
  });

  test.each<[string, readonly Fields[], readonly Fields[]]>([
    ['a number', [{ port: 80 }], [{ protocol: 'tcp', ports: [{ first: 80, last: 80 }] }]],
    [
      'a range',
      [{ port: 80, endPort: 90, protocol: 'UDP' }],
      [{ protocol: 'udp', ports: [{ first: 80, last: 90 }] }],
    ],
    ['a name', [{ port: 'http' }], [{ protocol: 'tcp', namedPorts: ['http'] }]],
    ['a protocol alone', [{ protocol: 'SCTP' }], [{ protocol: 'sctp' }]],
    [
      'many of two protocols',
      [{ port: 80 }, { port: 53, protocol: 'UDP' }, { port: 'http' }, { port: 443 }],
      [
        {
          protocol: 'tcp',
          ports: [
            { first: 80, last: 80 },
            { first: 443, last: 443 },
          ],
        },
        { protocol: 'tcp', namedPorts: ['http'] },
        { protocol: 'udp', ports: [{ first: 53, last: 53 }] },
      ],
    ],
    ['all of a protocol beside one of its ports', [{ port: 80 }, {}], [{ protocol: 'tcp' }]],
  ])('ports: %s', (_, ports, services) => {
    const [rule] = policyOf(networkPolicy({ ingress: [{ ports }] })).ingress ?? [];
    expect(rule).toEqual({ ...anyRule, services, path: 'spec.ingress[0]' });
  });
});

const alpha1 = 'policy.networking.k8s.io/v1alpha1';
const alpha2 = 'policy.networking.k8s.io/v1alpha2';
const everyPod = { namespaces: {} };
const admin = (spec: Fields) =>
  make('AdminNetworkPolicy', alpha1, { priority: 10, subject: everyPod, ...spec });
const allPods = { is: 'pods', namespaces: all, pods: all };

describe('policies of administrators', () => {
  it.each<[string, AnyObject, Fields]>([
    ['AdminNetworkPolicy', admin({}), { tier: 'admin', order: 10, subjects: [allPods] }],
    [
      'BaselineAdminNetworkPolicy',
      make('BaselineAdminNetworkPolicy/default', alpha1, { subject: everyPod }),
      { tier: 'baseline', order: 0 },
    ],
    [
      'ClusterNetworkPolicy of Admin',
      make('ClusterNetworkPolicy', alpha2, { tier: 'Admin', priority: 7, subject: everyPod }),
      { tier: 'admin', order: 7 },
    ],
    [
      'ClusterNetworkPolicy of Baseline',
      make('ClusterNetworkPolicy', alpha2, { tier: 'Baseline', priority: 7, subject: everyPod }),
      { tier: 'baseline', order: 7 },
    ],
  ])('%s has its place', (_, object, place) => {
    expect(policyOf(object)).toMatchObject(place);
  });

  it('govern no direction without rules', () => {
    const policy = policyOf(admin({ ingress: [] }));
    expect([policy.ingress, policy.egress]).toEqual([undefined, undefined]);
  });

  it.each<[string, AnyObject, Fields]>([
    [
      'Allow from namespaces, by name',
      admin({ ingress: [{ name: 'first', action: 'Allow', from: [everyPod] }] }),
      {
        action: 'allow',
        source: [{ peers: [allPods] }],
        destination: [],
        path: 'spec.ingress[0]',
        name: 'first',
      },
    ],
    [
      'Deny from pods to ports',
      admin({
        ingress: [
          {
            action: 'Deny',
            from: [{ pods: { namespaceSelector: {}, podSelector: { matchLabels: { app: 'web' } } } }],
            ports: [
              { portNumber: { port: 80 } },
              { portRange: { protocol: 'UDP', start: 1, end: 9 } },
              { namedPort: 'http' },
            ],
          },
        ],
      }),
      {
        action: 'deny',
        services: [
          { protocol: 'tcp', ports: [{ first: 80, last: 80 }] },
          { protocol: 'udp', ports: [{ first: 1, last: 9 }] },
          { namedPorts: ['http'] },
        ],
        source: [{ peers: [{ is: 'pods', namespaces: all, pods: isLabel('app', 'web') }] }],
        destination: [],
        path: 'spec.ingress[0]',
      },
    ],
    [
      'Pass to nodes and networks',
      admin({ egress: [{ action: 'Pass', to: [{ nodes: {} }, { networks: ['10.0.0.0/8', 'fd00::/8'] }] }] }),
      {
        action: 'pass',
        source: [],
        destination: [
          {
            peers: [
              { is: 'nodes', labels: all },
              { is: 'net', cidr: '10.0.0.0/8', except: [] },
              { is: 'net', cidr: 'fd00::/8', except: [] },
            ],
          },
        ],
        path: 'spec.egress[0]',
      },
    ],
    [
      'Accept with protocols',
      make('ClusterNetworkPolicy', alpha2, {
        tier: 'Admin',
        priority: 0,
        subject: everyPod,
        ingress: [
          {
            action: 'Accept',
            from: [everyPod],
            protocols: [
              { tcp: { destinationPort: { number: 80 } } },
              { sctp: { destinationPort: { range: { start: 1, end: 2 } } } },
              { destinationNamedPort: 'http' },
            ],
          },
        ],
      }),
      {
        action: 'allow',
        services: [
          { protocol: 'tcp', ports: [{ first: 80, last: 80 }] },
          { protocol: 'sctp', ports: [{ first: 1, last: 2 }] },
          { namedPorts: ['http'] },
        ],
        source: [{ peers: [allPods] }],
        destination: [],
        path: 'spec.ingress[0]',
      },
    ],
  ])('%s', (_, object, rule) => {
    const { ingress = [], egress = [] } = policyOf(object);
    expect([...ingress, ...egress]).toEqual([rule]);
  });
});

describe('what is no policy', () => {
  it('a namespace has its name as a label', () => {
    const namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'shop', labels: { team: 'a', [name]: 'other' } },
    };
    expect(translateObject(namespace)).toEqual([
      { topic: 'namespace', key: 'shop', value: { name: 'shop', labels: { team: 'a', [name]: 'shop' } } },
    ]);
  });

  it('kinds that policy does not read change nothing', () => {
    const service = make('Service', 'v1', {});
    expect(translateObject(service)).toEqual([]);
    expect(translateRemoval({ apiVersion: 'v1', kind: 'Service', namespace: 'a', name: 'b' })).toEqual([]);
  });
});

it('removal takes away what the object has put there', () => {
  for (const object of [
    networkPolicy({}),
    admin({}),
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } },
  ]) {
    const { apiVersion, kind, metadata } = object;
    const [put] = translateObject(object);
    const removal = translateRemoval({
      apiVersion,
      kind,
      name: metadata.name,
      namespace: metadata.namespace,
    });
    expect(removal).toEqual([{ topic: put?.topic, key: put?.key, value: undefined }]);
  }
});
