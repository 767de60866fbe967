/** The suite on the store: in memory, and embedded. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { silentLog, systemClock } from '@podwire/platform';
import type { Store } from '@podwire/store';
import { openEmbeddedStore } from '@podwire/store/embedded';
import { createMemoryServer } from '@podwire/store/memory';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeSource, type SourceTarget } from '../src/compliance/index.js';
import { createStoreSource, readObjects } from '../src/index.js';

const runner = { describe, test, before: beforeAll, after: afterAll };
const root = '/podwire';
const key = (name: string): string => `${root}/objects/networking.k8s.io/NetworkPolicy/default/${name}`;

function target(connect: () => Promise<Store>, store: Store, close: () => Promise<void>): SourceTarget {
  const opened: Store[] = [];
  return {
    source: createStoreSource({ store, root, clock: systemClock }),
    another: async () => {
      const other = await connect();
      opened.push(other);
      return createStoreSource({ store: other, root, clock: systemClock });
    },
    spoil: async (name) => {
      const object = {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name, namespace: 'default' },
        spec: { wrong: true },
      };
      await store.put(
        key(name),
        JSON.stringify({ kind: 'object', version: 1, value: { object, created: 1 } }),
      );
    },
    close: async () => {
      await Promise.all(opened.map((each) => each.close()));
      await close();
    },
  };
}

describeSource(
  'memory',
  () => {
    const server = createMemoryServer({});
    const store = server.connect();
    return Promise.resolve(
      target(
        () => Promise.resolve(server.connect()),
        store,
        () => store.close(),
      ),
    );
  },
  runner,
);

describeSource(
  'embedded',
  async () => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-objects-'));
    const connect = () => openEmbeddedStore(directory, { log: silentLog, clock: systemClock });
    const store = await connect();
    return target(connect, store, async () => {
      await store.close();
      fs.rmSync(directory, { recursive: true });
    });
  },
  runner,
);

describe('what is in the store', () => {
  const open = async (items: Record<string, string>) => {
    const store = createMemoryServer({}).connect();
    for (const [at, text] of Object.entries(items)) await store.put(at, text);
    return { store, source: createStoreSource({ store, root, clock: systemClock }) };
  };

  test.each([
    ['no JSON', 'hello', 'is no JSON'],
    ['of a newer Podwire', '{"kind":"object","version":9,"value":{}}', 'is 9'],
    [
      'of a kind that is not known here',
      '{"kind":"object","version":1,"value":{"created":1,"object":{"apiVersion":"example.com/v1","kind":"Gate","metadata":{"name":"a"}}}}',
      'is not supported',
    ],
  ])('%s is listed as unreadable', async (_, text, message) => {
    const { source } = await open({ [key('a')]: text });
    const { objects, unreadable } = await source.list();
    expect(objects).toEqual([]);
    expect(unreadable).toMatchObject([
      { reference: { kind: 'NetworkPolicy', namespace: 'default', name: 'a' } },
    ]);
    expect(unreadable[0]!.problems[0]!.message).toContain(message);
    await expect(source.get(unreadable[0]!.reference)).rejects.toMatchObject({ code: 'OBJECT_INVALID' });
  });

  test('lies under its key, a cluster’s kind under _', async () => {
    const { store, source } = await open({});
    await source.save({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }, undefined);
    const { items } = await store.list('/podwire/');
    expect(items.map((item) => item.key)).toEqual(['/podwire/objects/core/Namespace/_/shop']);
  });
});

test('10,000 objects of 1 KB are listed', { tags: ['long'], timeout: 60_000 }, async () => {
  const store = createMemoryServer({}).connect();
  const source = createStoreSource({ store, root, clock: systemClock });
  const cidrs = Array.from({ length: 30 }, (_, index) => ({ ipBlock: { cidr: `10.${index}.0.0/16` } }));
  for (let index = 0; index < 10_000; index++)
    await source.save(
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name: `p${index}`, namespace: 'default' },
        spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ from: cidrs }] },
      } as never,
      undefined,
    );
  const { objects } = await source.list();
  expect(objects).toHaveLength(10_000);
});

test.each([
  ['IPv4', (index: number) => `10.${index >> 8}.${index & 255}.0/24`],
  ['IPv6', (index: number) => `2001:db8:${(index + 4096).toString(16)}:1000::/64`],
])('a policy with 10,000 prefixes of %s is read, saved and listed', async (_, prefix) => {
  const peers = Array.from(
    { length: 10_000 },
    (_, index) => `        - ipBlock:\n            cidr: ${prefix(index)}\n`,
  );
  const text = `apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: wide\nspec:\n  ingress:\n    - from:\n${peers.join('')}`;
  const { objects, problems } = readObjects(text, 'wide.yaml');
  expect(problems).toEqual([]);
  const source = createStoreSource({ store: createMemoryServer({}).connect(), root, clock: systemClock });
  await source.save(objects[0]!.object, objects[0]!.origin);
  const listed = await source.list();
  expect(listed.unreadable).toEqual([]);
  expect(listed.objects[0]!.object).toEqual(objects[0]!.object);
});
