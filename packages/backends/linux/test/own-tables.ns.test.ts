/** Tables of our own, where other programs have a hand in them. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type Changes, createEngine, type Engine, type Owned, type Resource } from '@podwire/engine';
import type { Statement } from '@podwire/nftables';
import { createPrivateHost, type PrivateHost } from '@podwire/testkit';
import { createLinuxBackends, openKernel } from '../src/index.js';
import { call } from './call.js';

const place = { family: 'inet', table: 'podwire-policy' } as const;
const table = 'inet podwire-policy';

const chainOf = (name: string, ...rules: readonly (readonly Statement[])[]): Resource => ({
  ...{ kind: 'nft-chain', ...place },
  chain: { name, rules: rules.map((statements) => ({ statements })) },
});

const peer = (address: string): Resource => ({
  ...{ kind: 'nft-element', ...place, set: 'peers' },
  key: [{ type: 'ipv4_addr', value: address }],
});

const web = chainOf(
  'web',
  [{ is: 'lookup', fields: ['ip saddr'], set: 'peers' }, { is: 'accept' }],
  [{ is: 'jump', chain: 'last' }],
);

const policy: Owned = {
  owner: 'policy',
  resources: [
    { kind: 'nft-own-table', family: 'inet', name: 'podwire-policy' },
    { ...{ kind: 'nft-set', ...place }, set: { name: 'links', key: ['ifname'], data: 'verdict' } },
    { ...{ kind: 'nft-set', ...place }, set: { name: 'peers', key: ['ipv4_addr'] } },
    {
      ...{ kind: 'nft-chain', ...place },
      chain: {
        name: 'forward',
        base: { type: 'filter', hook: 'forward', priority: 0 },
        rules: [{ statements: [{ is: 'vmap', fields: ['iifname'], map: 'links' }] }],
      },
    },
    web,
    chainOf('last', [{ is: 'counter' }, { is: 'drop' }]),
    peer('10.9.0.1'),
    {
      ...{ kind: 'nft-element', ...place, set: 'links', chain: 'web' },
      key: [{ type: 'ifname', value: 'cali1' }],
    },
  ],
};

let host: PrivateHost;
let engine: Engine;
let heard: Changes;

before(async () => {
  host = await createPrivateHost({ name: 'tables' });
  const kernel = openKernel(host.namespace);
  const backends = createLinuxBackends(kernel);
  engine = createEngine({ backends });
  const [feed] = backends.find(({ name }) => name === 'nftables')!.changes!;
  heard = feed!.open();
});
after(async () => {
  heard?.close();
  await engine?.close();
  await host?.close();
});
beforeEach(async () => engine.reconcile([policy], call()));

const nft = async (script: string): Promise<string> =>
  host.namespace.run(['nft', '-f', '-'], { input: script });
const listing = async (): Promise<string> => host.namespace.run(['nft', 'list', 'ruleset']);
const driftsOf = async (): Promise<string[]> =>
  (await engine.verify(policy, call())).map(({ detail }) => detail);

describe('what others do to a table of our own is found, repaired and pruned', () => {
  const harms: Readonly<Record<string, readonly [string, readonly string[]]>> = {
    'a rule is added': [`add rule ${table} web drop`, ['chain web of inet podwire-policy has other rules']],
    'a rule is inserted': [
      `insert rule ${table} web drop`,
      ['chain web of inet podwire-policy has other rules'],
    ],
    'a chain is flushed': [
      `flush chain ${table} last`,
      ['chain last of inet podwire-policy has other rules'],
    ],
    'the same rule is written anew': [
      `flush chain ${table} last\nadd rule ${table} last counter drop`,
      ['chain last of inet podwire-policy has other rules'],
    ],
    'an element is deleted': [
      `delete element ${table} peers { 10.9.0.1 }`,
      ['set peers: 10.9.0.1 is not in it'],
    ],
    'a verdict is another one': [
      `delete element ${table} links { "cali1" }\nadd element ${table} links { "cali1" : jump last }`,
      ['set links: cali1 has another value'],
    ],
    'a hook lets everything through': [
      `delete chain ${table} forward`,
      ['chain forward of inet podwire-policy is not there'],
    ],
    'an element, a chain and a set are added': [
      [
        `add element ${table} peers { 192.0.2.1 }`,
        `add set ${table} odd { type ether_addr; elements = { 02:00:00:00:00:01 } }`,
        `add chain ${table} foreign { type filter hook input priority 0; }`,
        `add rule ${table} foreign ether saddr @odd drop`,
      ].join('\n'),
      [],
    ],
  };
  for (const [name, [script, expected]] of Object.entries(harms)) {
    test(name, async () => {
      const before = await listing();
      heard.read();
      await nft(script);
      assert.ok(
        heard.read().hints.some(({ keys }) => keys.includes(`nft-table ${table}`)),
        'nothing was heard',
      );
      assert.deepEqual(await driftsOf(), expected);
      const changes = await engine.reconcile([policy], call());
      assert.deepEqual(
        changes.filter(({ action }) => action === 'failed'),
        [],
      );
      assert.ok(changes.length > 0);
      assert.deepEqual(await driftsOf(), []);
      assert.deepEqual(await engine.reconcile([policy], call()), []);
      assert.deepEqual(sorted(await listing()), sorted(before));
      assert.deepEqual(heard.read().hints, [], 'our own repair was heard');
    });
  }

  test('the whole table is deleted', async () => {
    const before = await listing();
    await nft(`delete table ${table}`);
    assert.equal((await driftsOf()).length, policy.resources.length);
    const changes = await engine.reconcile([policy], call());
    assert.ok(changes.every(({ action }) => action === 'repaired'));
    assert.deepEqual(sorted(await listing()), sorted(before));
  });
});

/** Elements and chains have no order of use. */
const sorted = (text: string): string[] => text.split('\n').sort();

test('ten thousand addresses and a thousand rules come and go in one change', async () => {
  const addresses = Array.from({ length: 10_000 }, (_, n) => peer(`10.${20 + (n >> 8)}.${n & 255}.1`));
  const rules = Array.from({ length: 1_000 }, (_, n): readonly Statement[] => [
    { is: 'match', field: 'th dport', value: n },
    { is: 'drop' },
  ]);
  const many = [chainOf('many', ...rules), chainOf('web', [{ is: 'goto', chain: 'many' }]), ...addresses];
  await engine.change({ owner: 'policy' }, { replace: many }, call());
  assert.deepEqual(await engine.verify({ owner: 'policy', resources: many }, call()), []);
  await engine.change({ owner: 'policy' }, { replace: [web], remove: many }, call());
  assert.deepEqual(await driftsOf(), []);
  assert.deepEqual(await engine.reconcile([policy], call()), []);
});

test('a list that has its table is removed with the table alone', async () => {
  await engine.remove(policy, call());
  assert.equal(await listing(), '');
});
