import { silentLog, systemClock } from '@podwire/platform';
import type { Store } from '@podwire/store';
import { type ConsulSpec, openConsulStore } from '@podwire/store/consul';
import { type ConsulOptions, Consul, type ConsulServer, serveConsul } from '@podwire/testkit/consul';
import { createTestClock, type TestClock } from '@podwire/platform/testing';

/** A Consul with one server, or more, and stores at it; all of it ends with `close`. */
export interface ConsulBed {
  readonly consul: Consul;
  /** The server's: sessions and waiting requests. */
  readonly clock: TestClock;
  readonly servers: readonly ConsulServer[];
  /** At all servers, in their order. */
  open(spec?: Partial<ConsulSpec>): Store;
  close(): Promise<void>;
}

export async function createConsulBed(
  options: Partial<ConsulOptions> & { readonly servers?: number } = {},
): Promise<ConsulBed> {
  const clock = createTestClock();
  const consul = new Consul({ clock, ...options });
  const servers = await Promise.all(Array.from({ length: options.servers ?? 1 }, () => serveConsul(consul)));
  const stores: Store[] = [];
  return {
    consul,
    clock,
    servers,
    open(spec = {}) {
      const store = openConsulStore(
        { kind: 'consul', endpoints: servers.map(({ url }) => url), ...spec },
        { log: silentLog, clock: systemClock, deadline: 2_000 },
      );
      stores.push(store);
      return store;
    },
    async close() {
      for (const store of stores) await store.close();
      consul.stop();
      for (const server of servers) await server.close();
    },
  };
}
