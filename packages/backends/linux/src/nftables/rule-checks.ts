/** Checks of sets and chains that are read from a file. */
import type { SetDeclaration, Statement } from '@podwire/nftables';
import * as is from '../checks.js';

const number = is.count;
const operator = is.optional(is.oneOf('==', '!='));
const valueTypes = ['ipv4_addr', 'ipv6_addr', 'inet_service', 'inet_proto', 'ifname', 'mark'] as const;
const valueType = is.oneOf(...valueTypes);

const field = is.oneOf(
  ...['iifname', 'oifname', 'nfproto', 'l4proto', 'mark', 'ip saddr', 'ip daddr', 'ip6 saddr', 'ip6 daddr'],
  ...['th sport', 'th dport', 'icmp type', 'icmp code', 'icmpv6 type', 'icmpv6 code', 'ct mark'],
  ...['fib daddr type', 'fib saddr type'],
);
const fields = is.listOf(field, 1);

const fieldValue: is.Check = (value) =>
  is.text(value) === undefined || number(value) === undefined ? undefined : 'neither a text nor a number';

/** By what the statement is; the compiler misses none. */
const statements: Readonly<Record<Statement['is'], is.Check>> = {
  match: is.record({ field, op: operator, value: fieldValue, mask: is.optional(number) }),
  range: is.record({ field, op: operator, first: number, last: number }),
  'ct-state': is.record({
    states: is.listOf(is.oneOf('established', 'related', 'new', 'invalid', 'untracked'), 1),
  }),
  'ct-status': is.record({ status: is.oneOf('dnat', 'snat') }),
  lookup: is.record({ fields, set: is.text, negate: is.optional(is.flag) }),
  vmap: is.record({ fields, map: is.text }),
  counter: is.record({}),
  log: is.record({ group: is.port, prefix: is.text, snaplen: is.optional(number) }),
  limit: is.record({ perSecond: number, burst: number }),
  notrack: is.record({}),
  'set-mark': is.record({ target: is.oneOf('mark', 'ct mark'), value: number, mask: is.optional(number) }),
  accept: is.record({}),
  drop: is.record({}),
  return: is.record({}),
  jump: is.record({ chain: is.text }),
  goto: is.record({ chain: is.text }),
};

const rule = is.record({
  statements: is.listOf(is.variants('is', statements), 1),
  comment: is.optional(is.text),
});

const base = is.record({
  type: is.oneOf('filter', 'nat', 'route'),
  hook: is.oneOf('prerouting', 'input', 'forward', 'output', 'postrouting'),
  priority: (value) => (Number.isSafeInteger(value) ? undefined : 'no whole number'),
  policy: is.optional(is.oneOf('accept', 'drop')),
});

export const chainCheck = is.record({ name: is.text, base: is.optional(base), rules: is.listOf(rule) });

const data: is.Check = (value) => (value === 'verdict' ? undefined : is.listOf(valueType, 1)(value));

export const setCheck = is.record({
  ...{ name: is.text, key: is.listOf(valueType, 1), interval: is.optional(is.flag) },
  ...{ data: is.optional(data), comment: is.optional(is.text) },
} satisfies Record<keyof SetDeclaration, is.Check>);
