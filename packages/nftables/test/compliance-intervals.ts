/** Cases that every implementation of Nftables passes with sets that have `flags interval`. */
import assert from 'node:assert/strict';
import type { ElementChange, Nftables, NftablesError, TableDeclaration } from '@podwire/nftables';
import fc from 'fast-check';
import { deadline } from './deadline.js';

/** One thing that every implementation of Nftables must do. Each runs on an instance without tables. */
export interface Requirement {
  readonly name: string;
  readonly check: (nftables: Nftables) => Promise<void> | void;
}

const body = `
  set nets4 { type ipv4_addr; flags interval; }
  set nets6 { type ipv6_addr; flags interval; }
  map names { type ipv4_addr : mark; flags interval; }
  set exact { type ipv4_addr; }
`;
const table: TableDeclaration = { family: 'inet', name: 'intervals', body };
const place = { family: 'inet', table: 'intervals' } as const;

const net = (op: ElementChange['op'], value: string): ElementChange =>
  value.includes(':')
    ? { op, ...place, set: 'nets6', key: [{ type: 'ipv6_interval', value }] }
    : { op, ...place, set: 'nets4', key: [{ type: 'ipv4_interval', value }] };
const nets = (op: ElementChange['op'], ...values: readonly string[]): ElementChange[] =>
  values.map((value) => net(op, value));

const listed = (nftables: Nftables, set: string): string[] =>
  nftables.listElements('inet', 'intervals', set).map(({ key }) => String(key[0]!.value));
const both = (nftables: Nftables): string[] =>
  ['nets4', 'nets6'].flatMap((set) => listed(nftables, set)).sort();

const withTable = (name: string, check: Requirement['check']): Requirement => ({
  name,
  check: async (nftables) => {
    await nftables.applyTable(table, deadline());
    await check(nftables);
  },
});

const refuses = (work: () => void, code: string): void =>
  assert.throws(work, (error: NftablesError) => error.name === 'NftablesError' && error.code === code);

/** Of each family: ordinary ones, single addresses, everything, what ends with the last address, touching neighbours. */
const cases: Readonly<Record<string, readonly string[]>> = {
  'a pool of each family': ['10.244.0.0/16', 'fd00:244::/48'],
  'single addresses': ['192.0.2.1/32', '2001:db8::1/128'],
  'all addresses': ['0.0.0.0/0', '::/0'],
  'the first address': ['0.0.0.0/32', '::/128'],
  'the last address': ['255.255.255.255/32', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128'],
  'prefixes at the end': ['240.0.0.0/4', 'ff00::/8'],
  'neighbours that touch': ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/23', 'fd00::/64', 'fd00:0:0:1::/64'],
  'neighbours that make everything': ['0.0.0.0/1', '128.0.0.0/1', '::/1', '8000::/1'],
  ranges: ['10.0.0.1-10.0.0.9', 'fd00::1-fd00::1:0'],
};

export const intervalRequirements: readonly Requirement[] = [
  ...Object.entries(cases).map(([what, values]) =>
    withTable(`keeps ${what} apart and gives them back`, (nftables) => {
      nftables.change(nets('create', ...values));
      assert.deepEqual(both(nftables), [...values].sort());
      assert.deepEqual(
        nftables.hasElements(nets('add', ...values)),
        values.map(() => true),
      );
      for (const { op: _, family, table: of, set, key } of nets('add', ...values))
        assert.deepEqual(nftables.getElement({ family, table: of, set, key }), { key });
      nftables.change(nets('add', ...values));
      for (const value of values) nftables.change([net('delete', value)]);
      assert.deepEqual(both(nftables), []);
    }),
  ),

  withTable('reads intervals in their canonical form', (nftables) => {
    nftables.change([
      net('add', '10.0.0.0-10.0.255.255'),
      net('add', '10.1.0.7'),
      net('add', 'FD00:0::-fd00::ffff'),
    ]);
    assert.deepEqual(both(nftables), ['10.0.0.0/16', '10.1.0.7/32', 'fd00::/112']);
    assert.deepEqual(nftables.hasElements(nets('add', '10.0.0.0/16', '10.1.0.7/32')), [true, true]);
  }),

  withTable('knows no interval that only begins, ends or lies where another does', (nftables) => {
    nftables.change([net('add', '10.0.0.0/16')]);
    const others = ['10.0.0.0/17', '10.0.128.0/17', '10.0.0.0/8', '10.0.1.0/24', '10.0.0.0/32'];
    assert.deepEqual(
      nftables.hasElements(nets('add', ...others)),
      others.map(() => false),
    );
    nftables.change(nets('destroy', ...others));
    for (const value of others) refuses(() => nftables.change([net('delete', value)]), 'ENOENT');
    assert.deepEqual(both(nftables), ['10.0.0.0/16']);
  }),

  withTable('refuses intervals that overlap, and leaves those that were there', (nftables) => {
    nftables.change(nets('add', '10.0.0.0/16', 'fd00::/64'));
    for (const value of ['10.0.0.0/17', '10.0.128.0/17', '10.0.1.0/24', '10.0.0.0/8', 'fd00::/48'])
      refuses(() => nftables.change([net('add', value)]), 'EEXIST');
    refuses(() => nftables.change([net('create', '10.0.0.0/16')]), 'EEXIST');
    assert.deepEqual(both(nftables), ['10.0.0.0/16', 'fd00::/64']);
  }),

  withTable('splits and merges intervals in one transaction', (nftables) => {
    const halves = ['10.0.0.0/17', '10.0.128.0/17'];
    nftables.change([net('add', '10.0.0.0/16')]);
    nftables.change([net('destroy', '10.0.0.0/16'), ...nets('add', ...halves)]);
    assert.deepEqual(both(nftables), halves);
    nftables.change([...nets('destroy', ...halves), net('create', '10.0.0.0/16')]);
    assert.deepEqual(both(nftables), ['10.0.0.0/16']);
    nftables.change([net('replace', '10.0.0.0/16')]);
    assert.deepEqual(both(nftables), ['10.0.0.0/16']);
  }),

  withTable('adds and destroys an interval several times in one transaction', (nftables) => {
    const [gone, there] = ['10.0.0.0/16', '10.1.0.0/16'];
    nftables.change([...nets('destroy', gone, gone), ...nets('add', gone), ...nets('destroy', gone, gone)]);
    nftables.change([...nets('add', there), ...nets('destroy', there), ...nets('add', there)]);
    assert.deepEqual(both(nftables), [there]);
  }),

  withTable('replaces all intervals that are in the way', (nftables) => {
    nftables.change(nets('add', '10.0.0.0/17', '10.0.200.0/24', '10.1.0.0/16', 'fd00::/64'));
    nftables.change(nets('replace', '10.0.0.0/16', 'fd00::/48'));
    assert.deepEqual(both(nftables), ['10.0.0.0/16', '10.1.0.0/16', 'fd00::/48']);
    nftables.change(nets('replace', '10.0.0.0/17', '10.0.128.0/17', '10.1.0.0/16'));
    assert.deepEqual(both(nftables), ['10.0.0.0/17', '10.0.128.0/17', '10.1.0.0/16', 'fd00::/48']);
  }),

  withTable('destroys intervals in sets and tables that are not there', (nftables) => {
    const change = net('destroy', '10.0.0.0/16');
    nftables.change([change, { ...change, set: 'absent' }, { ...change, table: 'absent' }]);
    nftables.change([{ ...change, set: 'exact' }, net('add', '10.1.0.0/16')]);
    assert.deepEqual(both(nftables), ['10.1.0.0/16']);
  }),

  withTable('refuses intervals in a set of single keys, and of the other family', (nftables) => {
    refuses(() => nftables.change([{ ...net('add', '10.0.0.0/16'), set: 'exact' }]), 'EINVAL');
    refuses(() => nftables.change([{ ...net('add', 'fd00::/64'), set: 'nets4' }]), 'EINVAL');
    const wrong = {
      ...net('add', '10.0.0.0/16'),
      key: [{ type: 'ipv4_interval', value: 'fd00::/64' }],
    } as const;
    assert.throws(() => nftables.change([wrong]), RangeError);
    for (const value of ['10.0.0.1/16', '10.0.0.9-10.0.0.1', '10.0.0.0/33', '-', ''])
      assert.throws(() => nftables.change([net('add', value)]), RangeError, value);
    const [first] = net('add', '10.0.0.0/16').key;
    assert.throws(
      () => nftables.change([{ ...net('add', '10.0.0.0/16'), key: [first!, first!] }]),
      RangeError,
    );
  }),

  withTable('maps intervals to values', (nftables) => {
    const named = (value: string, mark: number): ElementChange => ({
      ...net('add', value),
      set: 'names',
      value: [{ type: 'mark', value: mark }],
      comment: value,
    });
    const changes = [named('10.0.0.0/16', 1), named('10.1.0.0/16', 2)];
    nftables.change(changes);
    assert.deepEqual(nftables.hasElements([...changes, named('10.0.0.0/16', 2)]), [true, true, false]);
    const { op: _, family, table: of, set, ...element } = changes[0]!;
    assert.deepEqual(nftables.getElement({ family, table: of, set, key: element.key }), element);
  }),

  withTable('keeps intervals when the table is applied anew', async (nftables) => {
    const values = ['10.0.0.0/16', '10.1.0.0/16', '240.0.0.0/4', 'fd00::/64', 'ff00::/8'];
    nftables.change(nets('add', ...values));
    const resized = body.replaceAll('flags interval;', 'flags interval; size 100;');
    for (const next of [`${body} chain more { }`, resized]) {
      await nftables.applyTable({ ...table, body: next }, deadline());
      assert.deepEqual(both(nftables), [...values].sort());
      assert.equal(nftables.hasElements(nets('add', ...values)).every(Boolean), true);
    }
  }),

  withTable('has what was added and not removed, after any changes', (nftables) => {
    const prefix = fc
      .record({ block: fc.integer({ min: 0, max: 15 }), length: fc.integer({ min: 4, max: 8 }) })
      .map(({ block, length }) => `${((block * 16) >> (8 - length)) << (8 - length)}.0.0.0/${length}`);
    const transactions = fc.array(fc.array(fc.tuple(fc.boolean(), prefix), { maxLength: 6 }), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(transactions, (list) => {
        for (const transaction of list) {
          const expected = new Set(listed(nftables, 'nets4'));
          // Removal before addition, as the engine does it.
          const gone = transaction.filter(([adds]) => !adds).map(([, value]) => value);
          for (const value of gone) expected.delete(value);
          const added = transaction
            .filter(([adds, value]) => adds && fits(value, expected))
            .map(([, value]) => value);
          nftables.change([...nets('destroy', ...gone), ...nets('add', ...added)]);
          assert.deepEqual(listed(nftables, 'nets4').sort(), [...expected].sort());
        }
      }),
      { numRuns: 20 },
    );
  }),
];

/** Adds what overlaps nothing else. */
function fits(value: string, present: Set<string>): boolean {
  const range = (text: string): [number, number] => {
    const [start, length] = [Number.parseInt(text, 10), Number(text.split('/')[1])];
    return [start, start + (1 << (8 - length))];
  };
  const [first, end] = range(value);
  const isFree = [...present].every((other) => {
    const [otherFirst, otherEnd] = range(other);
    return other === value || end <= otherFirst || otherEnd <= first;
  });
  if (isFree) present.add(value);
  return isFree;
}
