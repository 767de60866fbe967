import type { Block } from '@podwire/cluster-state';

/** The block without an owner; what is lent of it stays lent. */
export function disown({ cidr, claimedAt }: Block, loans: Block['loans']): Block {
  return { cidr, state: 'confirmed', claimedAt, loans };
}
