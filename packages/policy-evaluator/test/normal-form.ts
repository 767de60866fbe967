/**
 * The normal form, decided as its types say: naive loops like the evaluator's, so that the translation can be tested without the
 * compiler. Where this and the evaluator differ, the translation is wrong or one of them is.
 */
import { containsAddress, parseAddress, parsePrefix } from '@podwire/addresses';
import {
  builtInTiers,
  type IcmpMatch,
  type Labels,
  matchSelector,
  type Peer,
  type PeerCondition,
  type PodFact,
  type Policy,
  type PolicyInputs,
  type PortRange,
  type Rule,
  type Selector,
  type Service,
  type Subject,
  type Tier,
} from '@podwire/policy';

type Topics = { readonly [T in keyof PolicyInputs]: ReadonlyMap<string, PolicyInputs[T]> };

export interface NormalSide {
  readonly address: string;
  readonly port?: number | undefined;
}

export interface NormalPacket {
  readonly source: NormalSide;
  readonly destination: NormalSide;
  readonly protocol: number;
  readonly icmp?: { readonly type: number; readonly code: number } | undefined;
}

const numbers = { tcp: 6, udp: 17, sctp: 132 } as const;
type Direction = 'ingress' | 'egress';

/** The decision of policy at one end that is a pod. */
export function decideNormal(
  inputs: Topics,
  pod: PodFact,
  direction: Direction,
  packet: NormalPacket,
): 'allow' | 'deny' {
  return new NormalDecision(inputs, packet).decide(pod, direction);
}

class NormalDecision {
  readonly #inputs: Topics;
  readonly #packet: NormalPacket;

  constructor(inputs: Topics, packet: NormalPacket) {
    this.#inputs = inputs;
    this.#packet = packet;
  }

  decide(pod: PodFact, direction: Direction): 'allow' | 'deny' {
    const governing = [...this.#inputs.policy.values()].filter(
      (policy) =>
        (policy.hostMode ?? 'normal') !== 'pre-dnat' &&
        policy.hostMode !== 'untracked' &&
        policy[direction] !== undefined &&
        policy.subjects.some((subject) => this.#isSubject(subject, pod)),
    );
    for (const tier of this.#tiers()) {
      const verdict = this.#decideTier(
        tier,
        governing.filter((policy) => policy.tier === tier.name),
        direction,
      );
      if (verdict !== undefined && verdict !== 'pass') return verdict;
    }
    return this.#decideProfiles(pod, direction);
  }

  #tiers(): Tier[] {
    const all = new Map([...builtInTiers, ...this.#inputs.tier.values()].map((tier) => [tier.name, tier]));
    return [...all.values()].sort((a, b) => a.order - b.order || (a.name < b.name ? -1 : 1));
  }

  #decideTier(
    tier: Tier,
    policies: readonly Policy[],
    direction: Direction,
  ): 'allow' | 'deny' | 'pass' | undefined {
    const infinite = Number.POSITIVE_INFINITY;
    const order = (policy: Policy): number => policy.order ?? infinite;
    const sorted = policies.toSorted((a, b) =>
      order(a) === order(b) ? (a.id < b.id ? -1 : 1) : order(a) - order(b),
    );
    for (const policy of sorted) {
      if (policy.broken !== undefined) return 'deny';
      const action = this.#act(policy[direction] ?? []);
      if (action !== undefined) return action;
    }
    return sorted.length > 0 ? tier.end : undefined;
  }

  #act(rules: readonly Rule[]): 'allow' | 'deny' | 'pass' | undefined {
    for (const rule of rules) if (rule.action !== 'log' && this.#matches(rule)) return rule.action;
    return undefined;
  }

  #decideProfiles(pod: PodFact, direction: Direction): 'allow' | 'deny' {
    const profiles = profileNames(pod).flatMap((name) => this.#inputs.profile.get(name) ?? []);
    for (const profile of profiles) {
      const action = this.#act(profile[direction]);
      if (action === 'allow' || action === 'deny') return action;
    }
    return profiles.length > 0 ? 'deny' : 'allow';
  }

  #matches(rule: Rule): boolean {
    const { source, destination, icmp, protocol } = this.#packet;
    const family = source.address.includes(':') ? 6 : 4;
    return (
      (rule.family === undefined || rule.family === family) &&
      (rule.services?.some((service) => this.#isService(service)) ?? true) &&
      !(rule.notServices?.some((service) => this.#isService(service)) ?? false) &&
      (rule.sourcePorts === undefined || isIn(rule.sourcePorts, source.port)) &&
      (rule.notSourcePorts === undefined || !isIn(rule.notSourcePorts, source.port)) &&
      (rule.icmp === undefined || isIcmp(rule.icmp, icmp, protocol)) &&
      (rule.notIcmp === undefined || !isIcmp(rule.notIcmp, icmp, protocol)) &&
      rule.source.every((condition) => this.#holds(condition, source, false)) &&
      rule.destination.every((condition) => this.#holds(condition, destination, true))
    );
  }

  #isService({ protocol, ports, namedPorts }: Service): boolean {
    const actual = this.#packet.protocol;
    const wanted = typeof protocol === 'string' ? numbers[protocol] : protocol;
    if (wanted !== undefined && wanted !== actual) return false;
    if (wanted === undefined && !Object.values(numbers).some((each) => each === actual)) return false;
    if (ports === undefined && namedPorts === undefined) return true;
    const { destination } = this.#packet;
    return isIn(ports ?? [], destination.port) || (namedPorts ?? []).some((name) => this.#isNamed(name));
  }

  #isNamed(name: string): boolean {
    const { destination, protocol } = this.#packet;
    return (this.#podAt(destination.address)?.ports ?? []).some(
      (each) => each.name === name && each.port === destination.port && numbers[each.protocol] === protocol,
    );
  }

  #holds({ peers, negate = false }: PeerCondition, side: NormalSide, isDestination: boolean): boolean {
    return peers.some((peer) => this.#isPeer(peer, side, isDestination)) !== negate;
  }

  #isPeer(peer: Peer, side: NormalSide, isDestination: boolean): boolean {
    const { address } = side;
    switch (peer.is) {
      case 'pods': {
        const pod = this.#podAt(address);
        return pod !== undefined && this.#isSelected(peer, pod);
      }
      case 'net':
        return contains(peer.cidr, address) && !peer.except.some((each) => contains(each, address));
      case 'nodes':
        return (
          this.#podAt(address) === undefined &&
          [...this.#inputs.node.values()].some(
            (node) => node.addresses.includes(address) && matchSelector(peer.labels, node.labels),
          )
        );
      case 'network-sets':
        return [...this.#inputs['network-set'].values()].some(
          ({ namespace, labels, nets }) =>
            nets.some((net) => contains(net, address)) &&
            matchSelector(peer.labels, labels) &&
            (peer.namespaces === 'global'
              ? namespace === undefined
              : namespace !== undefined && matchSelector(peer.namespaces, this.#namespaceLabels(namespace))),
        );
      case 'host-endpoints':
        return [...this.#inputs['host-endpoint'].values()].some(
          ({ labels, expectedIPs }) => expectedIPs.includes(address) && matchSelector(peer.labels, labels),
        );
      case 'service':
        return this.#isOfService(peer, side, isDestination);
      case 'domains':
        return false;
    }
  }

  #isOfService(
    { namespace, name, withPorts }: Extract<Peer, { is: 'service' }>,
    { address, port }: NormalSide,
    isDestination: boolean,
  ): boolean {
    const service = this.#inputs.service.get(`${namespace}/${name}`);
    const needsPort = withPorts && isDestination;
    return (service?.endpoints ?? []).some(
      ({ addresses, ports }) =>
        addresses.includes(address) &&
        (!needsPort ||
          ports.some((each) => each.port === port && numbers[each.protocol] === this.#packet.protocol)),
    );
  }

  #isSubject(subject: Subject, pod: PodFact): boolean {
    return subject.is === 'pods' && pod.hostNetwork !== true && this.#isSelected(subject, pod);
  }

  #isSelected(
    {
      namespaces,
      pods,
      serviceAccounts,
    }: { namespaces: Selector; pods: Selector; serviceAccounts?: Selector | undefined },
    pod: PodFact,
  ): boolean {
    const labels = this.#podLabels(pod);
    return (
      matchSelector(namespaces, this.#namespaceLabels(pod.namespace)) &&
      matchSelector(pods, labels) &&
      (serviceAccounts === undefined || matchSelector(serviceAccounts, labels))
    );
  }

  #podAt(address: string): PodFact | undefined {
    return [...this.#inputs.pod.values()].find(
      (pod) => pod.hostNetwork !== true && pod.addresses.includes(address),
    );
  }

  #podLabels(pod: PodFact): Labels {
    const lent = profileNames(pod).map((name) => this.#inputs.profile.get(name)?.labelsToApply ?? {});
    const account =
      pod.serviceAccount === undefined ? {} : { 'projectcalico.org/serviceaccount': pod.serviceAccount };
    return Object.assign(
      {},
      ...lent,
      pod.labels,
      { 'projectcalico.org/namespace': pod.namespace, 'projectcalico.org/orchestrator': 'k8s' },
      account,
    ) as Labels;
  }

  #namespaceLabels(name: string): Labels {
    return { ...this.#inputs.namespace.get(name)?.labels, 'kubernetes.io/metadata.name': name };
  }
}

export const profileNames = ({ namespace, serviceAccount }: PodFact): string[] => [
  `kns.${namespace}`,
  ...(serviceAccount === undefined ? [] : [`ksa.${namespace}.${serviceAccount}`]),
];

const isIn = (ranges: readonly PortRange[], port: number | undefined): boolean =>
  port !== undefined && ranges.some(({ first, last }) => port >= first && port <= last);

const isIcmp = ({ type, code }: IcmpMatch, icmp: NormalPacket['icmp'], protocol: number): boolean =>
  (protocol === 1 || protocol === 58) &&
  (type === undefined || type === icmp?.type) &&
  (code === undefined || code === icmp?.code);

function contains(cidr: string, text: string): boolean {
  const [prefix, address] = [parsePrefix(cidr), parseAddress(text)];
  return prefix.family === address.family && containsAddress(prefix, address);
}
