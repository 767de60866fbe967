import type { ChainDeclaration, SetDeclaration } from '@podwire/nftables';

/** A whole nftables table, owned by Podwire: declared as a script without `table` line, compared by digest. */
export interface NftTable {
  readonly kind: 'nft-table';
  readonly family: 'ip' | 'ip6' | 'inet';
  readonly name: string;
  /** Text between the braces of `table FAMILY NAME { … }`. Element contents of its sets are not part of it. */
  readonly body: string;
}

/**
 * Where the policy of iptables' FORWARD drops, packets that come in or go out by one of the links are accepted in its place. Nothing
 * where iptables is not used. `iptables-legacy` keeps its rules elsewhere and is not seen.
 */
export interface ForwardAccept {
  readonly kind: 'forward-accept';
  readonly family: 'ip' | 'ip6';
  /** Name of the chain of ours that FORWARD jumps to. */
  readonly chain: string;
  /** Names, or beginnings of names with a `*`. */
  readonly links: readonly string[];
}

/** A table of ours whose sets and chains are resources of their own; made through netlink. */
export interface NftOwnTable {
  readonly kind: 'nft-own-table';
  readonly family: NftTable['family'];
  readonly name: string;
}

/**
 * A named set or map in an {@link NftOwnTable}; its elements are resources of their own. A set with another declaration needs
 * another name: the kernel cannot change one that rules refer to.
 */
export interface NftSet {
  readonly kind: 'nft-set';
  readonly family: NftTable['family'];
  readonly table: string;
  readonly set: SetDeclaration;
}

/**
 * A chain in an {@link NftOwnTable} with all its rules: it is replaced as a whole, without a gap. What it refers to (sets, chains that
 * it jumps to) stands in front of it in the list.
 */
export interface NftChain {
  readonly kind: 'nft-chain';
  readonly family: NftTable['family'];
  readonly table: string;
  readonly chain: ChainDeclaration;
}

/** One typed component of a set element's key or value. */
export type NftValue =
  | { readonly type: 'ipv4_addr' | 'ipv6_addr'; readonly value: string }
  /** The whole key of a set with `flags interval`: a canonical prefix. Prefixes of one set must not overlap. */
  | { readonly type: 'ipv4_interval' | 'ipv6_interval'; readonly value: string }
  | { readonly type: 'inet_service'; readonly value: number }
  | { readonly type: 'inet_proto'; readonly value: 'tcp' | 'udp' | 'sctp' }
  | { readonly type: 'ifname'; readonly value: string }
  | { readonly type: 'mark'; readonly value: number };

/** One element of a named set or map. */
export interface NftElement {
  readonly kind: 'nft-element';
  readonly family: NftTable['family'];
  readonly table: string;
  readonly set: string;
  readonly key: readonly NftValue[];
  /** For maps. */
  readonly value?: readonly NftValue[];
  /** For verdict maps: the chain to go to. */
  readonly chain?: string;
}

/** The kinds of this backend, by name. */
export interface NftablesResources {
  'nft-table': NftTable;
  'forward-accept': ForwardAccept;
  'nft-element': NftElement;
  'nft-own-table': NftOwnTable;
  'nft-set': NftSet;
  'nft-chain': NftChain;
}
