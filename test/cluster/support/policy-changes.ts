/** Changes of labels and policies, from a seed, and what they may not do. Pure. */
import type { AnyObject } from '@podwire/objects';
import { type Cluster, evaluate, type Labels, type Pod } from '@podwire/policy-evaluator';
import { calico, networkPolicy } from '@podwire/policy-evaluator/cases';

/** From 0 up to 1; mulberry32. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const pick = <T>(random: () => number, all: readonly T[]): T =>
  all[Math.floor(random() * all.length)]!;

export const placeNames = ['shop', 'good', 'evil'] as const;
const roles = ['client', 'guest', 'attacker'] as const;
const apps = ['db', 'web'] as const;

/** Without it every pod would reach every pod. */
export const guard: AnyObject = networkPolicy('shop/guard', {
  podSelector: { matchLabels: { app: 'db' } },
  ingress: [{ from: [{ namespaceSelector: {}, podSelector: { matchLabels: { role: 'client' } } }] }],
});

export const drawLabels = (random: () => number, place: string): Labels =>
  place === 'shop'
    ? { app: pick(random, apps) }
    : { role: place === 'evil' ? 'attacker' : pick(random, roles) };

const mostPolicies = 8;

/** The objects after a change of one of them. */
export function drawObjects(random: () => number, objects: readonly AnyObject[]): readonly AnyObject[] {
  const changeable = objects.filter((object) => object !== guard);
  const isFull = changeable.length >= mostPolicies;
  if (changeable.length > 0 && (isFull || random() < 0.35)) {
    const gone = pick(random, changeable);
    return objects.filter((object) => object !== gone);
  }
  const added = drawPolicy(random);
  return [...objects.filter((object) => keyOf(object) !== keyOf(added)), added];
}

export const keyOf = ({ apiVersion, kind, metadata }: AnyObject): string =>
  `${apiVersion} ${kind} ${metadata.namespace ?? ''}/${metadata.name}`;

function drawPolicy(random: () => number): AnyObject {
  const name = `p${Math.floor(random() * mostPolicies)}`;
  const peers = [drawPeer(random), drawPeer(random)];
  switch (Math.floor(random() * 4)) {
    case 0:
      return networkPolicy(`shop/${name}`, {
        podSelector: { matchLabels: { app: pick(random, apps) } },
        ingress: [{ from: peers }],
      });
    case 1:
      return networkPolicy(`${pick(random, placeNames)}/${name}`, {
        podSelector: random() < 0.5 ? {} : { matchLabels: { role: pick(random, roles) } },
        policyTypes: ['Egress'],
        egress: [{ to: peers }],
      });
    case 2:
      return networkPolicy(`${pick(random, placeNames)}/${name}`, { ingress: [{ from: peers }] });
    default:
      return calico('GlobalNetworkPolicy', name, {
        tier: 'default',
        order: pick(random, [500, 1500]),
        selector: `app == '${pick(random, apps)}'`,
        types: ['Ingress'],
        ingress: [
          {
            action: pick(random, ['Allow', 'Deny']),
            source: { selector: `role == '${pick(random, roles)}'` },
          },
        ],
      });
  }
}

const drawPeer = (random: () => number): object =>
  pick(random, [
    { namespaceSelector: {}, podSelector: { matchLabels: { role: pick(random, roles) } } },
    { namespaceSelector: { matchLabels: { place: pick(random, placeNames) } } },
    { namespaceSelector: {}, podSelector: { matchLabels: { app: pick(random, apps) } } },
  ]);

const nameOf = ({ namespace, name }: Pod): string => `${namespace}/${name}`;

export const isAllowed = (cluster: Cluster, from: string, to: string): boolean =>
  evaluate(cluster, { from: { pod: from }, to: { pod: to }, protocol: 'udp', port: 80, sourcePort: 5000 })
    .verdict === 'allow';

/** An attacker never reaches a database, and the flows that stand are always allowed: else the change is not made. */
export function isAcceptable(cluster: Cluster, flows: readonly (readonly [string, string])[]): boolean {
  const attackers = cluster.pods.filter(({ labels }) => labels['role'] === 'attacker').map(nameOf);
  const databases = cluster.pods.filter(({ labels }) => labels['app'] === 'db').map(nameOf);
  const opens = attackers.some((from) => databases.some((to) => isAllowed(cluster, from, to)));
  return !opens && flows.every(([from, to]) => isAllowed(cluster, from, to));
}

/** Which pairs were allowed at any time, in any of the states that a node may have been in. */
export class EverAllowed {
  readonly pairs = new Set<string>();
  readonly #seen = new Set<string>();
  #objects: (readonly AnyObject[])[] = [];
  #pods: (readonly Pod[])[] = [];

  /** Objects and facts about pods travel by themselves: a node may know the newest of one and not yet of the other. */
  note(cluster: Cluster): void {
    this.#objects.push(cluster.objects);
    this.#pods.push(cluster.pods);
    for (const objects of new Set(this.#objects)) this.#add({ ...cluster, objects });
    for (const pods of new Set(this.#pods.slice(0, -1))) this.#add({ ...cluster, pods });
  }

  /** Pairs of pods that were there at the same time. */
  forbidden(): string[] {
    return [...this.#seen].filter((pair) => !this.pairs.has(pair));
  }

  /** Every node has what there is. Of the pods two states more are kept: no node says which it knows. */
  settle(): void {
    this.#objects = this.#objects.slice(-1);
    this.#pods = this.#pods.slice(-3);
  }

  #add(cluster: Cluster): void {
    for (const from of cluster.pods.map(nameOf))
      for (const to of cluster.pods.map(nameOf)) {
        if (from === to) continue;
        const pair = `${from} > ${to}`;
        this.#seen.add(pair);
        if (!this.pairs.has(pair) && isAllowed(cluster, from, to)) this.pairs.add(pair);
      }
  }
}
