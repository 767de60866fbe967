/**
 * Rules as data, for tables that are built through netlink, without a start of nft. Only what Podwire uses; each statement prints as
 * nft writes it (`describeRule`).
 */
import type { PlainType } from '../values.js';

/** Fields of a packet, by their names in nft(8). `th` is the transport header, whichever it is. */
export type Field =
  | 'iifname'
  | 'oifname'
  | 'nfproto'
  | 'l4proto'
  | 'mark'
  | 'ip saddr'
  | 'ip daddr'
  | 'ip6 saddr'
  | 'ip6 daddr'
  | 'th sport'
  | 'th dport'
  | 'icmp type'
  | 'icmp code'
  | 'icmpv6 type'
  | 'icmpv6 code'
  | 'ct mark'
  /** Type of the address, looked up in the routing table: `local`, … */
  | 'fib daddr type'
  | 'fib saddr type';

export type CtState = 'established' | 'related' | 'new' | 'invalid' | 'untracked';

/** Numbers in host meaning; addresses, prefixes and names as text. */
export type FieldValue = string | number;

export type Statement =
  /** `==` is meant where there is no operator. A prefix (`10.0.0.0/8`, `cali*`) matches as one. */
  | {
      readonly is: 'match';
      readonly field: Field;
      readonly op?: '==' | '!=';
      readonly value: FieldValue;
      /** Of marks: the bits that are looked at. */
      readonly mask?: number;
    }
  /** From `first` to `last`, both included. */
  | {
      readonly is: 'range';
      readonly field: Field;
      readonly op?: '==' | '!=';
      readonly first: number;
      readonly last: number;
    }
  | { readonly is: 'ct-state'; readonly states: readonly CtState[] }
  /** `dnat`: the destination was translated. */
  | { readonly is: 'ct-status'; readonly status: 'dnat' | 'snat' }
  /** The concatenated fields are an element of the set. */
  | {
      readonly is: 'lookup';
      readonly fields: readonly Field[];
      readonly set: string;
      readonly negate?: boolean;
    }
  /**
   * The verdict that the map has for the fields; the rule goes on where it has none. Data of a map cannot be looked up in another
   * map: the kernel could, but nft 1.0.6 crashes when it lists such a rule.
   */
  | { readonly is: 'vmap'; readonly fields: readonly Field[]; readonly map: string }
  | { readonly is: 'counter' }
  /** To nflog's group; `snaplen` in bytes. */
  | { readonly is: 'log'; readonly group: number; readonly prefix: string; readonly snaplen?: number }
  /** At most so many a second on average, with a burst. */
  | { readonly is: 'limit'; readonly perSecond: number; readonly burst: number }
  | { readonly is: 'notrack' }
  | {
      readonly is: 'set-mark';
      readonly target: 'mark' | 'ct mark';
      readonly value: number;
      /** The bits that are set; all when absent. */
      readonly mask?: number;
    }
  | { readonly is: 'accept' | 'drop' | 'return' }
  | { readonly is: 'jump' | 'goto'; readonly chain: string };

export interface RuleDeclaration {
  readonly statements: readonly Statement[];
  /** Kept with the rule, as nft's own comments are: at most 128 bytes. */
  readonly comment?: string;
}

export interface BaseChain {
  readonly type: 'filter' | 'nat' | 'route';
  readonly hook: 'prerouting' | 'input' | 'forward' | 'output' | 'postrouting';
  readonly priority: number;
  readonly policy?: 'accept' | 'drop';
}

export interface ChainDeclaration {
  readonly name: string;
  /** Absent: a chain that is only jumped to. */
  readonly base?: BaseChain | undefined;
  readonly rules: readonly RuleDeclaration[];
}

/** A named set or map. */
export interface SetDeclaration {
  readonly name: string;
  readonly key: readonly PlainType[];
  /** Elements are intervals (`ipv4_interval`): the key is one address type. */
  readonly interval?: boolean;
  /** Of a map: the type of its data, or `verdict`. */
  readonly data?: readonly PlainType[] | 'verdict';
  readonly comment?: string;
}
