import assert from 'node:assert/strict';
import {
  digestTable,
  type ElementChange,
  type Nftables,
  type NftablesError,
  type SetReference,
  type TableDeclaration,
  type Value,
} from '@podwire/nftables';
import { intervalRequirements, type Requirement } from './compliance-intervals.js';
import { ruleRequirements } from './compliance-rules.js';
import { deadline } from './deadline.js';

const body = `
  map ports { type inet_proto . inet_service : ipv4_addr . inet_service; }
  map verdicts { type ifname : verdict; }
  map marks { type mark : ipv6_addr; }
  set pairs { type ipv6_addr . ipv6_addr; }
  set few { type inet_service; size 2; }
  chain one { counter; }
  chain two { type filter hook forward priority filter; policy accept; }
`;
const table: TableDeclaration = { family: 'inet', name: 'compliance', body };
const place = { family: 'inet', table: 'compliance' } as const;
const ports: SetReference = { ...place, set: 'ports' };

const tcp = (port: number): Value[] => [
  { type: 'inet_proto', value: 'tcp' },
  { type: 'inet_service', value: port },
];
const pod = (address: string, port = 80): Value[] => [
  { type: 'ipv4_addr', value: address },
  { type: 'inet_service', value: port },
];
const port = (op: ElementChange['op'], number: number, address = '10.0.0.1'): ElementChange => ({
  op,
  ...ports,
  key: tcp(number),
  value: pod(address),
});

function refused(work: () => void, code: string, index?: number): NftablesError {
  let caught: unknown;
  assert.throws(work, (error) => ((caught = error), true));
  const error = caught as NftablesError;
  assert.equal(error.name, 'NftablesError', String(error));
  assert.equal(error.code, code, error.message);
  if (index !== undefined) assert.equal(error.failures[0]?.index, index, error.message);
  return error;
}

const portsIn = (nftables: Nftables): number[] =>
  nftables
    .listElements('inet', 'compliance', 'ports')
    .map(({ key }) => Number(key[1]!.value))
    .sort((a, b) => a - b);

const withTable = (name: string, check: Requirement['check']): Requirement => ({
  name,
  check: async (nftables) => {
    await nftables.applyTable(table, deadline());
    await check(nftables);
  },
});

export const requirements: readonly Requirement[] = [
  withTable('adds elements and gives them back', (nftables) => {
    nftables.change([{ ...port('add', 80), comment: 'web' }, port('create', 443, '10.0.0.2')]);
    assert.deepEqual(portsIn(nftables), [80, 443]);
    const found = nftables.getElement({ ...ports, key: tcp(80) });
    assert.deepEqual(found, { key: tcp(80), value: pod('10.0.0.1'), comment: 'web' });
    assert.equal(nftables.getElement({ ...ports, key: tcp(81) }), undefined);
  }),

  withTable('knows every type of value', (nftables) => {
    const changes: ElementChange[] = [
      {
        op: 'add',
        ...place,
        set: 'marks',
        key: [{ type: 'mark', value: 0xdeadbeef }],
        value: [{ type: 'ipv6_addr', value: 'fd00::1' }],
      },
      {
        op: 'add',
        ...place,
        set: 'pairs',
        key: [
          { type: 'ipv6_addr', value: '2001:db8::1' },
          { type: 'ipv6_addr', value: '::' },
        ],
      },
      {
        op: 'add',
        ...place,
        set: 'verdicts',
        key: [{ type: 'ifname', value: 'cali01234567890' }],
        verdict: { verdict: 'jump', chain: 'one' },
      },
      {
        op: 'add',
        ...place,
        set: 'verdicts',
        key: [{ type: 'ifname', value: 'lo' }],
        verdict: { verdict: 'drop' },
      },
      { op: 'add', ...place, set: 'few', key: [{ type: 'inet_service', value: 65535 }] },
      {
        op: 'add',
        ...ports,
        key: [
          { type: 'inet_proto', value: 'sctp' },
          { type: 'inet_service', value: 0 },
        ],
        value: pod('255.255.255.255'),
      },
      {
        op: 'add',
        ...ports,
        key: [
          { type: 'inet_proto', value: 99 },
          { type: 'inet_service', value: 1 },
        ],
        value: pod('0.0.0.0', 0),
      },
    ];
    nftables.change(changes);
    for (const { op: _, family, table: of, set, ...element } of changes) {
      assert.deepEqual(nftables.getElement({ family, table: of, set, key: element.key }), element);
    }
    assert.deepEqual(
      nftables.hasElements(changes),
      changes.map(() => true),
    );
    assert.equal(nftables.listElements('inet', 'compliance', 'verdicts').length, 2);
  }),

  withTable('adds twice without complaint, but not with other data', (nftables) => {
    nftables.change([port('add', 80)]);
    nftables.change([port('add', 80)]);
    const error = refused(() => nftables.change([port('add', 80, '10.9.9.9')]), 'EEXIST', 0);
    assert.match(
      error.message,
      /add element inet compliance ports \{ tcp \. 80 : 10\.9\.9\.9 \. 80 \}: EEXIST/,
    );
  }),

  withTable('creates only what is not there', (nftables) => {
    nftables.change([port('create', 80)]);
    refused(() => nftables.change([port('create', 80)]), 'EEXIST');
    refused(() => nftables.change([port('create', 80, '10.0.0.9')]), 'EEXIST');
  }),

  withTable('replaces data', (nftables) => {
    nftables.change([port('replace', 80)]);
    nftables.change([port('replace', 80, '10.0.0.2'), port('replace', 81, '10.0.0.3')]);
    assert.deepEqual(nftables.hasElements([port('add', 80, '10.0.0.2'), port('add', 81, '10.0.0.3')]), [
      true,
      true,
    ]);
  }),

  withTable('replaces one key several times', (nftables) => {
    nftables.change([port('add', 80)]);
    nftables.change(['10.0.0.2', '10.0.0.3', '10.0.0.4'].map((address) => port('replace', 80, address)));
    assert.deepEqual(nftables.hasElements([port('add', 80, '10.0.0.4')]), [true]);
  }),

  withTable('deletes what is there', (nftables) => {
    nftables.change([port('add', 80), port('add', 81)]);
    nftables.change([port('delete', 80)]);
    assert.deepEqual(portsIn(nftables), [81]);
    const error = refused(() => nftables.change([port('delete', 80)]), 'ENOENT', 0);
    assert.match(error.message, /delete element inet compliance ports \{ tcp \. 80 \}/);
  }),

  withTable('destroys what may be absent, sets and tables included', (nftables) => {
    nftables.change([port('add', 80), port('add', 81)]);
    nftables.change([
      port('destroy', 80),
      port('destroy', 82),
      { ...port('destroy', 80), table: 'absent' },
      { ...port('destroy', 80), set: 'absent' },
      port('add', 83),
    ]);
    assert.deepEqual(portsIn(nftables), [81, 83]);
  }),

  withTable('gives a key to its next owner in one transaction', (nftables) => {
    nftables.change([port('add', 80)]);
    nftables.change([port('delete', 80), port('create', 80, '10.0.0.2')]);
    assert.deepEqual(nftables.hasElements([port('add', 80, '10.0.0.2')]), [true]);
    nftables.change([port('destroy', 80), port('destroy', 81), port('create', 80, '10.0.0.3')]);
    assert.deepEqual(nftables.hasElements([port('add', 80, '10.0.0.3')]), [true]);
  }),

  withTable('carries out all changes or none', (nftables) => {
    nftables.change([port('add', 80), port('add', 81)]);
    const changes = [port('delete', 80), port('add', 90), port('create', 81, '10.0.0.2'), port('add', 91)];
    refused(() => nftables.change(changes), 'EEXIST', 2);
    assert.deepEqual(portsIn(nftables), [80, 81]);
  }),

  withTable('names the culprit among many', (nftables) => {
    const many = Array.from({ length: 1_000 }, (_, n) => port('create', 1_000 + n));
    nftables.change([port('add', 1_777, '10.0.0.9')]);
    refused(() => nftables.change(many), 'EEXIST', 777);
    assert.deepEqual(portsIn(nftables), [1_777]);
    nftables.change(many.toSpliced(777, 1));
    assert.equal(portsIn(nftables).length, 1_000);
    nftables.change(many.map(({ key }) => ({ op: 'delete', ...ports, key })));
    assert.deepEqual(portsIn(nftables), []);
  }),

  withTable('looks up many at once', (nftables) => {
    const many = Array.from({ length: 2_500 }, (_, n) => port('add', n));
    nftables.change(many.filter((_, n) => n % 3 !== 0));
    assert.deepEqual(
      nftables.hasElements(many),
      many.map((_, n) => n % 3 !== 0),
    );
  }),

  withTable('has no elements in what is absent', (nftables) => {
    nftables.change([port('add', 80)]);
    const elsewhere = [
      { ...port('add', 80), table: 'absent' },
      { ...port('add', 80), set: 'absent' },
    ];
    assert.deepEqual(nftables.hasElements([...elsewhere, port('add', 80), { ...ports, key: tcp(80) }]), [
      false,
      false,
      true,
      true,
    ]);
    assert.deepEqual(nftables.hasElements([port('add', 80, '10.0.0.2')]), [false]);
    assert.equal(nftables.getElement({ ...ports, table: 'absent', key: tcp(80) }), undefined);
    assert.deepEqual(nftables.hasElements([]), []);
    refused(() => nftables.listElements('inet', 'compliance', 'absent'), 'ENOENT');
    refused(() => nftables.change([{ ...port('add', 80), set: 'absent' }]), 'ENOENT', 0);
    refused(() => nftables.change([{ ...port('delete', 80), table: 'absent' }]), 'ENOENT', 0);
  }),

  withTable('refuses what does not fit the declaration', (nftables) => {
    const [protocol] = tcp(80);
    refused(() => nftables.change([{ ...port('add', 80), key: [protocol!] }]), 'EINVAL');
    refused(() => nftables.change([{ op: 'add', ...ports, key: tcp(80) }]), 'EINVAL');
    refused(() => nftables.change([{ ...port('add', 80), value: [{ type: 'mark', value: 1 }] }]), 'EINVAL');
    refused(
      () =>
        nftables.change([{ op: 'add', ...place, set: 'few', key: tcp(80).slice(1), value: pod('10.0.0.1') }]),
      'EINVAL',
    );
    const jump: ElementChange = {
      op: 'add',
      ...place,
      set: 'verdicts',
      key: [{ type: 'ifname', value: 'lo' }],
      verdict: { verdict: 'goto', chain: 'absent' },
    };
    refused(() => nftables.change([jump]), 'ENOENT');
    assert.deepEqual(portsIn(nftables), []);
  }),

  withTable('refuses values of the wrong form before it sends anything', (nftables) => {
    const wrong: Value[][] = [
      [],
      [{ type: 'ipv4_addr', value: '10.0.0.256' }],
      [{ type: 'ipv4_addr', value: 'fd00::1' }],
      [{ type: 'inet_service', value: 65536 }],
      [{ type: 'inet_service', value: 1.5 }],
      [{ type: 'inet_proto', value: 'quic' }],
      [{ type: 'ifname', value: 'a-name-of-16-byte' }],
      [{ type: 'ifname', value: '' }],
      [{ type: 'mark', value: -1 }],
    ];
    for (const key of wrong) {
      assert.throws(() => nftables.change([port('add', 80), { op: 'add', ...ports, key }]), RangeError);
    }
    assert.throws(() => nftables.change([{ ...port('add', 80), comment: 'x'.repeat(129) }]), RangeError);
    assert.throws(() => nftables.change([{ ...port('add', 80), verdict: { verdict: 'drop' } }]), RangeError);
    assert.deepEqual(portsIn(nftables), []);
  }),

  withTable('keeps to the size of a set', (nftables) => {
    const few = (number: number): ElementChange => ({
      op: 'add',
      ...place,
      set: 'few',
      key: [{ type: 'inet_service', value: number }],
    });
    nftables.change([few(1), few(2)]);
    refused(() => nftables.change([few(3)]), 'ENFILE');
    nftables.change([{ ...few(2), op: 'delete' }]);
    nftables.change([few(3)]);
  }),

  withTable('counts transactions', (nftables) => {
    const before = nftables.generation();
    nftables.change([]);
    assert.equal(nftables.generation(), before);
    nftables.change([port('add', 80)]);
    assert.equal(nftables.generation(), before + 1);
    refused(() => nftables.change([port('create', 80)]), 'EEXIST');
    assert.equal(nftables.generation(), before + 1);
  }),

  {
    name: 'makes a table, remembers what it was made from, and deletes it',
    async check(nftables) {
      assert.deepEqual(nftables.listTables(), []);
      assert.equal(nftables.tableDigest('inet', 'compliance'), undefined);
      const applied = await nftables.applyTable(table, deadline());
      assert.deepEqual(applied, { changed: true, recreated: [], emptied: [] });
      assert.deepEqual(nftables.listTables(), [{ family: 'inet', name: 'compliance' }]);
      assert.equal(nftables.tableDigest('inet', 'compliance'), digestTable(table));
      nftables.deleteTable('inet', 'compliance');
      nftables.deleteTable('inet', 'compliance');
      assert.deepEqual(nftables.listTables(), []);
      assert.equal(nftables.tableDigest('inet', 'compliance'), undefined);
    },
  },

  withTable('leaves alone a table that stands as declared', async (nftables) => {
    nftables.change([port('add', 80)]);
    const before = nftables.generation();
    const applied = await nftables.applyTable(table, deadline());
    assert.deepEqual(applied, { changed: false, recreated: [], emptied: [] });
    assert.equal(nftables.generation(), before);
    assert.equal(nftables.tableDigest('inet', 'compliance'), digestTable(table));
  }),

  withTable('keeps contents when the rules change', async (nftables) => {
    nftables.change([port('add', 80)]);
    const next = { ...table, body: `${body}\n  chain three { }\n` };
    assert.deepEqual(await nftables.applyTable(next, deadline()), {
      changed: true,
      recreated: [],
      emptied: [],
    });
    assert.deepEqual(portsIn(nftables), [80]);
    assert.equal(nftables.tableDigest('inet', 'compliance'), digestTable(next));
  }),

  withTable('carries contents into a set that is declared anew', async (nftables) => {
    nftables.change([port('add', 80), { ...port('add', 81, '10.0.0.2'), comment: 'kept' }]);
    const next = { ...table, body: body.replace('map ports {', 'map ports { size 1000;') };
    assert.deepEqual(await nftables.applyTable(next, deadline()), {
      changed: true,
      recreated: ['ports'],
      emptied: [],
    });
    assert.deepEqual(portsIn(nftables), [80, 81]);
    assert.equal(nftables.getElement({ ...ports, key: tcp(81) })?.comment, 'kept');
  }),

  withTable('says which contents were given up', async (nftables) => {
    nftables.change([port('add', 80)]);
    const other = body
      .replace('map ports { type inet_proto', 'map ports { type mark . inet_proto')
      .replace(/set pairs.*\n/, '');
    const applied = await nftables.applyTable({ ...table, body: other }, deadline());
    assert.deepEqual(
      { ...applied, emptied: [...applied.emptied].sort() },
      { changed: true, recreated: [], emptied: ['pairs', 'ports'] },
    );
    assert.deepEqual(nftables.listElements('inet', 'compliance', 'ports'), []);
    refused(() => nftables.listElements('inet', 'compliance', 'pairs'), 'ENOENT');
  }),

  withTable('does not take away a chain that an element jumps to', async (nftables) => {
    nftables.change([
      {
        op: 'add',
        ...place,
        set: 'verdicts',
        key: [{ type: 'ifname', value: 'lo' }],
        verdict: { verdict: 'jump', chain: 'one' },
      },
    ]);
    const without = { ...table, body: body.replace(/chain one.*\n/, '') };
    await assert.rejects(nftables.applyTable(without, deadline()), { code: 'EBUSY' });
    assert.equal(nftables.tableDigest('inet', 'compliance'), digestTable(table));
    assert.equal(nftables.listElements('inet', 'compliance', 'verdicts').length, 1);
  }),

  {
    name: 'refuses a body that ends its own table, and names that are none',
    async check(nftables) {
      const escaping = { ...table, body: 'chain a { } }\ntable inet other { chain b { }' };
      await assert.rejects(nftables.applyTable(escaping, deadline()), RangeError);
      await assert.rejects(nftables.applyTable({ ...table, body: 'chain a {' }, deadline()), RangeError);
      await assert.rejects(nftables.applyTable({ ...table, name: 'x { } #' }, deadline()), RangeError);
      assert.deepEqual(nftables.listTables(), []);
    },
  },

  withTable('keeps to the deadline', async (nftables) => {
    const reason = new Error('too late');
    const late = { signal: AbortSignal.abort(reason) };
    const thrown = (error: unknown) => error === reason;
    await assert.rejects(nftables.applyTable({ ...table, name: 'other' }, late), thrown);
    await assert.rejects(nftables.loadRuleset('table ip x { }\n', late), thrown);
    await assert.rejects(nftables.listRuleset('inet', 'compliance', late), thrown);
    assert.equal(nftables.listTables().length, 1);
  }),

  withTable('needs no options: a deadline of its own ends what starts nft', async (nftables) => {
    await nftables.loadRuleset('table ip extra { }\n');
    assert.notDeepEqual(await nftables.listRuleset('ip', 'extra'), []);
    assert.equal(
      (await nftables.applyTable({ family: 'ip', name: 'more', body: 'chain c { }' })).changed,
      true,
    );
    assert.equal(nftables.listTables().length, 3);
  }),

  withTable('loads scripts and shows tables', async (nftables) => {
    await nftables.loadRuleset('table ip extra {\n  chain c { }\n}\n', deadline());
    assert.equal(nftables.listTables().length, 2);
    const shown = JSON.stringify(await nftables.listRuleset('ip', 'extra', deadline()));
    assert.match(shown, /"name":"c"/);
    await nftables.loadRuleset('delete table ip extra\n', deadline());
    await assert.rejects(nftables.loadRuleset('delete table ip extra\n', deadline()), { code: 'ENOENT' });
    await assert.rejects(nftables.loadRuleset('no such thing\n', deadline()), { code: 'ENFT' });
    await assert.rejects(nftables.listRuleset('ip', 'extra', deadline()), { code: 'ENOENT' });
  }),

  ...intervalRequirements,
  ...ruleRequirements,
];
