import type { OvnFacts } from '@podwire/cluster-ovn';
import { expect, it } from 'vitest';
import { listPlaces } from '../src/ovn/places.js';

const egress = { type: 'distributed' } as const;
const mac = '0a:00:00:00:00:01';
const pod = { namespace: 'shop', subnet: 'blue', mac, hasPortSecurity: false };

const facts: OvnFacts = {
  vpcs: new Map([['red', { isDefault: false, staticRoutes: [] }]]),
  subnets: new Map([
    ['blue', { vpc: 'red', ranges: [], egress, allowedRanges: [] }],
    ['outer', { vpc: 'red', ranges: [], egress, underlay: { provider: 'net1', vlan: 10 } }],
    ['lost', { vpc: 'none', ranges: [], egress }],
  ]),
  nodes: new Map([['n1', { mac, joinAddresses: ['100.64.0.2', 'fd64::2'], addresses: ['192.0.2.1'] }]]),
  pods: new Map([
    ['shop/web', { ...pod, name: 'web', node: 'n1', addresses: ['10.1.0.2'] }],
    ['shop/db', { ...pod, name: 'db', addresses: ['10.1.0.3'] }],
  ]),
};

it('gives a switch the MAC of its gateway where that is a router of OVN', () => {
  expect(listPlaces(facts).switches).toEqual([
    { name: 'blue', isPrivate: true, gatewayMac: expect.stringMatching(/^02(:[0-9a-f]{2}){5}$/) as string },
    { name: 'outer', isPrivate: false },
    { name: 'lost', isPrivate: false },
  ]);
});

it('lists ports of nodes and pods by their logical names', () => {
  expect(listPlaces(facts).ports).toEqual([
    { name: 'node-n1', switch: 'join', mac, addresses: ['100.64.0.2', 'fd64::2'], node: 'n1' },
    { name: 'web.shop', switch: 'blue', mac, addresses: ['10.1.0.2'], pod: 'shop/web', node: 'n1' },
    { name: 'db.shop', switch: 'blue', mac, addresses: ['10.1.0.3'], pod: 'shop/db' },
  ]);
});
