/** Subnets of Kube-OVN: what the schema refuses, and how it says so. */
import { describe, expect, test } from 'vitest';
import { formatObjectProblem, readObjects } from '../src/index.js';
import { centralized, dual, dualSubnet, objectOf, problemsOf, routed, subnet } from './support/kube-ovn.js';

const wantedBlock =
  'spec.cidrBlock: must be a prefix, or one of each family with that of IPv4 first: 10.16.0.0/16 or 10.16.0.0/16,fd00:10:16::/64';

describe('cidrBlock', () => {
  test.each<[string, string, string]>([
    ['no prefix', '10.16.0.0', wantedBlock],
    ['two of one family', '10.16.0.0/16,10.17.0.0/16', wantedBlock],
    ['that of IPv6 first', 'fd00:10:16::/64,10.16.0.0/16', wantedBlock],
    ['three', `${dual},fd01::/64`, wantedBlock],
    ['a comma at the end', '10.16.0.0/16,', wantedBlock],
    [
      'bits beyond its length',
      '10.16.1.0/16',
      'spec.cidrBlock: has bits set beyond its length; write 10.16.0.0/16',
    ],
    [
      'bits beyond the length of the second',
      '10.16.0.0/16,fd00:10:16::1/64',
      `spec.cidrBlock: has bits set beyond its length; write ${dual}`,
    ],
    ['loopback', '127.0.0.0/16', 'spec.cidrBlock: has loopback addresses, which no pod can have'],
    ['multicast', '224.0.0.0/8', 'spec.cidrBlock: has multicast addresses, which no pod can have'],
    ['link-local', '169.254.1.0/24', 'spec.cidrBlock: has link-local addresses, which no pod can have'],
    [
      'link-local beside a good one',
      '10.16.0.0/16,fe80::/64',
      'spec.cidrBlock: has link-local addresses, which no pod can have',
    ],
    [
      'no room',
      '10.16.0.0/31',
      'spec.cidrBlock: must be at most /30, since no address is left beside the gateway in 10.16.0.0/31',
    ],
    [
      'no room for IPv6',
      'fd00::/127',
      'spec.cidrBlock: must be at most /126, since no address is left beside the gateway in fd00::/127',
    ],
  ])('must not have %s', (_, cidrBlock, problem) => {
    expect(problemsOf(subnet({ cidrBlock }))).toEqual([problem]);
  });
});

const wantedAddress =
  'must be an address, or one of each family with that of IPv4 first: 10.16.0.1 or 10.16.0.1,fd00:10:16::1';

describe('a schema', () => {
  test.each<[string, unknown, string]>([
    ['no cidrBlock', subnet({ cidrBlock: undefined }), 'cidrBlock: is missing'],
    ['a gateway that is none', subnet({ gateway: '10.16.0.1/16' }), `gateway: ${wantedAddress}`],
    [
      'a gateway of one family for two',
      dualSubnet({ gateway: '10.16.0.1' }),
      'gateway: must have an address of each prefix of cidrBlock: 10.16.0.1,fd00:10:16::1; is 10.16.0.1',
    ],
    [
      'a gateway of the other family',
      subnet({ gateway: 'fd00::1' }),
      'gateway: must have an address of each prefix of cidrBlock: 10.16.0.1; is fd00::1',
    ],
    [
      'a gateway elsewhere',
      subnet({ gateway: '10.17.0.1' }),
      'gateway: 10.17.0.1 does not lie in 10.16.0.0/16',
    ],
    [
      'the network as the gateway',
      subnet({ gateway: '10.16.0.0' }),
      'gateway: must not be 10.16.0.0, the address of the network 10.16.0.0/16 itself',
    ],
    [
      'the broadcast address as the gateway',
      subnet({ gateway: '10.16.255.255' }),
      'gateway: must not be 10.16.255.255, the broadcast address of 10.16.0.0/16',
    ],
    [
      'another protocol',
      dualSubnet({ protocol: 'IPv4' }),
      `protocol: must be Dual, as cidrBlock ${dual} is, or absent; is IPv4`,
    ],
    [
      'a protocol of no kind',
      subnet({ protocol: 'ipv4' }),
      'protocol: must be IPv4, IPv6 or Dual, is "ipv4" (did you mean IPv4?)',
    ],
    [
      'a range that is none',
      subnet({ excludeIps: ['10.16.0.1-10.16.0.9'] }),
      'excludeIps[0]: must be an address or a range: 10.16.0.1 or 10.16.0.10..10.16.0.20',
    ],
    [
      'a range without an end',
      subnet({ excludeIps: ['10.16.0.1..'] }),
      'excludeIps[0]: must be an address or a range: 10.16.0.1 or 10.16.0.10..10.16.0.20',
    ],
    [
      'a range that runs backwards',
      subnet({ excludeIps: ['10.16.0.9..10.16.0.1'] }),
      'excludeIps[0]: must begin with the lower address: 10.16.0.1..10.16.0.9',
    ],
    [
      'a range of two families',
      dualSubnet({ excludeIps: ['10.16.0.1..fd00:10:16::1'] }),
      'excludeIps[0]: must have both ends in one family',
    ],
    [
      'a range that ends outside',
      subnet({ excludeIps: ['10.16.0.5', '10.16.255.0..10.17.0.5'] }),
      'excludeIps[1]: 10.16.255.0..10.17.0.5 does not lie in 10.16.0.0/16',
    ],
    [
      'an address of the other family',
      subnet({ excludeIps: ['fd00::5'] }),
      'excludeIps[0]: fd00::5 does not lie in 10.16.0.0/16',
    ],
    [
      'nodes of a distributed gateway',
      subnet({ gatewayNode: 'n1' }),
      'gatewayNode: is only for gatewayType centralized',
    ],
    [
      'no node of a centralized gateway',
      centralized(''),
      'gatewayNode: is missing for gatewayType centralized: n1,n2 or n1:192.168.1.10',
    ],
    [
      'a node without an address behind the colon',
      centralized('n1,n2:'),
      'gatewayNode: must be made of NODE or NODE:ADDRESS with commas between, has "n2:"',
    ],
    [
      'a node without a name',
      centralized('n1,,n2'),
      'gatewayNode: must be made of NODE or NODE:ADDRESS with commas between, has ""',
    ],
    ['a node twice', centralized('n1,n2,n1'), 'gatewayNode: has n1 twice'],
    [
      'a node with an address of the other family',
      centralized('n1:fd00::1'),
      'gatewayNode: fd00::1 is of IPv6, which cidrBlock does not have',
    ],
    [
      'NAT beside a router outside',
      routed({ natOutgoing: true }),
      'natOutgoing: must be false with externalEgressGateway, where pods keep their own addresses',
    ],
    [
      'no priority',
      routed({ policyRoutingPriority: undefined }),
      'policyRoutingPriority: is missing beside externalEgressGateway',
    ],
    [
      'no table',
      routed({ policyRoutingTableID: undefined }),
      'policyRoutingTableID: is missing beside externalEgressGateway',
    ],
    [
      'a priority for nothing',
      subnet({ policyRoutingPriority: 5 }),
      'policyRoutingPriority: is only for externalEgressGateway',
    ],
    [
      'a table for nothing',
      subnet({ policyRoutingTableID: 5 }),
      'policyRoutingTableID: is only for externalEgressGateway',
    ],
    [
      'priority 32766',
      routed({ policyRoutingPriority: 32_766 }),
      'policyRoutingPriority: must be at most 32765, is 32766',
    ],
    ['priority 0', routed({ policyRoutingPriority: 0 }), 'policyRoutingPriority: must be at least 1, is 0'],
    [
      'the table main',
      routed({ policyRoutingTableID: 254 }),
      'policyRoutingTableID: must not be 252 to 255, which are tables of the kernel',
    ],
    [
      'a router of another VPC',
      routed({ vpc: 'red' }),
      'externalEgressGateway: is only for the VPC ovn-cluster, not for red',
    ],
    [
      'a router of a VLAN',
      routed({ vlan: 'vlan10' }),
      'externalEgressGateway: is only for a subnet without vlan, which is vlan10 here',
    ],
    [
      'a router that is none',
      routed({ externalEgressGateway: 'gw' }),
      `externalEgressGateway: ${wantedAddress}`,
    ],
    [
      'a router of the other family',
      routed({ externalEgressGateway: 'fd00::1' }),
      'externalEgressGateway: fd00::1 is of IPv6, which cidrBlock does not have',
    ],
    [
      'a router inside',
      routed({ externalEgressGateway: '10.16.0.9' }),
      'externalEgressGateway: must lie outside of the subnet; 10.16.0.9 is in 10.16.0.0/16',
    ],
    [
      'a prefix that reaches it',
      subnet({ allowSubnets: ['10.17.0.0'] }),
      'allowSubnets[0]: must be a prefix in CIDR notation: 10.0.0.0/8 or fd00::/8',
    ],
    [
      'a namespace twice',
      subnet({ namespaces: ['a', 'b', 'a'] }),
      'namespaces[2]: stands in the list already',
    ],
    [
      'a namespace with a dot',
      subnet({ namespaces: ['a.b'] }),
      'namespaces[0]: must be made of small letters, digits and - (at most 63), with a letter or digit at both ends',
    ],
    ['an MTU below that of IPv6', dualSubnet({ mtu: 1200 }), 'mtu: must be at least 1280 for IPv6, is 1200'],
    [
      'a gateway type',
      subnet({ gatewayType: 'central' }),
      'gatewayType: must be distributed or centralized, is "central"',
    ],
    ['a field of a newer version', subnet({ enableDHCP: true }), 'enableDHCP: unknown field'],
    [
      'a field that is misspelt',
      subnet({ natOutGoing: true }),
      'natOutGoing: unknown field (did you mean natOutgoing?)',
    ],
  ])('refuses %s', (_, value, problem) => {
    expect(problemsOf(value)).toEqual([`spec.${problem}`]);
  });

  test('refuses a name that no label can have', () => {
    expect(problemsOf(subnet({}, 'a'.repeat(64)))).toEqual([
      'metadata.name: must be made of small letters, digits, - and . (at most 63), with a letter or digit at both ends',
    ]);
  });

  test('says everything that is wrong at once, with file, line and field', () => {
    const text = [
      'apiVersion: kubeovn.io/v1',
      'kind: Subnet',
      'metadata: {name: shop}',
      'spec:',
      '  cidrBlock: 10.16.0.0/16',
      '  gateway: 10.17.0.1',
      '  excludeIps:',
      '    - 10.16.0.9..10.16.0.1',
      '  gatewayNode: n1',
    ].join('\n');
    expect(readObjects(text, 'ovn.yaml').problems.map(formatObjectProblem)).toEqual([
      'ovn.yaml:6: spec.gateway: 10.17.0.1 does not lie in 10.16.0.0/16',
      'ovn.yaml:8: spec.excludeIps[0]: must begin with the lower address: 10.16.0.1..10.16.0.9',
      'ovn.yaml:9: spec.gatewayNode: is only for gatewayType centralized',
    ]);
  });

  test('takes 4,096 ranges, with the gateway among them', () => {
    const most = Array.from({ length: 4096 }, (_, index) => `10.16.${index >> 7}.${(index & 127) * 2 + 1}`);
    expect(objectOf(subnet({ excludeIps: most })).spec['excludeIps']).toHaveLength(4096);
    expect(problemsOf(subnet({ excludeIps: most.with(0, '10.16.200.1') }))).toEqual([
      'spec.excludeIps: must have at most 4096 ranges, with the gateway',
    ]);
    expect(problemsOf(subnet({ excludeIps: [...most, '10.16.200.1'] }))).toContain(
      'spec.excludeIps: must have at most 4096 entries, has 4097',
    );
  });
});
