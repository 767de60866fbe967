import { createLinuxBackends, type Kernel } from '@podwire/backend-linux';
import { createEngine, type Owned } from '@podwire/engine';

/** A set of blocked networks in the packet filter, and a route that ends in nothing. */
const firewall: Owned = {
  owner: 'firewall',
  resources: [
    {
      kind: 'nft-table',
      family: 'inet',
      name: 'podwire-example',
      body: `
        set blocked { type ipv4_addr; flags interval; }
        chain in { type filter hook input priority filter; ip saddr @blocked drop; }`,
    },
    {
      ...{ kind: 'nft-element', family: 'inet', table: 'podwire-example', set: 'blocked' },
      key: [{ type: 'ipv4_interval', value: '192.0.2.0/24' }],
    },
    { kind: 'route', in: 'host', type: 'blackhole', destination: '198.51.100.0/24' },
  ],
};

/** @param kernel `openKernel()`, or a fake one. @returns what a reconcile repairs after the damage */
export async function blockNetworks(kernel: Kernel, damage: () => void): Promise<string[]> {
  const engine = createEngine({ backends: createLinuxBackends(kernel) });
  const signal = AbortSignal.timeout(10_000);
  try {
    await engine.apply(firewall, { signal });
    damage();
    const changes = await engine.reconcile([firewall], { signal });
    await engine.remove(firewall, { signal });
    return changes.map(({ action, what }) => `${action} ${what}`);
  } finally {
    await engine.close();
  }
}
