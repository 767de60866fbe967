import { createFlowBackend, type OpenBridge } from '@podwire/backend-openflow';
import { createEngine, type Owned } from '@podwire/engine';

/** Half of what goes to a service is sent to each of two pods, at most 10,000 packets per second. */
const service: Owned = {
  owner: 'service:web',
  resources: [
    { kind: 'flow-meter', bridge: 'br0', id: 0x7001, unit: 'pktps', bands: [{ rate: 10_000 }] },
    {
      ...{ kind: 'flow-group', bridge: 'br0', id: 9, type: 'select' },
      buckets: [3, 4].map((port) => ({ actions: [{ type: 'output', port }] })),
    },
    {
      ...{ kind: 'flow', bridge: 'br0', table: 60, priority: 100, mark: 0x77656200 },
      match: { eth_type: 0x0800, ip_dst: '172.30.0.9' },
      ...{ meter: 0x7001, actions: [{ type: 'group', group: 9 }] },
    },
  ],
};

/**
 * @param open a connection to a bridge: `openSwitch('/run/openvswitch/BRIDGE.mgmt', options)`
 * @returns what a reconcile repairs after the damage
 */
export async function keepService(open: OpenBridge, damage: () => Promise<unknown>): Promise<string[]> {
  const engine = createEngine({ backends: [createFlowBackend({ bridges: ['br0'], open })] });
  const signal = AbortSignal.timeout(10_000);
  try {
    await engine.apply(service, { signal });
    await damage();
    const changes = await engine.reconcile([service], { signal });
    await engine.remove(service, { signal });
    return changes.map(({ action, what }) => `${action} ${what}`);
  } finally {
    await engine.close();
  }
}
