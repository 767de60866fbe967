import { afterEach, describe, expect, it } from 'vitest';
import { PodwireError } from '@podwire/errors';
import type { Store } from '@podwire/store';
import { TestCluster } from './support/cluster.js';

let cluster: TestCluster;
afterEach(() => cluster.close());

/** A store that says no to writes, as etcd does: the write that found it full is uncertain. */
function refusing(store: Store, why: { code: 'STORE_FULL' | 'STORE_DENIED' | undefined }): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (name !== 'transact' || why.code === undefined) return value.bind(target) as unknown;
      const { code } = why;
      return () =>
        Promise.reject(new PodwireError(code, 'no', { details: { uncertain: code === 'STORE_FULL' } }));
    },
  });
}

describe('a store that answers, and says no', () => {
  for (const code of ['STORE_FULL', 'STORE_DENIED'] as const) {
    it(`${code}: who needs a block is told why, people are told, and it passes`, async () => {
      cluster = new TestCluster();
      await cluster.putPool({ cidr: '10.0.0.0/24', blockSize: 30 });
      const why: { code: typeof code | undefined } = { code: undefined };
      const node = await cluster.join('n1', { wrap: (store) => refusing(store, why) });
      await cluster.clock.advance(1_000);
      why.code = code;
      const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
      const add = async (): Promise<void> => {
        for (const name of names) await cluster.during(node.add(name));
      };
      await expect(add()).rejects.toMatchObject({ code });
      await cluster.clock.advance(1_000);
      expect(node.addressing.status().problems.join('\n')).toContain(`${code}: `);
      why.code = undefined;
      await cluster.clock.advance(60_000);
      expect(node.addressing.status().problems).toEqual([]);
      await cluster.during(node.add('later'));
    });
  }
});

describe('an address that is asked for by name', () => {
  it('is refused with the selector of its pool where that is for other nodes', async () => {
    cluster = new TestCluster();
    await cluster.putPool({ cidr: '10.0.0.0/24', blockSize: 28, nodeSelector: 'zone=a' });
    const node = await cluster.join('n1', { labels: { zone: 'b' } });
    await cluster.clock.advance(1_000);
    await expect(cluster.during(node.add('web', { requested: ['10.0.0.7'] }))).rejects.toThrow(
      /^10\.0\.0\.7 cannot be given: its pool \S+ is for nodes with zone=a$/,
    );
    const other = await cluster.join('n2', { labels: { zone: 'a' } });
    await cluster.clock.advance(1_000);
    await cluster.during(other.add('web', { requested: ['10.0.0.7'] }));
  });
});
