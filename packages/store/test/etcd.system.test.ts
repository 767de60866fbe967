/** The suite on real etcd 3.4: one member, three, and one that asks for certificates and passwords. */
import { after, before, describe, test } from 'node:test';
import { silentLog, systemClock } from '@podwire/platform';
import type { Store } from '@podwire/store';
import { describeStore, type StoreTarget } from '@podwire/store/compliance';
import { type EtcdSpec, type EtcdTimeouts, openEtcdStore } from '@podwire/store/etcd';
import { type EtcdOptions, startEtcd } from '@podwire/testkit/etcd';
import { startProxy } from './etcd-proxy.js';

const runner = { describe, test, before, after };

const impatient: EtcdTimeouts = { connect: 500, attempt: 500, call: 1_000, silence: 10_000 };

async function open(options: EtcdOptions): Promise<StoreTarget> {
  const etcd = await startEtcd(options);
  const proxies = await Promise.all(etcd.spec.endpoints.map((endpoint) => startProxy(endpoint)));
  const opened: Store[] = [];
  const connect = async (spec: EtcdSpec, timeouts?: EtcdTimeouts): Promise<Store> => {
    const store = await openEtcdStore(spec, {
      log: silentLog,
      clock: systemClock,
      ...(timeouts && { timeouts }),
    });
    opened.push(store);
    return store;
  };
  const behindProxies = { ...etcd.spec, endpoints: proxies.map(({ endpoint }) => endpoint) };
  return {
    store: await connect(behindProxies),
    another: () => connect(etcd.spec),
    // An election's length decides about the least a lease may be.
    ttl: 2_000,
    compact: () => etcd.compact(),
    interrupt: () => {
      for (const proxy of proxies) proxy.cut();
      return Promise.resolve(() => {
        for (const proxy of proxies) proxy.restore();
        return Promise.resolve();
      });
    },
    connectDeaf: async () => {
      const deafening = await Promise.all(etcd.spec.endpoints.map((endpoint) => startProxy(endpoint)));
      const spec = { ...etcd.spec, endpoints: deafening.map(({ endpoint }) => endpoint) };
      const store = await connect(spec, impatient);
      await store.get('hello');
      for (const proxy of deafening) proxy.deafen();
      const close = async (): Promise<void> => {
        await store.close();
        await Promise.all(deafening.map((proxy) => proxy.close()));
      };
      return { ...store, close };
    },
    close: async () => {
      await Promise.all(opened.map((store) => store.close()));
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await etcd.close();
    },
  };
}

describeStore('etcd with one member', () => open({}), runner);
describeStore('etcd with three members', () => open({ members: 3 }), runner);
describeStore('etcd with certificates and users', () => open({ tls: true, auth: true }), runner);
