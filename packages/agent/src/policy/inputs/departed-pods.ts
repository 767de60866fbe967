/**
 * Chains and sets of a pod outlive the pod for a while: the next pod like it, its replica or its next life, finds them
 * in place. For the compiler a pod without addresses and without a link stands in for the one that has gone: it is in
 * no set and no packet is its own.
 */
import { createHash } from 'node:crypto';
import type { CompiledEndpoint, InputChange, PodFact } from '@podwire/policy';
import { type Clock, Workqueue } from '@podwire/platform';

type Key = string;

export interface DepartedPodsOptions {
  readonly node: string;
  readonly clock: Clock;
  /** True if a policy or a profile in force selects the pod: all other pods share resources that are quick to make. */
  readonly isSelected: (pod: Key) => boolean;
  /** Takes stand-ins away whose time has come. */
  readonly forget: (inputs: readonly InputChange[]) => void;
  /** Milliseconds. */
  readonly keep?: number;
  /** Kinds of pods; the oldest has to go for one more. */
  readonly most?: number;
}

/** Milliseconds: pods that fail are started again after five minutes at the latest (the kubelet's longest back-off). */
const usualKeep = 6 * 60_000;
const usualMost = 64;
const backoff = { first: 1_000, longest: 30_000 } as const;

export class DepartedPods {
  readonly #options: Required<DepartedPodsOptions>;
  readonly #queue: Workqueue<Key>;
  /** Until when, in order of departure. */
  readonly #until = new Map<Key, number>();
  readonly #coming = new Map<Key, PodFact>();
  readonly #local = new Map<Key, PodFact>();

  constructor({ keep = usualKeep, most = usualMost, ...options }: DepartedPodsOptions) {
    this.#options = { keep, most, ...options };
    this.#queue = new Workqueue({
      reconcile: (key) => Promise.resolve(this.#expire(key)),
      onError: () => undefined,
      clock: options.clock,
      backoff,
    });
  }

  /** @returns stand-ins for pods of this node that go or change; they have to come before the change itself */
  follow(inputs: readonly InputChange[]): readonly InputChange[] {
    return inputs.flatMap((input) => {
      if (input.topic !== 'pod') return [];
      const { key, value } = input;
      const stays = value?.node === this.#options.node ? value : undefined;
      if (stays === undefined) this.#coming.delete(key);
      else this.#coming.set(key, stays);
      const before = this.#local.get(key);
      if (before === undefined || (stays !== undefined && identityOf(stays) === identityOf(before)))
        return [];
      this.#local.delete(key);
      return this.#options.isSelected(key) ? this.#keep(before) : [];
    });
  }

  /** The kernel has taken them: they are worth to be kept. What it has refused must not come again by itself. */
  confirm(inputs: readonly InputChange[]): void {
    for (const input of inputs)
      if (input.topic === 'pod' && input.value !== undefined && this.#coming.get(input.key) === input.value)
        this.#local.set(input.key, input.value);
  }

  async stop(): Promise<void> {
    await this.#queue.stop();
  }

  #keep(fact: PodFact): InputChange[] {
    const { clock, keep, most } = this.#options;
    const key = standInOf(fact);
    const isNew = !this.#until.delete(key);
    this.#until.set(key, clock.elapsed() + keep);
    if (!isNew) return [];
    this.#queue.addAfter(key, keep);
    const [oldest = key] = this.#until.keys();
    const gone = this.#until.size > most ? [this.#remove(oldest)] : [];
    const [, name = ''] = key.split('/');
    return [{ topic: 'pod', key, value: { ...fact, name, addresses: [] } }, ...gone];
  }

  #expire(key: Key): { readonly requeueAfter: number } | void {
    const until = this.#until.get(key);
    if (until === undefined) return;
    const left = until - this.#options.clock.elapsed();
    if (left > 0) return { requeueAfter: left };
    this.#options.forget([this.#remove(key)]);
  }

  #remove(key: Key): InputChange {
    this.#until.delete(key);
    return { topic: 'pod', key, value: undefined };
  }
}

/** The properties that policies select a pod by; its name is not one of them. */
const identityOf = ({ namespace, labels, serviceAccount }: PodFact): string =>
  JSON.stringify([namespace, Object.entries(labels).sort(), serviceAccount]);

/** No pod is called like that: names of pods have no `*`. */
function standInOf(fact: PodFact): Key {
  const digest = createHash('sha1').update(identityOf(fact)).digest('hex').slice(0, 16);
  return `${fact.namespace}/${standInMark}${digest}`;
}

const standInMark = '*departed-';

export const isStandIn = (endpoint: string): boolean => endpoint.includes(`/${standInMark}`);

export const isSelected = (endpoint: CompiledEndpoint | undefined): boolean =>
  [endpoint?.ingress, endpoint?.egress].some(
    (direction) => direction !== undefined && direction.tiers.length + direction.profiles.length > 0,
  );
