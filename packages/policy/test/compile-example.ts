/** Small clusters, and what the tests of the compiler do with them. */
import fc from 'fast-check';
import type { Selector } from '../src/index.js';
import type {
  CompiledDelta,
  CompiledEndpoint,
  CompiledPolicy,
  CompiledState,
  InputChange,
  Peer,
  PodFact,
  Policy,
  PolicyInputs,
  Rule,
} from '../src/index.js';

export const all: Selector = { is: 'all' };
export const label = (key: string, ...values: string[]): Selector => ({ is: 'in', key, values });
export const inNamespace = (...names: string[]): Selector => label('kubernetes.io/metadata.name', ...names);
export const pods = (namespaces: Selector, selected: Selector): Extract<Peer, { is: 'pods' }> => ({
  is: 'pods',
  namespaces,
  pods: selected,
});

export const pod = (key: string, address: string, rest: Partial<PodFact> = {}): InputChange => {
  const [namespace, name] = key.split('/') as [string, string];
  const labels = { app: name };
  const value = { namespace, name, labels, addresses: [address], node: 'node-1', ports: [], ...rest };
  return { topic: 'pod', key, value };
};

export const rule = (rest: Partial<Rule> = {}): Rule => ({
  action: 'allow',
  source: [],
  destination: [],
  path: 'spec.ingress[0]',
  ...rest,
});

export const policy = (
  name: string,
  rest: Partial<Policy> = {},
): InputChange & { readonly topic: 'policy' } => ({
  topic: 'policy',
  key: name,
  value: {
    id: name,
    reference: { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', namespace: 'a', name },
    tier: 'default',
    subjects: [pods(inNamespace('a'), all)],
    ...rest,
  },
});

export const gone = (topic: keyof PolicyInputs, key: string): InputChange => ({
  topic,
  key,
  value: undefined,
});

/** The sum of deltas, as something that renders them keeps it. */
export interface Sum {
  readonly sets: Map<string, { type: string; family: number; members: Set<string> }>;
  readonly policies: Map<string, CompiledPolicy>;
  readonly endpoints: Map<string, CompiledEndpoint>;
}

export const emptySum = (): Sum => ({ sets: new Map(), policies: new Map(), endpoints: new Map() });

/** @throws Error for a delta that adds what is there, or takes away what is not */
export function addDelta(sum: Sum, delta: CompiledDelta): void {
  for (const { set, add, remove } of delta.sets) {
    const known = sum.sets.get(set.id) ?? { type: set.type, family: set.family, members: new Set<string>() };
    sum.sets.set(set.id, known);
    for (const member of remove)
      if (!known.members.delete(member)) throw new Error(`no ${member} in ${set.comment}`);
    for (const member of add) {
      if (known.members.has(member)) throw new Error(`${member} twice in ${set.comment}`);
      known.members.add(member);
    }
  }
  for (const { id } of delta.setsRemoved) if (!sum.sets.delete(id)) throw new Error(`no set ${id}`);
  for (const each of delta.policies) {
    if (JSON.stringify(sum.policies.get(each.id)) === JSON.stringify(each))
      throw new Error(`${each.id} again`);
    sum.policies.set(each.id, each);
  }
  for (const id of delta.policiesRemoved) if (!sum.policies.delete(id)) throw new Error(`no policy ${id}`);
  for (const each of delta.endpoints) sum.endpoints.set(each.key, each);
  for (const key of delta.endpointsRemoved)
    if (!sum.endpoints.delete(key)) throw new Error(`no endpoint ${key}`);
}

/** Something that is equal for equal states, in whichever order they came about. */
export const describeSum = ({ sets, policies, endpoints }: Sum) => ({
  sets: sortByKey(sets, ({ type, family, members }) => ({ type, family, members: [...members].sort() })),
  policies: sortByKey(policies, (each) => each),
  endpoints: sortByKey(endpoints, (each) => each),
});

export const describeState = ({ sets, policies, endpoints }: CompiledState) => ({
  sets: sortByKey(sets, ({ set: { type, family }, members }) => ({
    type,
    family,
    members: [...members].sort(),
  })),
  policies: sortByKey(policies, (each) => each),
  endpoints: sortByKey(endpoints, (each) => each),
});

const sortByKey = <T, U>(map: ReadonlyMap<string, T>, show: (value: T) => U): [string, U][] =>
  [...map].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => [key, show(value)]);

const from = fc.constantFrom;
/** Absent so many times as often as it is there. */
const optional = <T>(arbitrary: fc.Arbitrary<T>, absent = 3): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: absent, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const namespaceName = from('a', 'b', 'c');
const labels = fc.dictionary(from('app', 'team'), from('x', 'y', 'z'), { maxKeys: 2 });
const leaf: fc.Arbitrary<Selector> = fc.oneof(
  fc.constant<Selector>({ is: 'all' }),
  fc.record({
    is: fc.constant('in' as const),
    key: from('app', 'team'),
    values: fc.uniqueArray(from('x', 'y', 'z'), { maxLength: 2 }),
  }),
  fc.record({ is: fc.constant('has' as const), key: from('app', 'team') }),
);
export const selector: fc.Arbitrary<Selector> = fc.oneof(
  { weight: 4, arbitrary: leaf },
  fc.record({ is: fc.constant('not' as const), of: leaf }),
  fc.record({ is: from('and' as const, 'or' as const), of: fc.array(leaf, { maxLength: 2 }) }),
);
const namespaces = fc.oneof(
  namespaceName.map((name) => inNamespace(name)),
  selector,
);
const net = from(
  '10.0.0.0/30',
  '10.0.0.0/31',
  '10.0.0.4/30',
  '10.0.0.2/32',
  '0.0.0.0/0',
  'fd00::/126',
  '::/0',
  'fd00::2/127',
);
const peer: fc.Arbitrary<Peer> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ is: fc.constant('pods' as const), namespaces, pods: selector }) },
  fc.record({
    is: fc.constant('pods' as const),
    namespaces,
    pods: selector,
    serviceAccounts: fc.constant(label('projectcalico.org/serviceaccount', 'robot')),
  }),
  fc.record({ is: fc.constant('net' as const), cidr: net, except: fc.array(net, { maxLength: 2 }) }),
  fc.record({ is: fc.constant('nodes' as const), labels: selector }),
  fc.record({ is: fc.constant('host-endpoints' as const), labels: selector }),
  fc.record({
    is: fc.constant('network-sets' as const),
    labels: selector,
    namespaces: fc.oneof(namespaces, fc.constant('global' as const)),
  }),
  fc.record({
    is: fc.constant('domains' as const),
    names: fc.uniqueArray(from('example.com', 'b.example'), { minLength: 1 }),
  }),
  fc.record({
    is: fc.constant('service' as const),
    namespace: fc.constant('a'),
    name: fc.constant('web'),
    withPorts: fc.boolean(),
  }),
);
const condition = fc.record({ peers: fc.array(peer, { maxLength: 3 }), negate: fc.boolean() });
const range = fc
  .tuple(fc.nat(3), fc.nat(2))
  .map(([first, more]) => ({ first: 80 + first, last: 80 + first + more }));
const ranges = fc.array(range, { minLength: 1, maxLength: 2 });
const protocol = from<'tcp' | 'udp' | number | undefined>('tcp', 'udp', 6, 1, 47, undefined);
const service = fc.record({
  protocol,
  ports: optional(ranges, 1),
  namedPorts: optional(fc.uniqueArray(from('http', 'dns'), { minLength: 1 }), 1),
});
const icmp = fc.record({ type: optional(from(8, 0)), code: optional(fc.constant(0)) });
export const anyRule: fc.Arbitrary<Rule> = fc.record({
  action: from('allow' as const, 'deny' as const, 'pass' as const, 'log' as const),
  family: optional(from(4 as const, 6 as const), 5),
  services: optional(fc.array(service, { maxLength: 3 }), 1),
  notServices: optional(fc.array(service, { maxLength: 1 }), 3),
  sourcePorts: optional(ranges, 6),
  notSourcePorts: optional(ranges, 6),
  icmp: optional(icmp, 8),
  notIcmp: optional(icmp, 8),
  source: fc.array(condition, { maxLength: 2 }),
  destination: fc.array(condition, { maxLength: 2 }),
  path: from('spec.ingress[0]', 'spec.egress[1]'),
});
const rules = optional(fc.array(anyRule, { maxLength: 3 }), 1);
const address = fc
  .tuple(fc.nat(7), fc.boolean())
  .map(([last, six]) => (six ? `fd00::${last === 0 ? '' : last}` : `10.0.0.${last}`));
const addresses = fc.uniqueArray(address, { minLength: 1, maxLength: 2 });
const node = from('node-1', 'node-2');
const ports = fc.array(
  fc.record({
    name: from('http', 'dns'),
    protocol: from('tcp' as const, 'udp' as const),
    port: from(80, 81),
  }),
  { maxLength: 2 },
);

const podChange = fc
  .record({
    namespace: namespaceName,
    name: from('p', 'q', 'r'),
    labels,
    addresses,
    node,
    ports,
    serviceAccount: optional(fc.constant('robot')),
    hostNetwork: optional(fc.constant(true), 8),
  })
  .map((value): InputChange => ({ topic: 'pod', key: `${value.namespace}/${value.name}`, value }));
const policyChange = fc
  .record({
    id: from('p1', 'p2', 'p3', 'p4'),
    tier: from('admin', 'default', 'baseline', 'blue'),
    order: optional(fc.nat(3)),
    subjects: fc.array(
      fc.oneof(
        { weight: 4, arbitrary: fc.record({ is: fc.constant('pods' as const), namespaces, pods: selector }) },
        fc.record({ is: fc.constant('host-endpoints' as const), labels: selector }),
      ),
      { minLength: 1, maxLength: 2 },
    ),
    ingress: rules,
    egress: rules,
    broken: optional(fc.constant('why'), 10),
    hostMode: optional(from('forward' as const, 'untracked' as const), 6),
  })
  .map(({ id, ...rest }): InputChange => policy(id, rest));
const things = fc.oneof(
  fc
    .tuple(namespaceName, labels)
    .map(([name, own]): InputChange => ({ topic: 'namespace', key: name, value: { name, labels: own } })),
  fc
    .record({ name: node, labels, addresses })
    .map((value): InputChange => ({ topic: 'node', key: value.name, value })),
  fc
    .record({
      name: from('h1', 'h2'),
      labels,
      node,
      expectedIPs: addresses,
      profiles: fc.subarray(['kns.a', 'own']),
    })
    .map((value): InputChange => ({ topic: 'host-endpoint', key: value.name, value })),
  fc
    .record({
      namespace: optional(namespaceName),
      name: from('s1', 's2'),
      labels,
      nets: fc.array(net, { maxLength: 3 }),
    })
    .map((value): InputChange => ({
      topic: 'network-set',
      key: value.namespace === undefined ? value.name : `${value.namespace}/${value.name}`,
      value,
    })),
  fc
    .record({ name: from('example.com', 'b.example'), addresses })
    .map((value): InputChange => ({ topic: 'domain', key: value.name, value })),
  fc
    .record({
      namespace: fc.constant('a'),
      name: fc.constant('web'),
      endpoints: fc.array(fc.record({ addresses, ports }), { maxLength: 2 }),
    })
    .map((value): InputChange => ({ topic: 'service', key: 'a/web', value })),
  fc
    .record({ name: from('blue'), order: fc.nat(2_000_000), end: from('deny' as const, 'pass' as const) })
    .map((value): InputChange => ({ topic: 'tier', key: value.name, value })),
  fc
    .record({
      name: from('kns.a', 'ksa.b.robot', 'own'),
      labelsToApply: labels,
      ingress: fc.array(anyRule, { maxLength: 1 }),
      egress: fc.array(anyRule, { maxLength: 1 }),
    })
    .map((value): InputChange => ({
      topic: 'profile',
      key: value.name,
      value: {
        ...value,
        reference: { apiVersion: 'projectcalico.org/v3', kind: 'Profile', name: value.name },
      },
    })),
);
const change: fc.Arbitrary<InputChange> = fc
  .tuple(
    fc.oneof(
      { weight: 3, arbitrary: podChange },
      { weight: 3, arbitrary: policyChange },
      { weight: 2, arbitrary: things },
    ),
    fc.nat(5),
  )
  .map(([each, gives]) => (gives === 0 ? { ...each, value: undefined } : each));

/** Calls of `apply`, one after the other. */
export const history: fc.Arbitrary<InputChange[][]> = fc.array(
  fc.array(change, { minLength: 1, maxLength: 6 }),
  { minLength: 1, maxLength: 12 },
);

/** Values that remain after all of the changes, without those that were removed. */
export function lastValues(calls: readonly (readonly InputChange[])[]): InputChange[] {
  const last = new Map<string, InputChange>();
  for (const each of calls.flat()) last.set(`${each.topic} ${each.key}`, each);
  return [...last.values()].filter(({ value }) => value !== undefined);
}
