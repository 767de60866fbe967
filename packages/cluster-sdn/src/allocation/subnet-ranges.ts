/** Subnets of nodes: blocks of the ranges of a cluster. */
import { containsPrefix, formatPrefix, overlaps, parsePrefix, type Prefix } from '@podwire/addresses';
import { FreeBlocks } from '@podwire/ipam';
import type { ClusterNetwork } from '@podwire/objects';
import { rotatedOrder } from './rotated-order.js';

interface Range {
  readonly cidr: string;
  readonly prefix: Prefix;
  readonly free: FreeBlocks;
  cursor: number;
}

const addressBits = 32;

function createRange(cidr: string, hostBits: number, cursor: number): Range {
  const prefix = parsePrefix(cidr);
  const length = addressBits - hostBits;
  const free = new FreeBlocks(prefix, length, rotatedOrder(hostBits, length - prefix.length));
  return { cidr, prefix, free, cursor };
}

export class SubnetRanges {
  readonly #ranges: readonly Range[];

  constructor(ranges: ClusterNetwork['clusterNetworks'], cursors: Readonly<Record<string, number>> = {}) {
    this.#ranges = ranges.map(({ CIDR, hostSubnetLength }) =>
      createRange(CIDR, hostSubnetLength, cursors[CIDR] ?? 0),
    );
  }

  get cidrs(): readonly string[] {
    return this.#ranges.map(({ cidr }) => cidr);
  }

  get cursors(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#ranges.map(({ cidr, cursor }) => [cidr, cursor]));
  }

  contains(subnet: Prefix): boolean {
    return this.#ranges.some(({ prefix }) => containsPrefix(prefix, subnet));
  }

  /** A subnet of another length than those of today takes all that it shares addresses with. */
  take(subnet: Prefix): void {
    for (const { free } of this.#around(subnet)) free.take(subnet);
  }

  giveBack(subnet: Prefix): void {
    for (const { free } of this.#around(subnet)) free.giveBack(subnet);
  }

  /** Takes the next free one of the first range that has one. @returns undefined when none is free */
  allocate(): string | undefined {
    for (const range of this.#ranges) {
      const subnet = range.free.next(range.cursor);
      range.cursor = subnet === undefined ? 0 : range.free.placeOf(subnet) + 1;
      if (subnet === undefined) continue;
      range.free.take(subnet);
      return formatPrefix(subnet);
    }
    return undefined;
  }

  #around(subnet: Prefix): Range[] {
    return this.#ranges.filter(({ prefix }) => overlaps(prefix, subnet));
  }
}
