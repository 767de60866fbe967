/** Which blocks and lent addresses each node has, kept up to date block by block. */
import { compareAddresses, containsAddress, parseAddress, parsePrefix } from '@podwire/addresses';
import type { Block } from './kinds.js';

export interface BlockIndex {
  change(before: Block | undefined, after: Block | undefined): void;
  /** In order of addresses; the same array until one comes or goes. */
  blocksOf(node: string): readonly string[];
  borrowedBy(node: string): readonly string[];
}

export function createBlockIndex(): BlockIndex {
  const blocks = createGroups((a, b) => compareAddresses(parsePrefix(a).address, parsePrefix(b).address));
  const loans = createGroups((a, b) => compareAddresses(parseAddress(a), parseAddress(b)));
  return {
    change(before, after) {
      if (before?.node !== undefined) blocks.remove(before.node, before.cidr);
      for (const { node, address } of loansWithin(before)) loans.remove(node, address);
      if (after?.node !== undefined) blocks.add(after.node, after.cidr);
      for (const { node, address } of loansWithin(after)) loans.add(node, address);
    },
    blocksOf: (node) => blocks.of(node),
    borrowedBy: (node) => loans.of(node),
  };
}

/** A block can lend nothing but its own addresses, whatever its object says. */
function loansWithin(block: Block | undefined): Block['loans'] {
  if (block === undefined || block.loans.length === 0) return [];
  const prefix = parsePrefix(block.cidr);
  return block.loans.filter(({ address }) => containsAddress(prefix, parseAddress(address)));
}

interface Groups {
  add(group: string, member: string): void;
  remove(group: string, member: string): void;
  of(group: string): readonly string[];
}

const none: readonly string[] = [];

function createGroups(compare: (a: string, b: string) => number): Groups {
  const groups = new Map<string, { readonly members: Set<string>; sorted: readonly string[] | undefined }>();
  return {
    add(name, member) {
      const group = groups.get(name) ?? { members: new Set(), sorted: undefined };
      groups.set(name, group);
      group.members.add(member);
      group.sorted = undefined;
    },
    remove(name, member) {
      const group = groups.get(name);
      if (group === undefined) return;
      group.members.delete(member);
      group.sorted = undefined;
      if (group.members.size === 0) groups.delete(name);
    },
    of(name) {
      const group = groups.get(name);
      if (group === undefined) return none;
      return (group.sorted ??= [...group.members].sort(compare));
    },
  };
}
