/** Against our own server of Consul's HTTP API: Consul itself is not installed here. */
import { silentLog, systemClock } from '@podwire/platform';
import { describeStore, type StoreTarget } from '@podwire/store/compliance';
import { openConsulStore } from '@podwire/store/consul';
import { Consul, serveConsul } from '@podwire/testkit/consul';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { createTestClock } from '@podwire/platform/testing';

async function openTarget(): Promise<StoreTarget> {
  const clock = createTestClock();
  const consul = new Consul({ clock });
  const servers = {
    own: await serveConsul(consul),
    other: await serveConsul(consul),
    deaf: await serveConsul(consul),
  };
  servers.deaf.faults.always('', { kind: 'cut-after' });
  const connect = ({ url }: { readonly url: string }) =>
    openConsulStore({ kind: 'consul', endpoints: [url] }, { log: silentLog, clock: systemClock });
  const store = connect(servers.own);
  return {
    store,
    another: () => Promise.resolve(connect(servers.other)),
    ttl: 10_000,
    pass(milliseconds) {
      clock.leap(milliseconds);
      return Promise.resolve();
    },
    compact() {
      consul.reapTombstones();
      return Promise.resolve();
    },
    async interrupt() {
      const { port } = servers.own;
      await servers.own.close();
      return async () => {
        servers.own = await serveConsul(consul, { port });
      };
    },
    connectDeaf: () => Promise.resolve(connect(servers.deaf)),
    async close() {
      await store.close();
      consul.stop();
      for (const server of Object.values(servers)) await server.close();
    },
  };
}

describeStore(
  'Consul (its HTTP API, as documented)',
  openTarget,
  { describe, test, before: beforeAll, after: afterAll },
  // Consul keeps no history: several writes of an item may be seen as one.
  { lacks: ['history'] },
);
