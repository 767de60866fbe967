/** Which blocks each node owns and which addresses it borrows, updated block by block. */
import { compareAddresses, containsAddress, parseAddress, parsePrefix } from '@podwire/addresses';
import type { Block } from './kinds.js';

export class BlockIndex {
  readonly #blocks = new SortedGroups((a, b) =>
    compareAddresses(parsePrefix(a).address, parsePrefix(b).address),
  );
  readonly #borrowed = new SortedGroups((a, b) => compareAddresses(parseAddress(a), parseAddress(b)));

  change(before: Block | undefined, after: Block | undefined): void {
    if (before?.node !== undefined) this.#blocks.remove(before.node, before.cidr);
    for (const { node, address } of lentOf(before)) this.#borrowed.remove(node, address);
    if (after?.node !== undefined) this.#blocks.add(after.node, after.cidr);
    for (const { node, address } of lentOf(after)) this.#borrowed.add(node, address);
  }

  /** In order of addresses; the same array until a block is added or removed. */
  blocksOf(node: string): readonly string[] {
    return this.#blocks.of(node);
  }

  borrowedBy(node: string): readonly string[] {
    return this.#borrowed.of(node);
  }
}

/** Only addresses of the block itself count, whatever the object lists. */
function lentOf(block: Block | undefined): Block['loans'] {
  if (block === undefined || block.loans.length === 0) return [];
  const prefix = parsePrefix(block.cidr);
  return block.loans.filter(({ address }) => containsAddress(prefix, parseAddress(address)));
}

const none: readonly string[] = [];

class SortedGroups {
  readonly #compare: (a: string, b: string) => number;
  readonly #groups = new Map<string, { readonly members: Set<string>; sorted?: readonly string[] }>();

  constructor(compare: (a: string, b: string) => number) {
    this.#compare = compare;
  }

  add(name: string, member: string): void {
    const group = this.#groups.get(name) ?? { members: new Set() };
    this.#groups.set(name, group);
    group.members.add(member);
    delete group.sorted;
  }

  remove(name: string, member: string): void {
    const group = this.#groups.get(name);
    if (group === undefined) return;
    group.members.delete(member);
    delete group.sorted;
    if (group.members.size === 0) this.#groups.delete(name);
  }

  of(name: string): readonly string[] {
    const group = this.#groups.get(name);
    if (group === undefined) return none;
    return (group.sorted ??= [...group.members].sort(this.#compare));
  }
}
