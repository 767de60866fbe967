/** Addresses of own blocks whose grant to another node is not confirmed by the store yet. */
import { containsAddress, parseAddress, type Prefix } from '@podwire/addresses';
import type { Block } from '@podwire/cluster-state';
import type { GrantedAddress } from '../contract.js';

export class PendingGrants {
  /** By address. */
  readonly #grants = new Map<string, GrantedAddress>();
  /** Those that may or may not have been written. */
  readonly #uncertain = new Set<string>();

  has(address: string): boolean {
    return this.#grants.has(address);
  }

  all(): GrantedAddress[] {
    return [...this.#grants.values()];
  }

  within(prefix: Prefix): Block['loans'] {
    return this.all()
      .filter(({ address }) => containsAddress(prefix, parseAddress(address)))
      .map(({ address, node }) => ({ address, node }));
  }

  add(grant: GrantedAddress): void {
    this.#grants.set(grant.address, grant);
  }

  delete(address: string): void {
    this.#grants.delete(address);
    this.#uncertain.delete(address);
  }

  markUncertain(address: string): void {
    this.#uncertain.add(address);
  }

  /** Blocks with uncertain grants. */
  uncertainBlocks(): Set<string> {
    return new Set([...this.#uncertain].map((address) => this.#grants.get(address)!.block));
  }

  uncertainOf(block: string): string[] {
    return [...this.#uncertain].filter((address) => this.#grants.get(address)!.block === block);
  }
}
