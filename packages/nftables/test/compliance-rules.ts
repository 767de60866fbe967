/** Requirements on transactions of whole tables, for the kernel and for the fake alike. */
import assert from 'node:assert/strict';
import {
  type ChainDeclaration,
  type Command,
  digestRule,
  isChainAsDeclared,
  type Nftables,
  type NftablesError,
  type SetDeclaration,
  type Statement,
} from '@podwire/nftables';
import type { Requirement } from './compliance-intervals.js';

const family = 'inet';
const place = { family, table: 'rules' } as const;

const peers: SetDeclaration = { name: 'peers', key: ['ipv4_addr'] };
const links: SetDeclaration = { name: 'links', key: ['ifname'], data: 'verdict' };
const marks: SetDeclaration = { name: 'marks', key: ['ifname'], data: ['mark'] };
const nets: SetDeclaration = { name: 'nets', key: ['ipv6_addr'], interval: true };

const lookUp = (set: string): Statement => ({ is: 'lookup', fields: ['ip saddr'], set });

const chain = (name: string, ...rules: readonly (readonly Statement[])[]): ChainDeclaration => ({
  name,
  rules: rules.map((statements, number) => ({ statements, comment: `${name} ${number}` })),
});

const base: ChainDeclaration = {
  ...chain('base', [{ is: 'vmap', fields: ['iifname'], map: 'links' }]),
  base: { type: 'filter', hook: 'forward', priority: -5, policy: 'drop' },
};
const web = chain(
  'web',
  [lookUp('peers'), { is: 'counter' }, { is: 'accept' }],
  [{ is: 'jump', chain: 'last' }],
);
const last = chain('last', [{ is: 'drop' }]);

const set = (declared: SetDeclaration): Command => ({ op: 'add-set', ...place, set: declared });
const put = (declared: ChainDeclaration): Command => ({ op: 'put-chain', ...place, chain: declared });
const drop = (op: 'delete-chain' | 'delete-set', name: string): Command => ({ op, ...place, name });
const link = (op: 'add' | 'destroy' | 'replace', name: string, target = 'web'): Command => ({
  ...{ op, ...place, set: 'links' },
  key: [{ type: 'ifname', value: name }],
  verdict: { verdict: 'goto', chain: target },
});

/** In the worst order: what refers to something stands in front of it. */
const everything: readonly Command[] = [
  link('add', 'cali1'),
  ...[put(base), put(web), put(last)],
  ...[set(links), set(peers), set(marks), set(nets)],
  { op: 'add-table', family, name: 'rules' },
];

function refused(work: () => void, code: string, index: number): void {
  let caught: unknown;
  assert.throws(work, (error) => ((caught = error), true));
  const { code: found, message, failures } = caught as NftablesError;
  assert.equal(found, code, message);
  assert.ok(
    failures.some((failure) => failure.index === index),
    message,
  );
}

const chainsOf = (nftables: Nftables): string[] =>
  nftables
    .listChains(family, 'rules')
    .map(({ name }) => name)
    .sort();

const setsOf = (nftables: Nftables): string[] =>
  nftables
    .listSets(family, 'rules')
    .map(({ name }) => name)
    .sort();

const withRules = (name: string, check: (nftables: Nftables) => void): Requirement => ({
  name: `transactions: ${name}`,
  check: (nftables) => {
    nftables.transact(everything);
    check(nftables);
    return Promise.resolve();
  },
});

export const ruleRequirements: readonly Requirement[] = [
  withRules('a table is made at once, in whatever order it is told', (nftables) => {
    const found = nftables.listChains(family, 'rules');
    for (const wanted of [base, web, last]) {
      const state = found.find(({ name }) => name === wanted.name)!;
      assert.ok(isChainAsDeclared(state, wanted), JSON.stringify(state));
      assert.deepEqual(nftables.getChain({ ...place, chain: wanted.name }), state);
      assert.deepEqual(state.rules, wanted.rules.map(digestRule));
    }
    const bySet = new Map(nftables.listSets(family, 'rules').map((one) => [one.name, one]));
    for (const wanted of [peers, links, marks, nets]) {
      assert.deepEqual(bySet.get(wanted.name), wanted);
      assert.deepEqual(nftables.getSet({ ...place, set: wanted.name }), wanted);
    }
    assert.equal(nftables.getChain({ ...place, chain: 'absent' }), undefined);
    assert.equal(nftables.getSet({ ...place, set: 'absent' }), undefined);
    assert.deepEqual(nftables.listChains(family, 'absent'), []);
    assert.deepEqual(nftables.listSets(family, 'absent'), []);
    assert.deepEqual(nftables.readCounters(family, 'absent'), []);
    assert.equal(nftables.getChain({ family, table: 'absent', chain: 'web' }), undefined);
  }),

  withRules('the same again changes nothing that can be seen', (nftables) => {
    const before = nftables.listChains(family, 'rules');
    nftables.transact(everything);
    assert.deepEqual(nftables.listChains(family, 'rules'), before);
    assert.equal(nftables.listElements(family, 'rules', 'links').length, 1);
  }),

  withRules('a chain is replaced whole, and so is a hook', (nftables) => {
    const other = chain('web', [{ is: 'drop' }]);
    const moved: ChainDeclaration = { ...base, base: { ...base.base!, priority: 7 } };
    const lenient: ChainDeclaration = { ...base, base: { ...base.base!, policy: 'accept' } };
    for (const wanted of [moved, lenient, base]) {
      nftables.transact([put(other), put(wanted)]);
      assert.ok(isChainAsDeclared(nftables.getChain({ ...place, chain: 'base' })!, wanted));
    }
    const state = nftables.getChain({ ...place, chain: 'web' })!;
    assert.ok(isChainAsDeclared(state, other));
    assert.ok(!isChainAsDeclared(state, web));
  }),

  withRules('what a removed chain referred to can go with it', (nftables) => {
    nftables.transact([
      ...[drop('delete-set', 'peers'), drop('delete-chain', 'last'), drop('delete-chain', 'web')],
      link('destroy', 'cali1'),
      drop('delete-set', 'absent'),
      drop('delete-chain', 'absent'),
    ]);
    assert.deepEqual(chainsOf(nftables), ['base']);
    assert.deepEqual(setsOf(nftables), ['links', 'marks', 'nets']);
  }),

  withRules('one refusal keeps everything as it was', (nftables) => {
    const before = nftables.listChains(family, 'rules');
    const changed = put(chain('last', [{ is: 'accept' }]));
    refused(() => nftables.transact([changed, drop('delete-chain', 'web')]), 'EBUSY', 1);
    refused(() => nftables.transact([changed, drop('delete-set', 'peers')]), 'EBUSY', 1);
    refused(() => nftables.transact([changed, put(chain('web', [lookUp('absent')]))]), 'ENOENT', 1);
    refused(
      () => nftables.transact([changed, put(chain('web', [{ is: 'jump', chain: 'absent' }]))]),
      'ENOENT',
      1,
    );
    refused(() => nftables.transact([changed, link('add', 'cali2', 'absent')]), 'ENOENT', 1);
    refused(() => nftables.transact([changed, set({ ...peers, key: ['ipv6_addr'] })]), 'EEXIST', 1);
    assert.deepEqual(nftables.listChains(family, 'rules'), before);
    assert.deepEqual(setsOf(nftables), ['links', 'marks', 'nets', 'peers']);
  }),

  withRules('what cannot be written is refused before anything is sent', (nftables) => {
    const generation = nftables.generation();
    const wrong: readonly Statement[] = [
      { is: 'match', field: 'ip saddr', value: 'fd00::1' },
      { is: 'match', field: 'ip saddr', value: '10.0.0.1/8' },
      { is: 'match', field: 'iifname', value: 'a-name-that-is-too-long' },
      { is: 'match', field: 'th dport', value: 65_536 },
      { is: 'match', field: 'l4proto', value: 'unheard-of' },
      { is: 'match', field: 'th dport', value: 1, mask: 1 },
      { is: 'match', field: 'icmp type', value: 256 },
      { is: 'match', field: 'fib daddr type', value: 'far' },
      { is: 'range', field: 'ip saddr', first: 1, last: 2 },
      { is: 'range', field: 'th dport', first: 2, last: 1 },
      { is: 'lookup', fields: [], set: 'peers' },
      { is: 'lookup', fields: ['ip saddr', 'ip6 daddr'], set: 'peers' },
    ];
    for (const statement of wrong)
      assert.throws(() => nftables.transact([put(chain('web', [statement]))]), /^RangeError: add rule /);
    const long = { ...chain('web'), rules: [{ statements: [], comment: 'x'.repeat(129) }] };
    assert.throws(() => nftables.transact([put(long)]), RangeError);
    assert.throws(() => nftables.transact([set({ ...marks, interval: true })]), RangeError);
    assert.throws(() => nftables.transact([set({ name: 'empty', key: [] })]), RangeError);
    assert.equal(nftables.generation(), generation);
  }),

  withRules('rules that count are known by their place and comment', (nftables) => {
    assert.deepEqual(nftables.readCounters(family, 'rules'), [
      { chain: 'web', index: 0, packets: 0n, bytes: 0n, comment: 'web 0' },
    ]);
  }),

  withRules('a table goes with everything in it', (nftables) => {
    nftables.transact([{ op: 'delete-table', family, name: 'rules' }]);
    assert.deepEqual(nftables.listTables(), []);
    nftables.transact([{ op: 'delete-table', family, name: 'rules' }]);
  }),
];
