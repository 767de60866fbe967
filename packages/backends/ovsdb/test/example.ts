import { createSwitchBackend } from '@podwire/backend-ovsdb';
import { createEngine, type Owned } from '@podwire/engine';
import type { OvsdbClient } from '@podwire/ovsdb';

/** A bridge, and a port of it whose traffic is limited to 100 Mbit/s. */
const network: Owned = {
  owner: 'network:web',
  resources: [
    { kind: 'ovs-queue', name: 'web', otherConfig: { 'max-rate': '100000000' } },
    { kind: 'ovs-qos', name: 'web', type: 'linux-htb', queues: { 0: 'web' } },
    { kind: 'ovs-bridge', name: 'br-web', failMode: 'secure' },
    {
      ...{ kind: 'ovs-port', name: 'web0', bridge: 'br-web', tag: 5, qos: 'web' },
      interfaces: [{ name: 'web0', type: 'internal' }],
    },
  ],
};

/** @param client of the database Open_vSwitch. @returns what a reconcile repairs after the damage */
export async function keepNetwork(client: OvsdbClient, damage: () => Promise<unknown>): Promise<string[]> {
  const engine = createEngine({ backends: [createSwitchBackend(client)] });
  const signal = AbortSignal.timeout(10_000);
  try {
    await engine.apply(network, { signal });
    await damage();
    const changes = await engine.reconcile([network], { signal });
    await engine.remove(network, { signal });
    return changes.map(({ action, what }) => `${action} ${what}`);
  } finally {
    await engine.close();
  }
}
