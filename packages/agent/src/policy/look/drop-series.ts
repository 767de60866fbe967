/** Counts of dropped packets as series of a metric: as many as a cluster's Prometheus can bear, however many policies there are. */
import type { DropReason } from '@podwire/network-policy';
import type { DropCount } from '../contract.js';
import { keyOfReason } from './drop-counts.js';

/** Besides the one of all others. */
export const mostDropSeries = 1_000;

export interface DropLabels {
  readonly direction: string;
  readonly reason: string;
  readonly tier: string;
  readonly policy: string;
}

export interface DropSample {
  readonly labels: DropLabels;
  readonly packets: number;
}

const others: DropLabels = { direction: 'other', reason: 'other', tier: 'other', policy: 'other' };

/**
 * The first reasons have series of their own; later ones share one. A reason stays in the shared series, also when
 * there is room again: a sum of counters that loses one of them would look like a restart, and all that is left of it
 * like new packets.
 */
export class DropSeries {
  readonly #most: number;
  readonly #own = new Set<string>();
  readonly #others = new Set<string>();

  constructor(most = mostDropSeries) {
    this.#most = most;
  }

  take(counts: readonly DropCount[]): DropSample[] {
    this.#assign(counts.map(keyOfReason));
    const own = counts.filter((count) => this.#own.has(keyOfReason(count)));
    const samples = own.map((count) => ({ labels: labelsOf(count), packets: count.packets }));
    if (this.#others.size === 0) return samples;
    const sum = (list: readonly { readonly packets: number }[]): number =>
      list.reduce((total, { packets }) => total + packets, 0);
    return [...samples, { labels: others, packets: sum(counts) - sum(own) }];
  }

  /** A reason that is not counted any more gives up its place. */
  #assign(keys: readonly string[]): void {
    const present = new Set(keys);
    for (const assigned of [this.#own, this.#others])
      for (const key of assigned) if (!present.has(key)) assigned.delete(key);
    for (const key of present) {
      if (this.#own.has(key) || this.#others.has(key)) continue;
      (this.#own.size < this.#most ? this.#own : this.#others).add(key);
    }
  }
}

const labelsOf = ({ direction, reason, tier = '', policy = '' }: DropReason): DropLabels => ({
  direction,
  reason,
  tier,
  policy,
});
