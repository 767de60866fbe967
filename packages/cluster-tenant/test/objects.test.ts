/** Fields of objects: what is taken, and which field a refusal names. */
import { describe, expect, test } from 'vitest';
import { Bench, networkOf, refusalOf } from './support.js';

const rule = (fields: object) => ({
  ...{ tenantName: 'default', policyName: 'p', ruleId: '1', direction: 'in', action: 'allow' },
  ...fields,
});

const cases: readonly (readonly [plural: string, key: string, body: unknown, words: string])[] = [
  ['tenants', 'a b', { tenantName: 'a b' }, 'tenant a b: tenantName must be a name of letters'],
  ['tenants', 'x', { tenantName: 'y' }, 'tenant x: key must be that of the fields, y'],
  ['tenants', 'x'.repeat(65), { tenantName: 'x'.repeat(65) }, 'at most 64 characters'],
  ['tenants', 'x', { tenantName: 'x', color: 'red' }, 'tenant x: color is not known'],
  ['tenants', 'x', { tenantName: 7 }, 'tenant x: tenantName must be text'],
  ['tenants', 'x', [], 'tenant x: body must be an object in JSON'],
  ['tenants', 'x', undefined, 'tenant x: body must be an object in JSON'],
  ['tenants', 'x', { tenantName: 'x', defaultNetwork: '-' }, 'tenant x: defaultNetwork must be a name'],
  [
    'networks',
    'default:web',
    networkOf({ subnet: '10.0.0.0/7' }),
    'subnet must have a prefix of 8 to 32 bits, not 7',
  ],
  [
    'networks',
    'default:web',
    networkOf({ subnet: '10.1.1.0/33' }),
    'subnet must have a prefix of 8 to 32 bits',
  ],
  [
    'networks',
    'default:web',
    networkOf({ subnet: '10.1.1.0' }),
    'subnet must be an IPv4 subnet, 10.1.1.0/24',
  ],
  [
    'networks',
    'default:web',
    networkOf({ subnet: '10.1.1.9-10.1.1.2/24' }),
    'subnet must have a range whose first',
  ],
  [
    'networks',
    'default:web',
    networkOf({ subnet: '10.1.1.9-10.1.2.2/24' }),
    'subnet must have a range within',
  ],
  [
    'networks',
    'default:web',
    networkOf({ gateway: '10.1.2.1' }),
    'gateway must be an address of 10.1.1.0/24',
  ],
  [
    'networks',
    'default:web',
    networkOf({ gateway: '10.1.1.0' }),
    'gateway must be an address of 10.1.1.0/24',
  ],
  ['networks', 'default:web', networkOf({ gateway: '10.1.1.255' }), 'neither its first nor its last'],
  ['networks', 'default:web', networkOf({ encap: 'gre' }), 'encap must be vlan or vxlan'],
  ['networks', 'default:web', networkOf({ encap: undefined }), 'encap must be vlan or vxlan'],
  ['networks', 'default:web', networkOf({ nwType: 'other' }), 'nwType must be infra or data'],
  ['networks', 'default:web', networkOf({ pktTag: 1.5 }), 'pktTag must be a whole number from 0 to 16777215'],
  [
    'networks',
    'default:web',
    networkOf({ encap: 'vlan', pktTag: 4095 }),
    'pktTag must be a VLAN of at most 4094',
  ],
  [
    'networks',
    'default:web',
    networkOf({ ipv6Gateway: 'fd00::1' }),
    'ipv6Gateway must not stand without an ipv6Subnet',
  ],
  ['networks', 'default:web', networkOf({ ipv6Subnet: 'fd00::/128' }), 'ipv6Subnet must be an IPv6 subnet'],
  [
    ...(['networks', 'default:web'] as const),
    networkOf({ ipv6Subnet: 'fd00::/64', ipv6Gateway: 'fd01::1' }),
    'ipv6Gateway must be an address of fd00::/64',
  ],
  ['networks', 'default:web', networkOf({ cfgdTag: 'x'.repeat(129) }), 'cfgdTag must be a name'],
  [
    ...(['endpointGroups', 'default:g'] as const),
    { tenantName: 'default', groupName: 'g', networkName: 'web', policies: ['p', 'p'] },
    'policies must name nothing twice',
  ],
  [
    ...(['endpointGroups', 'default:g'] as const),
    { tenantName: 'default', groupName: 'g', networkName: 'web', policies: [5] },
    'policies.0 must be text',
  ],
  [
    ...(['endpointGroups', 'default:g'] as const),
    { tenantName: 'default', groupName: 'g', networkName: 'web', extContractsGrps: ['c'] },
    'extContractsGrps.0 external contracts are not there yet',
  ],
  ['rules', 'default:p:1', rule({ direction: 'up' }), 'direction must be in or out'],
  ['rules', 'default:p:1', rule({ priority: 101 }), 'priority must be a whole number from 1 to 100'],
  ['rules', 'default:p:1', rule({ port: 65_536 }), 'port must be a whole number from 0 to 65535'],
  [
    'rules',
    'default:p:1',
    rule({ protocol: '256' }),
    'protocol must be tcp, udp, icmp or a number up to 255',
  ],
  [
    'rules',
    'default:p:1',
    rule({ toNetwork: 'web' }),
    'toNetwork must not stand in a rule of the direction in',
  ],
  ['rules', 'default:p:1', rule({ toEndpointGroup: 'g' }), 'toEndpointGroup must not stand in a rule'],
  [
    'rules',
    'default:p:1',
    rule({ direction: 'out', fromIpAddress: '10.1.1.1' }),
    'fromIpAddress must not stand',
  ],
  ['rules', 'default:p:1', rule({ fromNetwork: 'web', fromIpAddress: '10.1.1.1' }), 'beside fromNetwork'],
  ['rules', 'default:p:1', rule({ fromNetwork: 'web', fromEndpointGroup: 'g' }), 'beside fromNetwork'],
  ['rules', 'default:p:1', rule({ fromIpAddress: '10.1.1.256' }), 'fromIpAddress must be an IPv4 address'],
  [
    'netprofiles',
    'default:q',
    { tenantName: 'default', profileName: 'q', DSCP: 64 },
    'DSCP must be a whole number',
  ],
  [
    'netprofiles',
    'default:q',
    { tenantName: 'default', profileName: 'q', burst: 1 },
    'burst must be 0, or at least 2',
  ],
  [
    'netprofiles',
    'default:q',
    { tenantName: 'default', profileName: 'q', bandwidth: '0 mbps' },
    'bandwidth must be',
  ],
  ['globals', 'global', { vlans: '0-10' }, 'vlans must lie within 1 to 4094'],
  ['globals', 'global', { vlans: '10-5' }, 'vlans must have a first number that is not behind its last'],
  ['globals', 'global', { vxlans: '1-20000' }, 'vxlans must have at most 16000 numbers behind its first'],
  ['globals', 'global', { vxlans: '60000-70000' }, 'vxlans must lie within 1 to 65535'],
  ['globals', 'global', { pvtSubnet: '172.19.0.0/24' }, 'pvtSubnet must be an IPv4 subnet of 16 bits'],
  [
    'globals',
    'global',
    { networkInfraType: 'aci' },
    'networkInfraType must be default: ACI is not there yet',
  ],
  ['globals', 'other', { name: 'global' }, 'key must be that of the fields, global'],
];

test.each(cases)('refuses %s %s: %j', (plural, key, body, words) => {
  const bench = new Bench();
  const before = JSON.stringify([...bench.cluster.table('network')]);
  expect(refusalOf(() => bench.put(plural, key, body))).toMatch(/^REQUEST_INVALID /);
  expect(refusalOf(() => bench.put(plural, key, body))).toContain(words);
  expect(JSON.stringify([...bench.cluster.table('network')])).toBe(before);
});

test('a body that is nested too deep is refused before it is looked at', () => {
  let body: unknown = {};
  for (let level = 0; level < 20; level++) body = { tenantName: body };
  expect(refusalOf(() => new Bench().put('tenants', 'x', body))).toContain('REQUEST_TOO_LARGE tenant x');
});

describe('an answer', () => {
  test('has the key and the links that follow from other objects, as the original writes them', () => {
    const bench = new Bench();
    bench.network({ gateway: '10.1.1.254' });
    bench.put('policys', 'default:p', { tenantName: 'default', policyName: 'p' });
    bench.put('netprofiles', 'default:q', { tenantName: 'default', profileName: 'q', bandwidth: '10 mbps' });
    const group = bench.group({ groupName: 'g', policies: ['p'], netProfile: 'q' });
    expect(group).toEqual({
      ...{ key: 'default:g', groupName: 'g', netProfile: 'q', networkName: 'web', policies: ['p'] },
      tenantName: 'default',
      'link-sets': { Policies: { 'default:p': { type: 'policy', key: 'default:p' } } },
      links: {
        AppProfile: {},
        NetProfile: { type: 'netprofile', key: 'default:q' },
        Network: { type: 'network', key: 'default:web' },
        Tenant: { type: 'tenant', key: 'default' },
      },
    });
    const tenant = bench.put('tenants', 'default', { tenantName: 'default' });
    expect(Object.keys(tenant['link-sets'] as object)).toEqual([
      ...['EndpointGroups', 'NetProfiles', 'Networks', 'Policies'],
    ]);
  });

  test('can be sent back as a request', () => {
    const bench = new Bench();
    const network = bench.network({ gateway: '10.1.1.254', ipv6Subnet: 'fd00::/64' });
    expect(bench.put('networks', 'default:web', network)).toEqual(network);
  });
});
