/** The oracle of rules that are written without nft is nft: what it lists, and what it would have made of the same text. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import {
  createNamespace,
  deleteNamespace,
  type NamespaceHandle,
  openNamespace,
  warmThreadPool,
} from '@podwire/linux';
import {
  type ChainDeclaration,
  type Command,
  describeRule,
  loadRuleset,
  type Nftables,
  openNftables,
  type RuleDeclaration,
  type SetDeclaration,
  type Statement,
} from '@podwire/nftables';
import { runNft } from '../src/program.js';
import { deadline } from './deadline.js';

const file = `/run/netns/pw-nft-rules-${process.pid}`;
let namespace: NamespaceHandle;
let nftables: Nftables;

before(async () => {
  await warmThreadPool();
  createNamespace(file);
  namespace = openNamespace(file);
  nftables = openNftables({ namespace });
});

after(() => {
  nftables?.close();
  namespace?.close();
  deleteNamespace(file);
});

beforeEach(() => nftables.deleteTable('inet', 'r'));

const sets: readonly SetDeclaration[] = [
  { name: 'four', key: ['ipv4_addr'], comment: 'peers of web' },
  { name: 'nets', key: ['ipv4_addr'], interval: true },
  { name: 'six', key: ['ipv6_addr'] },
  { name: 'served', key: ['ipv4_addr', 'inet_proto', 'inet_service'] },
  { name: 'sources', key: ['ifname', 'ipv4_addr'] },
  { name: 'profiles', key: ['ifname'], data: ['mark'] },
  { name: 'rewrites', key: ['inet_proto', 'inet_service'], data: ['ipv4_addr', 'inet_service'] },
  { name: 'verdicts', key: ['mark'], data: 'verdict' },
  { name: 'links', key: ['ifname'], data: 'verdict' },
];

const drop: Statement = { is: 'drop' };
const accept: Statement = { is: 'accept' };

/** Statements, and how nft writes them where it is not as they are described. */
const cases: readonly (readonly [readonly Statement[], string?])[] = [
  [[{ is: 'match', field: 'ip saddr', value: '10.1.2.3' }, accept]],
  [[{ is: 'match', field: 'ip saddr', value: '10.0.0.0/8' }, { is: 'counter' }, accept]],
  [[{ is: 'match', field: 'ip daddr', op: '!=', value: '10.0.0.0/12' }, drop]],
  [[{ is: 'match', field: 'ip6 saddr', value: 'fd00::/64' }, drop]],
  [[{ is: 'match', field: 'ip6 daddr', op: '!=', value: 'fd00::/61' }, drop]],
  [[{ is: 'match', field: 'ip6 daddr', value: 'fd00::1' }, drop]],
  [
    [
      { is: 'match', field: 'iifname', value: 'cali*' },
      { is: 'jump', chain: 'plain' },
    ],
  ],
  [
    [
      { is: 'match', field: 'oifname', value: 'eth0' },
      { is: 'goto', chain: 'plain' },
    ],
  ],
  [[{ is: 'match', field: 'oifname', op: '!=', value: 'cali*' }, { is: 'return' }]],
  [
    [{ is: 'match', field: 'l4proto', value: 'tcp' }, { is: 'match', field: 'th dport', value: 80 }, accept],
    'tcp dport 80 accept',
  ],
  [
    [
      { is: 'match', field: 'l4proto', value: 'sctp' },
      { is: 'range', field: 'th dport', first: 80, last: 90 },
      accept,
    ],
    'sctp dport 80-90 accept',
  ],
  [[{ is: 'range', field: 'th dport', op: '!=', first: 1, last: 5 }, drop]],
  [[{ is: 'range', field: 'th sport', first: 1024, last: 65535 }, drop]],
  [[{ is: 'ct-state', states: ['established', 'related'] }, accept]],
  [[{ is: 'ct-state', states: ['invalid'] }, drop]],
  [[{ is: 'ct-state', states: ['new', 'untracked'] }, accept]],
  [[{ is: 'ct-status', status: 'dnat' }, accept]],
  [[{ is: 'lookup', fields: ['ip saddr'], set: 'four' }, accept]],
  [[{ is: 'lookup', fields: ['ip saddr'], set: 'four', negate: true }, drop]],
  [[{ is: 'lookup', fields: ['ip daddr'], set: 'nets' }, accept]],
  [[{ is: 'lookup', fields: ['ip6 saddr'], set: 'six' }, accept]],
  [[{ is: 'lookup', fields: ['ip daddr', 'l4proto', 'th dport'], set: 'served' }, accept]],
  [[{ is: 'lookup', fields: ['iifname', 'ip saddr'], set: 'sources', negate: true }, drop]],
  [[{ is: 'vmap', fields: ['iifname'], map: 'links' }]],
  [[{ is: 'match', field: 'icmp type', value: 8 }, accept], 'icmp type echo-request accept'],
  [[{ is: 'match', field: 'icmp code', value: 1 }, accept], 'icmp code host-unreachable accept'],
  [[{ is: 'match', field: 'icmpv6 type', value: 135 }, accept], 'icmpv6 type nd-neighbor-solicit accept'],
  [[{ is: 'range', field: 'icmpv6 type', first: 133, last: 137 }, accept], 'icmpv6 type 133-137 accept'],
  [
    [
      { is: 'limit', perSecond: 10, burst: 20 },
      { is: 'log', group: 5, prefix: 'default/web', snaplen: 64 },
    ],
    'limit rate 10/second burst 20 packets log prefix "default/web" group 5 snaplen 64',
  ],
  [[{ is: 'notrack' }]],
  [[{ is: 'match', field: 'fib daddr type', value: 'local' }, accept]],
  [[{ is: 'match', field: 'fib saddr type', op: '!=', value: 'local' }, drop]],
  [[{ is: 'set-mark', target: 'mark', value: 0x10 }]],
  [[{ is: 'set-mark', target: 'mark', value: 3, mask: 0xf }]],
  [[{ is: 'set-mark', target: 'ct mark', value: 0x20, mask: 0xff }]],
  [[{ is: 'match', field: 'mark', value: 7 }, { is: 'return' }]],
  [[{ is: 'match', field: 'mark', value: 0x10, mask: 0xf0 }, accept]],
  [[{ is: 'match', field: 'ct mark', op: '!=', value: 0x10, mask: 0xf0 }, accept]],
  [[{ is: 'match', field: 'nfproto', value: 'ipv6' }, drop]],
  [[{ is: 'match', field: 'l4proto', op: '!=', value: 'tcp' }, drop]],
];

const base = { type: 'filter', hook: 'forward', priority: 0, policy: 'accept' } as const;

function commandsFor(chains: readonly ChainDeclaration[]): Command[] {
  const place = { family: 'inet', table: 'r' } as const;
  return [
    { op: 'add-table', family: 'inet', name: 'r' },
    ...sets.map((set): Command => ({ op: 'add-set', ...place, set })),
    ...chains.map((chain): Command => ({ op: 'put-chain', ...place, chain })),
  ];
}

async function list(...what: string[]): Promise<string> {
  return await runNft(['list', ...what], '', { ...deadline(), namespace });
}

/** The lines of a chain in a listing, without counts. */
function rulesIn(listing: string, chain: string): string[] {
  const lines = listing.split('\n').map((line) => line.trim().replace(/ packets \d+ bytes \d+/g, ''));
  const start = lines.indexOf(`chain ${chain} {`);
  return lines.slice(start + 1, lines.indexOf('}', start)).filter((line) => !line.startsWith('type '));
}

describe('rules that are written through netlink', () => {
  const rules = cases.map(([statements], n): RuleDeclaration => ({ statements, comment: `rule ${n}` }));
  const chains: ChainDeclaration[] = [
    { name: 'main', base, rules },
    { name: 'plain', rules: [] },
  ];
  const expected = cases.map(
    ([statements, text], n) => `${text ?? describeRule({ statements })} comment "rule ${n}"`,
  );

  it('are listed by nft as they were meant', async () => {
    nftables.transact(commandsFor(chains));
    assert.deepEqual(rulesIn(await list('table', 'inet', 'r'), 'main'), expected.map(inWordsOfNft));
  });

  it('are the instructions that nft makes of the same text', async () => {
    nftables.transact(commandsFor(chains));
    const instructions = async (): Promise<string> => {
      const debugged = await runNft(['--debug=netlink', 'list', 'table', 'inet', 'r'], '', {
        ...deadline(),
        namespace,
      });
      return debugged
        .slice(0, debugged.indexOf('\ntable '))
        .replace(/^\s*userdata = .*$/gm, '')
        .replace(/^(inet r main) .*$/gm, '$1')
        .replace(/\n+/g, '\n');
    };
    const ours = await instructions();
    const listing = await list('table', 'inet', 'r');
    await loadRuleset(`flush chain inet r main\ndelete table inet r\n${listing}`, {
      ...deadline(),
      namespace,
    });
    const theirs = await instructions();
    assert.equal(ours, theirs);
  });

  it('are read back by their digests, with their hook', () => {
    nftables.transact(commandsFor(chains));
    const states = nftables.listChains('inet', 'r');
    assert.deepEqual(states.map(({ name }) => name).sort(), ['main', 'plain']);
    const main = nftables.getChain({ family: 'inet', table: 'r', chain: 'main' });
    assert.deepEqual(
      main,
      states.find(({ name }) => name === 'main'),
    );
    assert.deepEqual(main?.base, base);
    assert.equal(new Set(main?.rules).size, cases.length);
  });
});

/** Where it shows the bits that are kept together with those that are set. */
function inWordsOfNft(text: string): string {
  return text.replace('0xfffffff0 |', '0xfffffff3 |').replace('0xffffff00 |', '0xffffff20 |');
}
