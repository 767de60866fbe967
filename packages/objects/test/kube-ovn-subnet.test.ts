/** Subnets of Kube-OVN: what the schema takes and fills in, and how they are shown. */
import { describe, expect, test } from 'vitest';
import { findKind } from '../src/index.js';
import { centralized, dual, dualSubnet, type Fields, objectOf, routed, subnet } from './support/kube-ovn.js';

describe('reading', () => {
  test('fills in all that upstream fills in', () => {
    expect(objectOf(subnet({})).spec).toEqual({
      default: false,
      vpc: 'ovn-cluster',
      protocol: 'IPv4',
      namespaces: [],
      cidrBlock: '10.16.0.0/16',
      gateway: '10.16.0.1',
      excludeIps: ['10.16.0.1'],
      provider: 'ovn',
      gatewayType: 'distributed',
      gatewayNode: '',
      natOutgoing: false,
      externalEgressGateway: '',
      private: false,
      allowSubnets: [],
      vlan: '',
      disableGatewayCheck: false,
      disableInterConnection: false,
    });
  });

  test.each<[string, Fields, Fields]>([
    [
      'a prefix of IPv6 in another form',
      subnet({ cidrBlock: 'FD00:10:16:0::/64', gateway: 'FD00:10:16::0:A' }),
      {
        protocol: 'IPv6',
        cidrBlock: 'fd00:10:16::/64',
        gateway: 'fd00:10:16::a',
        excludeIps: ['fd00:10:16::a'],
      },
    ],
    [
      'both families',
      dualSubnet({}),
      {
        protocol: 'Dual',
        cidrBlock: dual,
        gateway: '10.16.0.1,fd00:10:16::1',
        excludeIps: ['10.16.0.1', 'fd00:10:16::1'],
      },
    ],
    [
      'empty fields, as upstream exports them',
      subnet({ gateway: '', gatewayNode: '', vlan: '', externalEgressGateway: '' }),
      { gateway: '10.16.0.1', gatewayNode: '', vlan: '' },
    ],
    [
      'ranges that overlap, touch and repeat',
      subnet({
        gateway: '10.16.255.254',
        excludeIps: [
          '10.16.0.20..10.16.0.30',
          '10.16.0.10..10.16.0.25',
          '10.16.0.31',
          '10.16.0.31',
          '10.16.0.5',
        ],
      }),
      { excludeIps: ['10.16.0.5', '10.16.0.10..10.16.0.31', '10.16.255.254'] },
    ],
    [
      'ranges of both families, with the gateway in one of them',
      dualSubnet({ excludeIps: ['fd00:10:16::2..fd00:10:16::ff', '10.16.0.0..10.16.0.9'] }),
      { excludeIps: ['10.16.0.0..10.16.0.9', 'fd00:10:16::1..fd00:10:16::ff'] },
    ],
    ['the smallest subnet', subnet({ cidrBlock: '10.16.0.4/30' }), { gateway: '10.16.0.5' }],
    ['the smallest subnet of IPv6', subnet({ cidrBlock: 'fd00::/126' }), { gateway: 'fd00::1' }],
    ['the last address of IPv6 as the gateway', subnet({ cidrBlock: 'fd00::/120', gateway: 'fd00::ff' }), {}],
    ['nodes with blanks between', centralized('n1, n2'), { gatewayNode: 'n1,n2' }],
    [
      'nodes with addresses',
      centralized('n1:192.168.1.10,n1:FD00::1,n2', { cidrBlock: dual }),
      { gatewayNode: 'n1:192.168.1.10,n1:fd00::1,n2' },
    ],
    ['a router outside', routed({}), { externalEgressGateway: '192.168.1.1', policyRoutingTableID: 1001 }],
    [
      'a router of one of two families',
      routed({ cidrBlock: dual, externalEgressGateway: 'FD00::1' }),
      { externalEgressGateway: 'fd00::1' },
    ],
    [
      'prefixes that reach it',
      subnet({ private: true, allowSubnets: ['10.17.1.0/16'] }),
      { allowSubnets: ['10.17.0.0/16'] },
    ],
    ['the protocol that it has', dualSubnet({ protocol: 'Dual' }), { protocol: 'Dual' }],
    ['the smallest MTU of IPv4', subnet({ mtu: 576 }), { mtu: 576 }],
  ])('takes %s', (_, value, fields) => {
    expect(objectOf(value).spec).toMatchObject(fields);
  });

  test('changes nothing in an object that is read again', () => {
    const all = [dualSubnet({ excludeIps: ['10.16.0.2'] }), centralized('n1 , n2:192.168.1.10'), routed({})];
    for (const value of all) {
      const object = objectOf(value);
      expect(objectOf(object)).toEqual(object);
    }
  });
});

test('the columns are those of kubectl get', () => {
  const object = objectOf({
    ...dualSubnet({ vlan: 'vlan10' }),
    status: { v4usingIPs: 3, v4availableIPs: 65_530 },
  });
  const { columns } = findKind(object)!;
  expect(columns.map(({ title, show }) => [title, show(object)])).toEqual([
    ['PROVIDER', 'ovn'],
    ['VPC', 'ovn-cluster'],
    ['VLAN', 'vlan10'],
    ['PROTOCOL', 'Dual'],
    ['CIDR', dual],
    ['PRIVATE', 'false'],
    ['NAT', 'false'],
    ['DEFAULT', 'false'],
    ['GATEWAYTYPE', 'distributed'],
    ['V4USED', '3'],
    ['V4AVAILABLE', '65530'],
    ['V6USED', '0'],
    ['V6AVAILABLE', '0'],
    ['EXCLUDEIPS', '["10.16.0.1","fd00:10:16::1"]'],
  ]);
});
