/** Cases about whole tables that only the real kernel and the real nft can show. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import {
  createNamespace,
  deleteNamespace,
  type NamespaceHandle,
  openNamespace,
  warmThreadPool,
} from '@podwire/linux';
import { digestTable, type ElementChange, loadRuleset, type Nftables, openNftables } from '@podwire/nftables';
import { runNft } from '../src/program.js';
import { deadline } from './deadline.js';

const file = `/run/netns/pw-nft-table-${process.pid}`;
const body = `
  map ports { type inet_proto . inet_service : ipv4_addr . inet_service; }
  map verdicts { type ifname : verdict; }
  counter seen { }
  chain regular { counter name seen; }
  chain base { type filter hook forward priority filter; policy accept; iifname vmap @verdicts; }
  chain nat { type nat hook prerouting priority dstnat; dnat ip to meta l4proto . th dport map @ports; }
`;
const table = { family: 'inet', name: 't', body } as const;

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

beforeEach(async () => {
  await nftables.applyTable(table, deadline());
});

afterEach(() => nftables.deleteTable('inet', 't'));

const digest = (): string | undefined => nftables.tableDigest('inet', 't');

function port(op: ElementChange['op'], number: number, address = '10.0.0.1'): ElementChange {
  return {
    op,
    family: 'inet',
    table: 't',
    set: 'ports',
    key: [
      { type: 'inet_proto', value: 'tcp' },
      { type: 'inet_service', value: number },
    ],
    value: [
      { type: 'ipv4_addr', value: address },
      { type: 'inet_service', value: 80 },
    ],
  };
}

/** A change by another program with nft. */
async function nft(script: string): Promise<void> {
  await loadRuleset(script, { ...deadline(), namespace });
}

async function listing(...what: string[]): Promise<string> {
  return await runNft(['list', ...what], '', { ...deadline(), namespace });
}

describe('the digest of a table', () => {
  const alterations = {
    'a rule is added': 'add rule inet t regular drop',
    'a rule is inserted': 'insert rule inet t base drop',
    'a chain is flushed': 'flush chain inet t regular',
    'all chains are flushed': 'flush table inet t',
    'a chain is added': 'add chain inet t another',
    'a policy is changed': 'chain inet t base { policy drop; }',
    'a set is added': 'add set inet t another { type mark; }',
    'a set is made anew': `flush table inet t
      delete map inet t ports
      add map inet t ports { type inet_proto . inet_service : ipv4_addr . inet_service; }`,
    'an object is added': 'add counter inet t another',
    'the table is made anew': `delete table inet t
      table inet t { ${body} }`,
  };
  for (const [what, script] of Object.entries(alterations)) {
    it(`is unknown when ${what}, until the table is applied anew`, async () => {
      const untouched = await listing('table', 'inet', 't');
      assert.equal(digest(), digestTable(table));
      await nft(`${script}\n`);
      assert.equal(digest(), undefined);
      assert.equal((await nftables.applyTable(table, deadline())).changed, true);
      assert.equal(digest(), digestTable(table));
      assert.equal(anonymous(await listing('table', 'inet', 't')), anonymous(untouched));
    });
  }

  it('stays while elements and other tables change', async () => {
    nftables.change([port('add', 80)]);
    await nft(
      'add element inet t ports { tcp . 81 : 10.0.0.1 . 81 }\nadd table ip other\ndelete table ip other\n',
    );
    assert.equal(digest(), digestTable(table));
  });

  it('is read by another connection too', () => {
    const other = openNftables({ namespace });
    assert.equal(other.tableDigest('inet', 't'), digestTable(table));
    other.close();
  });
});

/** Without the seal, which names handles. Sets made anew are listed last. */
function anonymous(text: string): string {
  return text
    .replace(/\tset structure_seal \{[^]*?\n\t\}\n/, '')
    .split('\n\n')
    .map((block) => block.trim())
    .sort()
    .join('\n');
}

describe('applying a table', () => {
  it('changes hooks, priorities and kinds of chains', async () => {
    const other = body
      .replace('hook forward priority filter', 'hook input priority 7')
      .replace('chain regular {', 'chain regular { type filter hook output priority 0;');
    await nftables.applyTable({ ...table, body: other }, deadline());
    const text = await listing('table', 'inet', 't');
    assert.match(text, /hook input priority filter \+ 7/);
    assert.match(text, /hook output priority filter/);
  });

  it('removes what is no longer declared, and its objects', async () => {
    nftables.change([port('add', 80)]);
    const less = body
      .replace(/chain regular.*\n/, '')
      .replace(/counter seen.*\n/, '')
      .replace(/chain nat.*\n/, '');
    assert.deepEqual(await nftables.applyTable({ ...table, body: less }, deadline()), {
      changed: true,
      recreated: [],
      emptied: [],
    });
    assert.doesNotMatch(await listing('table', 'inet', 't'), /regular|seen|nat/);
    assert.deepEqual(nftables.hasElements([port('add', 80)]), [true]);
  });

  it('carries over contents that only nft understands', async () => {
    const declare = (size: number) =>
      `set nets { type ipv4_addr; flags interval; size ${size}; }
       set fading { type ether_addr; flags timeout; size ${size}; }
       map verdicts { type ifname : verdict; size ${size}; }
       map named { type ipv4_addr . inet_service : counter; size ${size}; }
       counter c { }
       chain regular { }`;
    await nftables.applyTable({ ...table, body: declare(10) }, deadline());
    await nft(`add element inet t nets { 10.0.0.0/8, 192.0.2.1-192.0.2.9 comment "a } few; # of them" }
      add element inet t fading { aa:bb:cc:dd:ee:ff timeout 1h }
      add element inet t verdicts { "eth0" : jump regular, "lo" : accept }
      add element inet t named { 10.0.0.1 . 53 : "c" }\n`);
    const before = await listing('table', 'inet', 't');
    const applied = await nftables.applyTable({ ...table, body: declare(20) }, deadline());
    assert.deepEqual(applied.emptied, []);
    assert.deepEqual([...applied.recreated].sort(), ['fading', 'named', 'nets', 'verdicts']);
    const later = (text: string) => anonymous(text).replace(/expires \S+/g, 'expires later');
    assert.equal(later(await listing('table', 'inet', 't')), later(before.replaceAll('size 10', 'size 20')));
  });

  it('adopts a table that another program has made, with its contents', async () => {
    nftables.deleteTable('inet', 't');
    await nft(`table inet t {
      map ports { type inet_proto . inet_service : ipv4_addr . inet_service; elements = { tcp . 80 : 10.0.0.1 . 80 } }
      set foreign { type mark; elements = { 1 } }
      chain foreign { drop; }
    }\n`);
    const applied = await nftables.applyTable(table, deadline());
    assert.deepEqual(applied, { changed: true, recreated: ['ports'], emptied: ['foreign'] });
    assert.deepEqual(nftables.hasElements([port('add', 80)]), [true]);
    assert.doesNotMatch(await listing('table', 'inet', 't'), /foreign/);
  });

  it('leaves everything as it was when nft refuses', async () => {
    nftables.change([port('add', 80)]);
    const before = await listing('table', 'inet', 't');
    const refused = {
      ...table,
      body: `${body.replace('map ports {', 'map ports { size 9;')}\n  chain bad { jump nowhere; }\n`,
    };
    await assert.rejects(nftables.applyTable(refused, deadline()), {
      code: 'ENOENT',
      message: /chain bad \{ jump nowhere; \}/,
    });
    assert.equal(await listing('table', 'inet', 't'), before);
    assert.equal(digest(), digestTable(table));
  });

  it('loses no change that is made meanwhile', async () => {
    const many = Array.from({ length: 1_000 }, (_, n) => port('add', n));
    nftables.change(many);
    const other = { ...table, body: body.replace('map ports {', 'map ports { size 60000;') };
    let done = false;
    const applied = nftables.applyTable(other, deadline()).finally(() => (done = true));
    let made = 0;
    while (!done) {
      nftables.change([
        port('create', 10_000 + made),
        port('delete', made),
        port('replace', 999, `10.1.0.${made % 250}`),
      ]);
      made++;
      // nft starts over whenever a transaction gets in between, so there has to be room for one of its own.
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.deepEqual((await applied).recreated, ['ports']);
    const found = nftables.listElements('inet', 't', 'ports').map(({ key }) => Number(key[1]!.value));
    const expected = [
      ...Array.from({ length: 1_000 - made }, (_, n) => made + n),
      ...Array.from({ length: made }, (_, n) => 10_000 + n),
    ];
    assert.ok(made > 1, `only ${made} changes were made meanwhile`);
    assert.deepEqual(
      found.sort((a, b) => a - b),
      expected,
    );
    assert.deepEqual(nftables.hasElements([port('add', 999, `10.1.0.${(made - 1) % 250}`)]), [true]);
  });

  it('happens one after the other', async () => {
    const bodies = Array.from({ length: 5 }, (_, n) => `${body}\n  chain extra${n} { }\n`);
    await Promise.all(bodies.map((one) => nftables.applyTable({ ...table, body: one }, deadline())));
    assert.equal(digest(), digestTable({ ...table, body: bodies[4]! }));
    assert.match(await listing('table', 'inet', 't'), /extra4/);
    assert.doesNotMatch(await listing('table', 'inet', 't'), /extra[0-3]/);
  });

  it('goes on after one that failed', async () => {
    const failing = nftables.applyTable({ ...table, body: 'nonsense' }, deadline());
    const good = nftables.applyTable({ ...table, body: 'chain only { }' }, deadline());
    await assert.rejects(failing, { code: 'ENFT' });
    assert.equal((await good).changed, true);
  });
});

describe('showing a table', () => {
  it('gives what libnftables-json(5) says', async () => {
    nftables.change([port('add', 80)]);
    const objects = await nftables.listRuleset('inet', 't', deadline());
    const map = objects.find((object) =>
      JSON.stringify(object).startsWith('{"map":{"family":"inet","name":"ports"'),
    );
    assert.match(JSON.stringify(map), /\{"concat":\["tcp",80\]\}/);
  });
});
