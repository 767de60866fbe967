import type { OvnFacts, OvnPod } from '@podwire/cluster-ovn';
import { OvsdbClient } from '@podwire/ovsdb';
import { silentLog } from '@podwire/platform';
import { expect, it, onTestFinished } from 'vitest';
import { LogicalNetwork } from '../src/ovn/logical-network.js';

const pod: OvnPod = {
  ...{ namespace: 'shop', name: 'web', subnet: 'blue', mac: '00:00:00:10:00:05', addresses: ['10.17.0.5'] },
  hasPortSecurity: false,
};
const facts: OvnFacts = {
  vpcs: new Map([['ovn-cluster', { isDefault: true, staticRoutes: [] }]]),
  subnets: new Map([
    [
      'blue',
      {
        vpc: 'ovn-cluster',
        egress: { type: 'distributed' },
        ranges: [{ cidr: '10.17.0.0/16', gateway: '10.17.0.1' }],
      },
    ],
  ]),
  nodes: new Map(),
  pods: new Map([['shop/web', pod]]),
};

it.each([
  ['whose rows could not be made', facts],
  ['without a subnet', { ...facts, subnets: new Map() }],
])('calls no pod in place %s, before and after the attempt', async (_, found) => {
  const endpoints = ['unix:/nonexistent/ovnnb_db.sock'];
  const client = new OvsdbClient({ database: 'OVN_Northbound', endpoints });
  const network = new LogicalNetwork(client, silentLog);
  onTestFinished(() => network.close());
  network.take(found);
  expect(network.isInPlace('shop/web')).toBe(false);
  await expect(network.reconcile(false, AbortSignal.abort())).rejects.toThrow();
  expect(network.isInPlace('shop/web')).toBe(false);
});
