/** NetworkPolicies and the kinds of network-policy-api. */
import type { AnyObject } from '@podwire/objects';
import fc from 'fast-check';
import { makeObject } from '../cases/case.js';
import { arbitraryLabelSelector } from './selectors.js';
import { arbitraryNet, arbitraryPart, type Vocabulary } from './vocabulary.js';

const upper = fc.constantFrom('TCP', 'TCP', 'UDP', 'SCTP');

/** A list that may be absent, too: for many fields that is not the same. */
const few = <T>(arbitrary: fc.Arbitrary<T>, minLength = 0): fc.Arbitrary<T[]> =>
  fc.array(arbitrary, { minLength, maxLength: 2 });

const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 3 });

/** Without properties that are undefined: objects come from YAML. */
const prune = <T extends object>(object: T): T =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;

export function arbitraryNetworkPolicy(vocabulary: Vocabulary, name: string): fc.Arbitrary<AnyObject> {
  const port = arbitraryPort(vocabulary);
  const peer = arbitraryPeer(vocabulary);
  const rule = (side: 'from' | 'to'): fc.Arbitrary<object> =>
    fc.record({ ports: optional(few(port)), [side]: optional(few(peer)) }).map(prune);
  const types = fc.constantFrom(undefined, undefined, ['Ingress'], ['Egress'], ['Ingress', 'Egress']);
  const spec = fc.record({
    podSelector: arbitraryLabelSelector(vocabulary.podLabels),
    policyTypes: types,
    ingress: optional(few(rule('from'))),
    egress: optional(few(rule('to'))),
  });
  return fc
    .tuple(fc.constantFrom(...vocabulary.namespaces), spec)
    .map(([namespace, each]) =>
      makeObject('networking.k8s.io/v1', 'NetworkPolicy', name, prune(each), namespace),
    );
}

function arbitraryPort({ portNumbers, portNames }: Vocabulary): fc.Arbitrary<object> {
  const number = fc.constantFrom(...portNumbers);
  return fc.oneof(
    fc.record({ protocol: optional(upper), port: number }).map(prune),
    fc.record({ protocol: upper, port: fc.constantFrom(...portNames) }),
    fc.record({ protocol: upper }),
    fc
      .record({ protocol: upper, port: number, more: fc.nat({ max: 3 }) })
      .map(({ protocol, port, more }) => ({
        protocol,
        port,
        endPort: Math.min(port + more, 65_535),
      })),
  );
}

function arbitraryPeer(vocabulary: Vocabulary): fc.Arbitrary<object> {
  const podSelector = arbitraryLabelSelector(vocabulary.podLabels);
  const namespaceSelector = arbitraryLabelSelector(vocabulary.namespaceLabels);
  return fc.oneof(
    { weight: 3, arbitrary: fc.record({ podSelector }) },
    { weight: 3, arbitrary: fc.record({ namespaceSelector }) },
    { weight: 3, arbitrary: fc.record({ podSelector, namespaceSelector }) },
    { weight: 3, arbitrary: arbitraryBlock(vocabulary).map((ipBlock) => ({ ipBlock })) },
  );
}

const arbitraryBlock = (vocabulary: Vocabulary): fc.Arbitrary<object> =>
  arbitraryNet(vocabulary).chain((cidr) => {
    const part = arbitraryPart(vocabulary, cidr);
    if (part === undefined) return fc.constant({ cidr });
    return optional(few(part)).map((except) => prune({ cidr, except }));
  });

const arbitrarySelection = (vocabulary: Vocabulary): fc.Arbitrary<object> => {
  const namespaceSelector = arbitraryLabelSelector(vocabulary.namespaceLabels);
  const podSelector = arbitraryLabelSelector(vocabulary.podLabels);
  return fc.oneof(
    namespaceSelector.map((namespaces) => ({ namespaces })),
    fc.record({ namespaceSelector, podSelector }).map((pods) => ({ pods })),
  );
};

/** Peers that are no pods allow no named ports beside them. */
const arbitraryOutside = (vocabulary: Vocabulary): fc.Arbitrary<object> =>
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .uniqueArray(arbitraryNet(vocabulary), { minLength: 1, maxLength: 2 })
        .map((networks) => ({ networks })),
    },
    { weight: 1, arbitrary: arbitraryLabelSelector(vocabulary.nodeLabels).map((nodes) => ({ nodes })) },
  );

/** Rules as v1alpha1 and v1alpha2 have them, which differ in actions and ports. */
interface Dialect {
  readonly actions: readonly string[];
  readonly portsField: 'ports' | 'protocols';
  readonly numbered: fc.Arbitrary<object>;
  readonly named: fc.Arbitrary<object>;
}

function arbitraryRules(vocabulary: Vocabulary, dialect: Dialect): fc.Arbitrary<object> {
  const selection = arbitrarySelection(vocabulary);
  const action = fc.constantFrom(...dialect.actions);
  const ports = optional(
    few(fc.oneof({ weight: 3, arbitrary: dialect.numbered }, { weight: 1, arbitrary: dialect.named }), 1),
  );
  const make = (
    side: 'from' | 'to',
    peers: fc.Arbitrary<object[]>,
    list: fc.Arbitrary<object[] | undefined>,
  ): fc.Arbitrary<object> => fc.record({ action, [side]: peers, [dialect.portsField]: list }).map(prune);
  const outside = few(fc.oneof(selection, arbitraryOutside(vocabulary)), 1);
  return fc
    .record({
      ingress: optional(few(make('from', few(selection, 1), ports))),
      egress: optional(
        few(
          fc.oneof(
            make('to', few(selection, 1), ports),
            make('to', outside, optional(few(dialect.numbered, 1))),
          ),
        ),
      ),
    })
    .map(prune);
}

function oldDialect({ portNumbers, portNames }: Vocabulary, actions: readonly string[]): Dialect {
  const port = fc.constantFrom(...portNumbers);
  const range = fc
    .record({ protocol: upper, start: port, more: fc.nat({ max: 3 }) })
    .map(({ protocol, start, more }) => ({
      portRange: { protocol, start, end: start + more + 1 },
    }));
  const portNumber = fc.record({ protocol: upper, port });
  return {
    actions,
    portsField: 'ports',
    numbered: fc.oneof(
      portNumber.map((number) => ({ portNumber: number })),
      range,
    ),
    named: fc.constantFrom(...portNames).map((namedPort) => ({ namedPort })),
  };
}

function newDialect({ portNumbers, portNames }: Vocabulary): Dialect {
  const port = fc.constantFrom(...portNumbers);
  const destinationPort = fc.oneof(
    port.map((number) => ({ number })),
    fc.tuple(port, fc.nat({ max: 3 })).map(([start, more]) => ({ range: { start, end: start + more + 1 } })),
  );
  return {
    actions: ['Accept', 'Deny', 'Deny', 'Pass'],
    portsField: 'protocols',
    numbered: fc
      .tuple(fc.constantFrom('tcp', 'udp', 'sctp'), destinationPort)
      .map(([protocol, each]) => ({ [protocol]: { destinationPort: each } })),
    named: fc.constantFrom(...portNames).map((destinationNamedPort) => ({ destinationNamedPort })),
  };
}

const priority = fc.nat({ max: 9 });

export const arbitraryAdminPolicy = (vocabulary: Vocabulary, name: string): fc.Arbitrary<AnyObject> =>
  fc
    .tuple(
      priority,
      arbitrarySelection(vocabulary),
      arbitraryRules(vocabulary, oldDialect(vocabulary, ['Allow', 'Deny', 'Deny', 'Pass'])),
    )
    .map(([order, subject, rules]) =>
      makeObject('policy.networking.k8s.io/v1alpha1', 'AdminNetworkPolicy', name, {
        priority: order,
        subject,
        ...rules,
      }),
    );

export const arbitraryBaselinePolicy = (vocabulary: Vocabulary): fc.Arbitrary<AnyObject> =>
  fc
    .tuple(
      arbitrarySelection(vocabulary),
      arbitraryRules(vocabulary, oldDialect(vocabulary, ['Allow', 'Deny', 'Deny'])),
    )
    .map(([subject, rules]) =>
      makeObject('policy.networking.k8s.io/v1alpha1', 'BaselineAdminNetworkPolicy', 'default', {
        subject,
        ...rules,
      }),
    );

export const arbitraryClusterPolicy = (vocabulary: Vocabulary, name: string): fc.Arbitrary<AnyObject> =>
  fc
    .tuple(
      fc.constantFrom('Admin', 'Baseline'),
      priority,
      arbitrarySelection(vocabulary),
      arbitraryRules(vocabulary, newDialect(vocabulary)),
    )
    .map(([tier, order, subject, rules]) =>
      makeObject('policy.networking.k8s.io/v1alpha2', 'ClusterNetworkPolicy', name, {
        tier,
        priority: order,
        subject,
        ...rules,
      }),
    );
