/** Calico's kinds. */
import type { AnyObject } from '@podwire/objects';
import fc from 'fast-check';
import { calico } from '../cases/case.js';
import { arbitraryCalicoSelector } from './selectors.js';
import { arbitraryNet, type Vocabulary } from './vocabulary.js';

const optional = <T>(arbitrary: fc.Arbitrary<T>, freq = 3): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq });

/** Mostly absent: everything in a rule must hold, and rules that never match decide nothing. */
const seldom = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const prune = <T extends object>(object: T): T =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;

/** Tiers of their own that generated policies may be in, beside `default`. */
export const tierNames = ['early', 'late'] as const;

export const arbitraryTiers = (): fc.Arbitrary<AnyObject[]> =>
  fc.tuple(...tierNames.map(arbitraryTier)).map((tiers) => tiers);

const arbitraryTier = (name: string): fc.Arbitrary<AnyObject> =>
  fc
    .record({ order: arbitraryOrder(), defaultAction: fc.constantFrom(undefined, 'Deny', 'Pass') })
    .map((spec) => calico('Tier', name, prune(spec)));

const arbitraryOrder = (): fc.Arbitrary<number | undefined> =>
  fc.oneof(fc.constantFrom(undefined, 1, 1000, 2_000_000), fc.nat({ max: 20 }));

export function arbitraryCalicoPolicy(vocabulary: Vocabulary, name: string): fc.Arbitrary<AnyObject> {
  const spec = fc.record({
    order: arbitraryOrder(),
    selector: optional(arbitraryCalicoSelector(vocabulary.endpointLabels)),
    serviceAccountSelector: seldom(arbitraryAccounts(vocabulary)),
    types: fc.constantFrom(undefined, ['Ingress'], ['Egress'], ['Ingress', 'Egress']),
    ingress: optional(fc.array(arbitraryRule(vocabulary, 'ingress'), { maxLength: 3 })),
    egress: optional(fc.array(arbitraryRule(vocabulary, 'egress'), { maxLength: 3 })),
  });
  const namespaced = fc
    .tuple(arbitraryPlace(), fc.constantFrom(...vocabulary.namespaces), spec)
    .map(([place, namespace, each]) =>
      calico('NetworkPolicy', `${place}.${name}`, prune({ tier: place, ...each }), namespace),
    );
  const global = fc
    .tuple(
      arbitraryPlace(),
      optional(arbitraryCalicoSelector(vocabulary.namespaceLabels)),
      spec,
      fc.oneof(
        { weight: 6, arbitrary: fc.constant({}) },
        { weight: 1, arbitrary: fc.constantFrom(...hostModes) },
      ),
    )
    .map(([place, namespaceSelector, each, mode]) =>
      calico(
        'GlobalNetworkPolicy',
        `${place}.${name}`,
        prune({ tier: place, namespaceSelector, ...each, ...onlyIngress(mode, each) }),
      ),
    );
  return fc.oneof(namespaced, global);
}

const hostModes: readonly { readonly [field: string]: true }[] = [
  { applyOnForward: true },
  { applyOnForward: true, preDNAT: true },
  { applyOnForward: true, doNotTrack: true },
];

/** Before translation there is only what comes in. */
const onlyIngress = (mode: { readonly [field: string]: true }, { ingress }: { ingress?: unknown }): object =>
  mode['preDNAT'] === true ? { ...mode, types: ['Ingress'], ingress: ingress ?? [], egress: [] } : mode;

/** By name: nothing else is known of them. */
const arbitraryAccounts = ({ serviceAccounts }: Vocabulary): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom('==', '!='), fc.constantFrom(...serviceAccounts))
    .map(([operator, name]) => `projectcalico.org/name ${operator} '${name}'`);

const arbitraryPlace = (): fc.Arbitrary<string> => fc.constantFrom('default', 'default', ...tierNames);

const protocols = ['TCP', 'TCP', 'UDP', 'SCTP'] as const;

/** Ports need a protocol that has them, ICMP types one that has types. */
function arbitraryRule(
  vocabulary: Vocabulary,
  direction: 'ingress' | 'egress',
  isProfile = false,
): fc.Arbitrary<object> {
  const actions = ['Allow', 'Allow', 'Allow', 'Deny', 'Deny', 'Log', ...(isProfile ? [] : ['Pass'])];
  const action = fc.constantFrom(...actions);
  const entities = (
    withPorts: boolean,
  ): { source: fc.Arbitrary<object | undefined>; destination: fc.Arbitrary<object | undefined> } => ({
    source: optional(arbitraryEntity(vocabulary, withPorts, 'source', direction)),
    destination: optional(arbitraryEntity(vocabulary, withPorts, 'destination', direction)),
  });
  const withPorts = fc.record({
    action,
    ipVersion: seldom(fc.constantFrom(4, 6)),
    protocol: fc.constantFrom<string | number>(...protocols, 6),
    ...entities(true),
  });
  const plain = fc.record({
    action,
    ipVersion: seldom(fc.constantFrom(4, 6)),
    notProtocol: seldom(fc.constantFrom<string | number>(...protocols, 17)),
    ...entities(false),
  });
  return fc.oneof(
    { weight: 4, arbitrary: withPorts.map(prune) },
    { weight: 4, arbitrary: plain.map(prune) },
    { weight: 1, arbitrary: arbitraryIcmpRule(action) },
  );
}

function arbitraryIcmpRule(action: fc.Arbitrary<string>): fc.Arbitrary<object> {
  const fields = fc.oneof(
    fc.record({ type: fc.constantFrom(8, 128) }),
    fc.record({ type: fc.constantFrom(8, 128), code: fc.constantFrom(0, 1) }),
  );
  const protocol = fc.constantFrom('ICMP', 'ICMPv6');
  return fc.record({ action, protocol, icmp: optional(fields), notICMP: seldom(fields) }).map(prune);
}

function arbitraryEntity(
  vocabulary: Vocabulary,
  withPorts: boolean,
  side: 'source' | 'destination',
  direction: 'ingress' | 'egress',
): fc.Arbitrary<object> {
  const ports = withPorts ? arbitraryPorts(vocabulary, side) : {};
  const selected = fc.record({
    nets: seldom(fc.uniqueArray(arbitraryNet(vocabulary), { minLength: 1, maxLength: 2 })),
    notNets: seldom(fc.uniqueArray(arbitraryNet(vocabulary), { minLength: 1, maxLength: 2 })),
    selector: optional(arbitraryCalicoSelector(vocabulary.endpointLabels), 2),
    notSelector: seldom(arbitraryCalicoSelector(vocabulary.endpointLabels)),
    namespaceSelector: seldom(
      fc.oneof(arbitraryCalicoSelector(vocabulary.namespaceLabels), fc.constantFrom('global()', '!all()')),
    ),
    serviceAccounts: seldom(
      fc.subarray([...vocabulary.serviceAccounts], { minLength: 1 }).map((names) => ({ names })),
    ),
    ...ports,
  });
  const mayNameService =
    !withPorts && (side === 'source') === (direction === 'ingress') && vocabulary.services.length > 0;
  if (!mayNameService) return selected.map(prune);
  const service = fc.constantFrom(...vocabulary.services).map((services) => ({ services }));
  return fc.oneof({ weight: 4, arbitrary: selected.map(prune) }, { weight: 1, arbitrary: service });
}

function arbitraryPorts(
  { portNumbers, portNames }: Vocabulary,
  side: 'source' | 'destination',
): Record<'ports' | 'notPorts', fc.Arbitrary<(string | number)[] | undefined>> {
  const number = side === 'source' ? fc.constantFrom(40_000, 40_001) : fc.constantFrom(...portNumbers);
  const port = fc.oneof(
    { weight: 3, arbitrary: number },
    { weight: 1, arbitrary: number.map((first) => `${first}:${first + 2}`) },
    { weight: 1, arbitrary: side === 'source' ? number : fc.constantFrom(...portNames) },
  );
  const list = fc.uniqueArray(port, { minLength: 1, maxLength: 2 });
  return side === 'source'
    ? { ports: seldom(list), notPorts: seldom(list) }
    : { ports: optional(list), notPorts: seldom(list) };
}

/** Prefixes with labels, of a namespace or of none. */
export function arbitraryNetworkSet(vocabulary: Vocabulary, name: string): fc.Arbitrary<AnyObject> {
  const labels = arbitraryLabel(vocabulary);
  const nets = fc.uniqueArray(arbitraryNet(vocabulary), { minLength: 1, maxLength: 3 });
  const namespace = fc.constantFrom(undefined, ...vocabulary.namespaces);
  return fc.tuple(namespace, labels, nets).map(([place, chosen, list]) => ({
    ...calico(place === undefined ? 'GlobalNetworkSet' : 'NetworkSet', name, { nets: list }, place),
    metadata: { name, labels: chosen, ...(place !== undefined && { namespace: place }) },
  }));
}

/** A profile of one of the namespaces, or of a service account there. */
export const arbitraryProfile = (vocabulary: Vocabulary): fc.Arbitrary<AnyObject> =>
  fc
    .tuple(
      fc.constantFrom(...vocabulary.namespaces),
      fc.constantFrom(undefined, ...vocabulary.serviceAccounts),
      fc.record({
        ingress: fc.array(arbitraryRule(vocabulary, 'ingress', true), { maxLength: 2 }),
        egress: fc.array(arbitraryRule(vocabulary, 'egress', true), { maxLength: 2 }),
        labelsToApply: seldom(arbitraryLabel(vocabulary)),
      }),
    )
    .map(([namespace, account, spec]) =>
      calico(
        'Profile',
        account === undefined ? `kns.${namespace}` : `ksa.${namespace}.${account}`,
        prune(spec),
      ),
    );

const arbitraryLabel = ({ podLabels: { keys, values } }: Vocabulary): fc.Arbitrary<Record<string, string>> =>
  fc.constantFrom(...keys).chain((key) => fc.constantFrom(...values(key)).map((value) => ({ [key]: value })));

/** All addresses of one node as a host endpoint. */
export function arbitraryHostEndpoint(
  vocabulary: Vocabulary,
  node: { readonly name: string; readonly addresses: readonly string[] },
): fc.Arbitrary<AnyObject> {
  const labels = arbitraryLabel(vocabulary);
  const spec = { node: node.name, interfaceName: '*', expectedIPs: node.addresses };
  return labels.map((chosen) => ({
    ...calico('HostEndpoint', node.name, spec),
    metadata: { name: node.name, labels: chosen },
  }));
}
