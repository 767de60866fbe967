/** Objects that cannot be read close what they may have selected; services are put together from slices. */
import { describe, expect, it } from 'vitest';
import type { AnyObject, ObjectReference } from '@podwire/objects';
import {
  formatSelector,
  type InputChange,
  type Policy,
  translateObject,
  translateUnreadable,
  Translator,
} from '../src/index.js';
import { describePeer, type Fields, onlyChange, readObject } from './support/objects.js';

function close(apiVersion: string, kind: string, content: unknown, namespace?: string): Policy {
  const reference: ObjectReference = {
    apiVersion,
    kind,
    name: 'a',
    ...(namespace !== undefined && { namespace }),
  };
  const problems = [{ file: 'a.yaml', line: 3, field: 'spec.x', message: 'unknown field' }];
  const { topic, value } = onlyChange(translateUnreadable({ reference, revision: 1, problems, content }));
  if (topic !== 'policy' || value === undefined) throw new Error(`no policy but ${topic}`);
  return value;
}

const describeClosing = ({ tier, subjects, ingress, egress }: Policy): string =>
  [
    tier,
    ...subjects.map((each) =>
      each.is === 'pods' ? describePeer(each) : `hosts ${formatSelector(each.labels)}`,
    ),
    ...(ingress === undefined ? [] : ['ingress']),
    ...(egress === undefined ? [] : ['egress']),
  ].join('; ');

const core = 'networking.k8s.io/v1';
const admin = 'policy.networking.k8s.io/v1alpha1';
const calico = 'projectcalico.org/v3';
const own = "kubernetes.io/metadata.name == 'shop'";

describe('a policy that cannot be read closes', () => {
  it.each<[string, [string, string, unknown, string?], string]>([
    [
      'its whole namespace where nothing can be seen',
      [core, 'NetworkPolicy', undefined, 'shop'],
      `default; pods all() in ${own}; ingress; egress`,
    ],
    [
      'the pods that it selects, where it says so',
      [
        core,
        'NetworkPolicy',
        { spec: { podSelector: { matchLabels: { app: 'web' } }, policyTypes: ['Ingress'], x: 1 } },
        'shop',
      ],
      `default; pods app == 'web' in ${own}; ingress`,
    ],
    [
      'all pods, where the selector is wrong',
      [core, 'NetworkPolicy', { spec: { podSelector: { matchLabel: {} }, policyTypes: ['Egress'] } }, 'shop'],
      `default; pods all() in ${own}; egress`,
    ],
    [
      'both directions, where types are wrong',
      [core, 'NetworkPolicy', { spec: { podSelector: {}, policyTypes: ['ingress'] } }, 'shop'],
      `default; pods all() in ${own}; ingress; egress`,
    ],
    [
      'every pod, for a policy of an administrator',
      [admin, 'AdminNetworkPolicy', { spec: [] }],
      'admin; pods all() in all(); ingress; egress',
    ],
    [
      'its subject',
      [
        admin,
        'BaselineAdminNetworkPolicy',
        { spec: { subject: { namespaces: { matchLabels: { team: 'a' } } }, egress: 'x' } },
      ],
      "baseline; pods all() in team == 'a'; egress",
    ],
    [
      'its tier',
      ['policy.networking.k8s.io/v1alpha2', 'ClusterNetworkPolicy', { spec: { tier: 'Baseline' } }],
      'baseline; pods all() in all(); ingress; egress',
    ],
    [
      'what a selector of Calico selects',
      [
        calico,
        'NetworkPolicy',
        { spec: { tier: 'security', selector: "app == 'web'", types: ['Egress'] } },
        'shop',
      ],
      `security; pods app == 'web' in ${own}; egress`,
    ],
    [
      'everything, where the selector is wrong',
      [calico, 'GlobalNetworkPolicy', { spec: { selector: 'app = 1' } }],
      'default; pods all() in all(); hosts all(); ingress; egress',
    ],
    [
      'host endpoints alone, where it was for them',
      [calico, 'GlobalNetworkPolicy', { spec: { doNotTrack: true, types: ['Ingress'] } }],
      'default; hosts all(); ingress',
    ],
  ])('%s', (_, [apiVersion, kind, content, namespace], closing) => {
    const policy = close(apiVersion, kind, content, namespace);
    expect(describeClosing(policy)).toBe(closing);
    expect(policy.broken).toBe('spec.x: unknown field');
    for (const rules of [policy.ingress, policy.egress])
      if (rules !== undefined)
        expect(rules).toEqual([{ action: 'deny', source: [], destination: [], path: 'spec' }]);
  });

  it('in front of the other policies of its tier', () => {
    expect(close(core, 'NetworkPolicy', {}, 'shop').order).toBe(Number.MIN_SAFE_INTEGER);
  });

  it('when it has come past the schema, too', () => {
    const object = {
      apiVersion: calico,
      kind: 'NetworkPolicy',
      metadata: { name: 'a', namespace: 'shop' },
      spec: { tier: 'default', selector: 'any()', types: ['Ingress'] },
    } as AnyObject;
    const { value } = onlyChange(translateObject(object, { file: 'a.yaml', line: 3 }));
    expect(describeClosing(value as Policy)).toBe(`default; pods all() in ${own}; ingress`);
    expect((value as Policy).broken).toContain('spec.selector: is no selector');
  });
});

describe('what is no policy and cannot be read', () => {
  const unreadable = (kind: string, content?: unknown) =>
    translateUnreadable({
      reference: { apiVersion: calico, kind, name: 'a' },
      revision: 1,
      problems: [],
      content,
    });

  it('a tier denies at its end, where it was', () => {
    expect(unreadable('Tier', { spec: { order: 5, defaultAction: 'pass' } })).toEqual([
      { topic: 'tier', key: 'a', value: { name: 'a', order: 5, end: 'deny' } },
    ]);
  });

  it('a profile allows nothing', () => {
    expect(unreadable('Profile')).toMatchObject([
      { topic: 'profile', key: 'a', value: { ingress: [], egress: [] } },
    ]);
  });

  it('all else changes nothing', () => {
    expect(unreadable('NetworkSet')).toEqual([]);
    expect(
      translateUnreadable({
        reference: { apiVersion: 'v1', kind: 'Namespace', name: 'a' },
        revision: 1,
        problems: [],
      }),
    ).toEqual([]);
  });
});

describe('services', () => {
  const slice = (
    name: string,
    service: string | undefined,
    addresses: readonly string[],
    ports: Fields[] = [{ port: 80 }],
  ) => ({
    object: {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name,
        namespace: 'shop',
        ...(service !== undefined && { labels: { 'kubernetes.io/service-name': service } }),
      },
      addressType: 'IPv4',
      endpoints: addresses.map((address) => ({ addresses: [address] })),
      ports: ports.map((port) => ({ protocol: 'TCP', ...port })),
    } as AnyObject,
  });
  const fact = (...addresses: string[]) => ({
    namespace: 'shop',
    name: 'web',
    endpoints: addresses.map((address) => ({ addresses: [address], ports: [{ protocol: 'tcp', port: 80 }] })),
  });
  const reference = (name: string) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    namespace: 'shop',
    name,
  });

  it('are what their slices have, whichever comes first', () => {
    const translator = new Translator();
    expect(translator.put(slice('b', 'web', ['10.0.0.2']))).toEqual([
      { topic: 'service', key: 'shop/web', value: fact('10.0.0.2') },
    ]);
    expect(translator.put(slice('a', 'web', ['10.0.0.1']))).toEqual([
      { topic: 'service', key: 'shop/web', value: fact('10.0.0.1', '10.0.0.2') },
    ]);
    expect(translator.delete(reference('b'))).toEqual([
      { topic: 'service', key: 'shop/web', value: fact('10.0.0.1') },
    ]);
    expect(translator.delete(reference('a'))).toEqual([
      { topic: 'service', key: 'shop/web', value: undefined },
    ]);
    expect(translator.delete(reference('a'))).toEqual([]);
  });

  it('lose a slice that goes to another one, or to none', () => {
    const translator = new Translator();
    translator.put(slice('a', 'web', ['10.0.0.1']));
    expect(translator.put(slice('a', 'db', ['10.0.0.1']))).toEqual([
      { topic: 'service', key: 'shop/web', value: undefined },
      { topic: 'service', key: 'shop/db', value: { ...fact('10.0.0.1'), name: 'db' } },
    ]);
    expect(translator.put(slice('a', undefined, ['10.0.0.1']))).toEqual([
      { topic: 'service', key: 'shop/db', value: undefined },
    ]);
    expect(translator.put(slice('c', undefined, []))).toEqual([]);
  });

  it('have no port where a slice names no number', () => {
    const [change] = new Translator().put(
      slice('a', 'web', ['10.0.0.1'], [{}, { port: 53, protocol: 'UDP' }]),
    );
    expect(change?.value).toMatchObject({ endpoints: [{ ports: [{ protocol: 'udp', port: 53 }] }] });
  });

  const service = (spec: Fields) => ({
    object: readObject({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'shop' },
      spec,
    }),
  });
  const pod = (name: string, labels: Record<string, string>, address: string): InputChange => ({
    topic: 'pod',
    key: `shop/${name}`,
    value: {
      namespace: 'shop',
      name,
      labels,
      addresses: [address],
      node: 'n1',
      ports: [{ name: 'http', protocol: 'tcp', port: 8080 }],
    },
  });
  const selecting = service({
    selector: { app: 'web' },
    ports: [
      { port: 80, targetPort: 'http' },
      { port: 53, protocol: 'UDP' },
    ],
  });
  const selected = (...addresses: string[]) => [
    {
      topic: 'service',
      key: 'shop/web',
      value: {
        namespace: 'shop',
        name: 'web',
        endpoints: addresses.map((address) => ({
          addresses: [address],
          ports: [
            { protocol: 'tcp', port: 8080 },
            { protocol: 'udp', port: 53 },
          ],
        })),
      },
    },
  ];

  it('without slices are the pods that they select', () => {
    const translator = new Translator();
    expect(translator.followPods([pod('b', { app: 'web' }, '10.0.0.2')])).toEqual([]);
    expect(translator.put(selecting)).toEqual(selected('10.0.0.2'));
    expect(translator.followPods([pod('a', { app: 'web' }, '10.0.0.1')])).toEqual(
      selected('10.0.0.1', '10.0.0.2'),
    );
    expect(translator.followPods([pod('c', { app: 'db' }, '10.0.0.3')])).toEqual([]);
    expect(translator.followPods([pod('b', { app: 'db' }, '10.0.0.2')])).toEqual(selected('10.0.0.1'));
    expect(translator.followPods([{ topic: 'pod', key: 'shop/a', value: undefined }])).toEqual(selected());
    const gone = { apiVersion: 'v1', kind: 'Service', namespace: 'shop', name: 'web' };
    expect(translator.delete(gone)).toEqual([{ topic: 'service', key: 'shop/web', value: undefined }]);
    expect(translator.delete(gone)).toEqual([]);
  });

  it('with slices are what these say, until the last has gone', () => {
    const translator = new Translator();
    translator.followPods([pod('a', { app: 'web' }, '10.0.0.1')]);
    translator.put(selecting);
    expect(translator.put(slice('a', 'web', ['10.0.0.9']))).toEqual([
      { topic: 'service', key: 'shop/web', value: fact('10.0.0.9') },
    ]);
    expect(translator.followPods([pod('b', { app: 'web' }, '10.0.0.2')])).toEqual([]);
    expect(translator.delete(reference('a'))).toEqual(selected('10.0.0.1', '10.0.0.2'));
  });

  it('without a selector have no pods', () => {
    const translator = new Translator();
    expect(translator.put(service({}))).toEqual([]);
    translator.put(selecting);
    expect(translator.put(service({ ports: [{ port: 80 }] }))).toEqual([
      { topic: 'service', key: 'shop/web', value: undefined },
    ]);
    expect(translator.followPods([pod('a', { app: 'web' }, '10.0.0.1')])).toEqual([]);
  });
});

describe('a network set that was never read', () => {
  const lost = (labels: unknown, namespace?: string) => ({
    reference: {
      apiVersion: calico,
      kind: namespace === undefined ? 'GlobalNetworkSet' : 'NetworkSet',
      name: 'bad',
      ...(namespace !== undefined && { namespace }),
    },
    revision: 1,
    problems: [{ file: 'a.yaml', line: 3, field: 'spec.net', message: 'unknown field' }],
    content: { metadata: { labels }, spec: { net: [] } },
  });
  const denying = (kind: string, source: Fields, namespace?: string): AnyObject =>
    readObject({
      ...{ apiVersion: calico, kind },
      metadata: { name: 'block', ...(namespace !== undefined && { namespace }) },
      spec: {
        selector: 'all()',
        types: ['Ingress'],
        ingress: [{ action: 'Deny', source }, { action: 'Allow' }],
      },
    });
  const brokenOf = (changes: readonly InputChange[]): (string | undefined)[] =>
    changes.flatMap(({ topic, value }) => (topic === 'policy' && value !== undefined ? [value.broken] : []));
  const globally = { selector: "list == 'bad'", namespaceSelector: 'global()' };

  it.each<[string, AnyObject, ReturnType<typeof lost>, boolean]>([
    ['its labels', denying('GlobalNetworkPolicy', globally), lost({ list: 'bad' }), true],
    ['other labels', denying('GlobalNetworkPolicy', globally), lost({ list: 'good' }), false],
    ['labels that cannot be read', denying('GlobalNetworkPolicy', globally), lost(['x']), true],
    [
      'one of another namespace',
      denying('NetworkPolicy', { selector: 'all()' }, 'shop'),
      lost({}, 'db'),
      false,
    ],
    ['one of its namespace', denying('NetworkPolicy', { selector: 'all()' }, 'shop'), lost({}, 'shop'), true],
  ])('closes a policy that means it: %s', (_, policy, set, isClosed) => {
    const words = `${set.reference.kind} ${set.reference.namespace === undefined ? '' : 'shop/'}bad cannot be read`;
    const expected = isClosed ? [words] : [undefined];
    const late = new Translator();
    late.put({ object: policy });
    expect(brokenOf(late.unreadable(set))).toEqual(expected);
    const early = new Translator();
    early.unreadable(set);
    expect(brokenOf(early.put({ object: policy }))).toEqual(expected);
  });

  it('opens it again when it can be read, or has gone', () => {
    const policy = denying('GlobalNetworkPolicy', globally);
    const translator = new Translator();
    translator.put({ object: policy });
    const set = lost({ list: 'bad' });
    translator.unreadable(set);
    expect(brokenOf(translator.delete(set.reference))).toEqual([undefined]);
    translator.unreadable(set);
    const good = readObject({
      ...{ apiVersion: calico, kind: 'GlobalNetworkSet', metadata: { name: 'bad' } },
      spec: { nets: ['10.0.0.0/8'] },
    });
    expect(brokenOf(translator.put({ object: good }))).toEqual([undefined]);
    translator.unreadable(set);
    translator.delete(policyReference);
    expect(brokenOf(translator.delete(set.reference))).toEqual([]);
  });

  const policyReference = { apiVersion: calico, kind: 'GlobalNetworkPolicy', name: 'block' };
});
