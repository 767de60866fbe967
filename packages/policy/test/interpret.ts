/** Decides a connection on the normal form and the facts, with loops over everything: what the compiled form has to agree with. */
import { containsAddress, familyOf, parseAddress, parsePrefix } from '@podwire/addresses';
import type {
  Connection,
  Direction,
  InputChange,
  Labels,
  Peer,
  PeerCondition,
  PodFact,
  PodSelection,
  Policy,
  PolicyInputs,
  Profile,
  Rule,
  Service,
  Tier,
} from '../src/index.js';
import { profileId } from '../src/compile/rules.js';
import { builtInTiers, matchSelector } from '../src/index.js';

export class Interpreter {
  readonly #inputs: readonly InputChange[];

  constructor(inputs: readonly InputChange[]) {
    this.#inputs = inputs;
  }

  all<T extends keyof PolicyInputs>(topic: T): PolicyInputs[T][] {
    return this.#inputs.flatMap((each) => (each.topic === topic ? [each.value as PolicyInputs[T]] : []));
  }

  decide(pod: PodFact, direction: Direction, connection: Connection, broken: ReadonlySet<string>): boolean {
    const own = this.all('policy').filter(
      (each) => each[direction] !== undefined && this.#applies(each, pod),
    );
    for (const tier of this.#tiers()) {
      const inTier = own.filter((each) => each.tier === tier.name).sort(comparePolicies);
      const action = this.#act(inTier, direction, { pod, connection, broken });
      if (action === 'allow' || action === 'deny') return action === 'allow';
      if (action === undefined && inTier.length > 0 && tier.end === 'deny') return false;
    }
    const profiles = this.#profilesOf(pod);
    for (const profile of profiles) {
      // A profile that no list of rules can say is closed, as a policy is.
      if (broken.has(profileId(profile.name))) return false;
      const found = profile[direction].find(
        (rule) => rule.action !== 'log' && this.#matches(rule, direction, pod, connection),
      );
      if (found !== undefined) return found.action === 'allow';
    }
    return profiles.length === 0;
  }

  #act(
    policies: readonly Policy[],
    direction: Direction,
    { pod, connection, broken }: { pod: PodFact; connection: Connection; broken: ReadonlySet<string> },
  ): Rule['action'] | undefined {
    for (const policy of policies) {
      if (broken.has(policy.id)) return 'deny';
      for (const rule of policy[direction] ?? [])
        if (rule.action !== 'log' && this.#matches(rule, direction, pod, connection)) return rule.action;
    }
    return undefined;
  }

  #tiers(): Tier[] {
    const known = [...builtInTiers, ...this.all('tier')];
    const blue: Tier = { name: 'blue', order: Number.MAX_SAFE_INTEGER - 1, end: 'deny' };
    const tiers = known.some(({ name }) => name === 'blue') ? known : [...known, blue];
    return tiers.sort((a, b) => a.order - b.order || (a.name < b.name ? -1 : 1));
  }

  #applies({ hostMode, subjects }: Policy, pod: PodFact): boolean {
    if (hostMode === 'untracked' || hostMode === 'pre-dnat') return false;
    return subjects.some((each) => each.is === 'pods' && this.#selects(each, pod));
  }

  #profilesOf({ namespace, serviceAccount }: PodFact): Profile[] {
    const names = [`kns.${namespace}`, `ksa.${namespace}.${serviceAccount}`];
    return names.flatMap((name) => this.all('profile').filter((each) => each.name === name));
  }

  #labelsOf(pod: PodFact): Labels {
    const lent = this.#profilesOf(pod).map(({ labelsToApply }) => labelsToApply);
    const account = pod.serviceAccount && { 'projectcalico.org/serviceaccount': pod.serviceAccount };
    return Object.assign({}, ...lent, pod.labels, account) as Labels;
  }

  #namespaceLabels(namespace: string): Labels {
    const found = this.all('namespace').find(({ name }) => name === namespace);
    return { ...found?.labels, 'kubernetes.io/metadata.name': namespace };
  }

  #selects({ namespaces, pods, serviceAccounts }: PodSelection, pod: PodFact): boolean {
    const labels = this.#labelsOf(pod);
    if (pod.hostNetwork === true || !matchSelector(namespaces, this.#namespaceLabels(pod.namespace)))
      return false;
    return (
      matchSelector(pods, labels) && (serviceAccounts === undefined || matchSelector(serviceAccounts, labels))
    );
  }

  #matches(rule: Rule, direction: Direction, pod: PodFact, connection: Connection): boolean {
    const isService = (each: Service): boolean => this.#isService(each, direction, pod, connection);
    const has = (ranges: Service['ports'], port: number | undefined): boolean | undefined =>
      ranges?.some(({ first, last }) => port !== undefined && first <= port && port <= last);
    const { icmpType, icmpCode, sourcePort } = connection;
    const isIcmp = connection.protocol === (familyOf(connection.source) === 4 ? 1 : 58);
    const isType = (match: Rule['icmp']): boolean =>
      (match?.type ?? icmpType) === icmpType && (match?.code ?? icmpCode) === icmpCode;
    return (
      (rule.family === undefined || rule.family === familyOf(connection.source)) &&
      (rule.services === undefined || rule.services.some(isService)) &&
      rule.notServices?.some(isService) !== true &&
      has(rule.sourcePorts, sourcePort) !== false &&
      (rule.notSourcePorts === undefined ||
        (sourcePort !== undefined && !has(rule.notSourcePorts, sourcePort))) &&
      (rule.icmp === undefined || (isIcmp && isType(rule.icmp))) &&
      (rule.notIcmp === undefined || (isIcmp && !isType(rule.notIcmp))) &&
      rule.source.every((each) => this.#isPeer(each, 'source', connection)) &&
      rule.destination.every((each) => this.#isPeer(each, 'destination', connection))
    );
  }

  #isService(
    { protocol, ports, namedPorts }: Service,
    direction: Direction,
    pod: PodFact,
    connection: Connection,
  ): boolean {
    const port = connection.destinationPort;
    const number = typeof protocol === 'string' ? numbers[protocol] : protocol;
    if (number === undefined && port === undefined) return false;
    if (number !== undefined && number !== connection.protocol) return false;
    if (ports === undefined && namedPorts === undefined) return true;
    if (port === undefined) return false;
    const owners = direction === 'ingress' ? [pod] : this.#podsWith(connection.destination);
    const isNamed = owners.some((owner) =>
      owner.ports.some(
        (each) =>
          namedPorts?.includes(each.name) &&
          each.port === port &&
          numbers[each.protocol] === connection.protocol,
      ),
    );
    return isNamed || ports?.some(({ first, last }) => first <= port && port <= last) === true;
  }

  #podsWith(address: string): PodFact[] {
    return this.all('pod').filter((each) => each.hostNetwork !== true && each.addresses.includes(address));
  }

  #isPeer({ peers, negate }: PeerCondition, side: 'source' | 'destination', connection: Connection): boolean {
    return peers.some((peer) => this.#is(peer, side, connection)) !== (negate === true);
  }

  #is(peer: Peer, side: 'source' | 'destination', connection: Connection): boolean {
    const address = connection[side];
    switch (peer.is) {
      case 'pods':
        return this.#podsWith(address).some((pod) => this.#selects(peer, pod));
      case 'net':
        return contains(peer.cidr, address) && !peer.except.some((each) => contains(each, address));
      case 'nodes':
        return this.all('node').some(
          (each) => each.addresses.includes(address) && matchSelector(peer.labels, each.labels),
        );
      case 'host-endpoints':
        return this.all('host-endpoint').some(
          (each) => each.expectedIPs.includes(address) && matchSelector(peer.labels, this.#hostLabels(each)),
        );
      case 'network-sets':
        return this.all('network-set').some(
          ({ namespace, labels, nets }) =>
            (peer.namespaces === 'global' || namespace === undefined
              ? peer.namespaces === 'global' && namespace === undefined
              : matchSelector(peer.namespaces, this.#namespaceLabels(namespace))) &&
            matchSelector(peer.labels, labels) &&
            nets.some((each) => contains(each, address)),
        );
      case 'domains':
        return this.all('domain').some(
          (each) => peer.names.includes(each.name) && each.addresses.includes(address),
        );
      case 'service':
        return this.all('service').some(({ endpoints }) =>
          endpoints.some(
            ({ addresses, ports }) =>
              addresses.includes(address) &&
              (side === 'source' ||
                !peer.withPorts ||
                ports.some(
                  (each) =>
                    each.port === connection.destinationPort &&
                    numbers[each.protocol] === connection.protocol,
                )),
          ),
        );
    }
  }

  #hostLabels({ labels, profiles }: PolicyInputs['host-endpoint']): Labels {
    const lent = profiles.flatMap((name) => this.all('profile').filter((each) => each.name === name));
    return Object.assign({}, ...lent.map(({ labelsToApply }) => labelsToApply), labels) as Labels;
  }
}

const numbers = { tcp: 6, udp: 17, sctp: 132 } as const;

const contains = (net: string, address: string): boolean =>
  containsAddress(parsePrefix(net), parseAddress(address));

const comparePolicies = (a: Policy, b: Policy): number =>
  (a.order ?? Infinity) === (b.order ?? Infinity)
    ? a.id < b.id
      ? -1
      : 1
    : (a.order ?? Infinity) - (b.order ?? Infinity);
