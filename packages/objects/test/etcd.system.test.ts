/** The suite on real etcd. */
import { after, before, describe, test } from 'node:test';
import { createStoreSource } from '@podwire/objects';
import { describeSource, type SourceTarget } from '@podwire/objects/compliance';
import { silentLog, systemClock } from '@podwire/platform';
import type { Store } from '@podwire/store';
import { openEtcdStore } from '@podwire/store/etcd';
import { startEtcd } from '@podwire/testkit/etcd';

const root = '/podwire';

async function open(): Promise<SourceTarget> {
  const etcd = await startEtcd({});
  const opened: Store[] = [];
  const connect = async (): Promise<Store> => {
    const store = await openEtcdStore(etcd.spec, { log: silentLog, clock: systemClock });
    opened.push(store);
    return store;
  };
  const store = await connect();
  return {
    source: createStoreSource({ store, root, clock: systemClock }),
    another: async () => createStoreSource({ store: await connect(), root, clock: systemClock }),
    spoil: async (name) => {
      const object = {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name, namespace: 'default' },
        spec: { wrong: true },
      };
      const key = `${root}/objects/networking.k8s.io/NetworkPolicy/default/${name}`;
      await store.put(key, JSON.stringify({ kind: 'object', version: 1, value: { object, created: 1 } }));
    },
    close: async () => {
      await Promise.all(opened.map((each) => each.close()));
      await etcd.close();
    },
  };
}

describeSource('etcd', open, { describe, test, before, after });
