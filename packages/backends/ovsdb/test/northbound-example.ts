import { createNorthboundBackend } from '@podwire/backend-ovsdb/northbound';
import { createEngine, type Owned } from '@podwire/engine';
import type { OvsdbClient } from '@podwire/ovsdb';

/** A subnet on a router. Traffic of those of its pods that are on the node n1 leaves by that node. */
const subnet: Owned = {
  owner: 'subnet:blue',
  resources: [
    { kind: 'logical-router', name: 'vpc' },
    { kind: 'logical-switch', name: 'blue' },
    {
      ...{ kind: 'logical-router-port', name: 'vpc-blue', router: 'vpc' },
      ...{ mac: '00:00:00:00:01:01', networks: ['10.16.0.1/16'] },
    },
    {
      ...{ kind: 'logical-switch-port', name: 'blue-vpc', switch: 'blue', type: 'router' },
      ...{ addresses: ['router'], options: { 'router-port': 'vpc-blue' } },
    },
    { kind: 'port-group', name: 'blue.n1' },
    {
      ...{ kind: 'router-policy', name: 'blue.n1', router: 'vpc', priority: 29_000 },
      ...{ match: 'ip4.src == $blue.n1_ip4', action: 'reroute', nextHops: ['100.64.0.2'] },
    },
  ],
};

/** A pod on the node n1. */
const pod: Owned = {
  owner: 'pod:web',
  resources: [
    {
      ...{ kind: 'logical-switch-port', name: 'web.default', switch: 'blue', groups: ['blue.n1'] },
      addresses: ['00:00:00:00:00:05 10.16.0.5'],
    },
  ],
};

/** @param client of the database OVN_Northbound. Resolves when ovn-northd has made logical flows of it. */
export async function makeSubnet(client: OvsdbClient, signal: AbortSignal): Promise<void> {
  const backend = createNorthboundBackend(client);
  const engine = createEngine({ backends: [backend] });
  try {
    await engine.apply(subnet, { signal });
    await engine.apply(pod, { signal });
    await backend.settle('southbound', { signal });
  } finally {
    await engine.close();
  }
}
