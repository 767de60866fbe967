import { describe, expect, it } from 'vitest';
import { createFakeConntrack, createFakeNftables } from '../src/fake.js';
import { requirements } from './compliance.js';
import { conntrackRequirements, entry } from './conntrack-compliance.js';
import { deadline } from './deadline.js';

const body = 'set s { type inet_service; }';
const table = { family: 'inet', name: 't', body } as const;
const element = { family: 'inet', table: 't', set: 's', key: [{ type: 'inet_service', value: 1 }] } as const;

describe('the fake nftables', () => {
  for (const { name, check } of requirements) it(name, async () => await check(createFakeNftables()));
});

describe('the fake conntrack', () => {
  for (const { name, check } of conntrackRequirements) {
    it(name, async () => {
      const conntrack = createFakeConntrack();
      await check(conntrack, (added) => {
        for (const one of added) conntrack.addEntry(entry(one));
        return Promise.resolve();
      });
    });
  }
});

describe('failures on demand', () => {
  it('fail once, before anything is done', async () => {
    const nftables = createFakeNftables();
    await nftables.applyTable(table, deadline());
    nftables.inject({ method: 'change', code: 'ENOBUFS' });
    expect(() => nftables.change([{ op: 'add', ...element }])).toThrow(
      /add element inet t s \{ 1 \}: ENOBUFS/,
    );
    expect(nftables.hasElements([element])).toEqual([false]);
    nftables.change([{ op: 'add', ...element }]);
    expect(nftables.hasElements([element])).toEqual([true]);
  });

  it('fail after the work is done', async () => {
    const nftables = createFakeNftables();
    nftables.inject({ method: 'applyTable', code: 'ETIMEDOUT', after: true });
    await expect(nftables.applyTable(table, deadline())).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    expect(nftables.listTables()).toHaveLength(1);
  });

  it('fail for what they are about, as often as asked for', async () => {
    const nftables = createFakeNftables();
    await nftables.applyTable(table, deadline());
    nftables.inject({
      method: 'change',
      code: 'EBUSY',
      times: 2,
      about: (label) => label.startsWith('destroy'),
    });
    nftables.change([{ op: 'add', ...element }]);
    for (const _ of [1, 2]) {
      expect(() => nftables.change([{ op: 'destroy', ...element }])).toThrow(
        expect.objectContaining({ code: 'EBUSY' }),
      );
    }
    nftables.change([{ op: 'destroy', ...element }]);
  });
});

describe('tampering', () => {
  it('makes the digest unknown and the table applied anew, with its contents', async () => {
    const nftables = createFakeNftables();
    await nftables.applyTable(table, deadline());
    nftables.change([{ op: 'add', ...element }]);
    nftables.tamper('inet', 't');
    expect(nftables.tableDigest('inet', 't')).toBeUndefined();
    expect((await nftables.applyTable(table, deadline())).changed).toBe(true);
    expect(nftables.hasElements([element])).toEqual([true]);
  });
});
