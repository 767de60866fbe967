import { createKindRegistry } from '@podwire/engine';
import { describe, expect, test } from 'vitest';
import { northboundKinds, type NorthboundResources } from '../src/northbound/index.js';
import { base, owned, port } from './northbound-subject.js';

const kinds = createKindRegistry(Object.values(northboundKinds));

type Kinds = keyof NorthboundResources;

/** One with every field of its kind, and the columns of its row. */
const complete: { readonly [K in Kinds]: readonly [Required<NorthboundResources[K]>, object] } = {
  'logical-switch': [
    {
      ...{ kind: 'logical-switch', name: 's', otherConfig: { subnet: '10.0.0.0/8' }, loadBalancers: ['lb'] },
      externalIds: { a: 'b' },
    },
    { other_config: { subnet: '10.0.0.0/8' } },
  ],
  'logical-switch-port': [
    {
      ...{ kind: 'logical-switch-port', name: 'p', switch: 's', type: 'localnet', addresses: ['unknown'] },
      ...{ portSecurity: ['00:00:00:00:00:01'], options: { network_name: 'net1' }, tag: 10, enabled: false },
      ...{ dhcpv4Options: 'four', dhcpv6Options: 'six', groups: ['g'], externalIds: { a: 'b' } },
    },
    {
      ...{ type: 'localnet', addresses: ['unknown'], port_security: ['00:00:00:00:00:01'], tag: 10 },
      ...{ options: { network_name: 'net1' }, enabled: false },
    },
  ],
  'logical-router': [
    {
      ...{ kind: 'logical-router', name: 'r', options: { chassis: 'n1' }, loadBalancers: ['lb'] },
      externalIds: { a: 'b' },
    },
    { options: { chassis: 'n1' } },
  ],
  'logical-router-port': [
    {
      ...{ kind: 'logical-router-port', name: 'rp', router: 'r', mac: '00:00:00:00:00:01' },
      ...{
        networks: ['10.0.0.1/8'],
        ipv6RaConfigs: { address_mode: 'slaac' },
        options: { gateway_mtu: '1400' },
      },
      externalIds: { a: 'b' },
    },
    {
      ...{ mac: '00:00:00:00:00:01', networks: ['10.0.0.1/8'], ipv6_ra_configs: { address_mode: 'slaac' } },
      options: { gateway_mtu: '1400' },
    },
  ],
  'static-route': [
    {
      ...{ kind: 'static-route', name: 'sr', router: 'r', prefix: '10.1.0.0/16', nextHop: '10.0.0.2' },
      ...{ policy: 'src-ip', outputPort: 'rp', routeTable: 't', options: { ecmp_symmetric_reply: 'true' } },
      externalIds: { a: 'b' },
    },
    {
      ...{ ip_prefix: '10.1.0.0/16', nexthop: '10.0.0.2', policy: 'src-ip', output_port: 'rp' },
      ...{ route_table: 't', options: { ecmp_symmetric_reply: 'true' } },
    },
  ],
  'router-policy': [
    {
      ...{
        kind: 'router-policy',
        name: 'rp',
        router: 'r',
        priority: 31_000,
        match: 'ip4',
        action: 'reroute',
      },
      ...{ nextHops: ['100.64.0.2', '100.64.0.3'], options: { pkt_mark: '1' }, externalIds: { a: 'b' } },
    },
    {
      ...{ priority: 31_000, match: 'ip4', action: 'reroute', nexthops: ['100.64.0.2', '100.64.0.3'] },
      options: { pkt_mark: '1' },
    },
  ],
  'router-nat': [
    {
      ...{ kind: 'router-nat', name: 'n', router: 'r', type: 'dnat_and_snat', externalIp: '192.0.2.1' },
      ...{ logicalIp: '10.0.0.5', logicalPort: 'p', externalMac: '00:00:00:00:00:02' },
      ...{ options: { stateless: 'true' }, externalIds: { a: 'b' } },
    },
    {
      ...{ type: 'dnat_and_snat', external_ip: '192.0.2.1', logical_ip: '10.0.0.5', logical_port: 'p' },
      ...{ external_mac: '00:00:00:00:00:02', options: { stateless: 'true' } },
    },
  ],
  'address-set': [
    { kind: 'address-set', name: 'as', addresses: ['10.0.0.1', '10.0.0.2'], externalIds: { a: 'b' } },
    { addresses: ['10.0.0.1', '10.0.0.2'] },
  ],
  'port-group': [{ kind: 'port-group', name: 'g', externalIds: { a: 'b' } }, {}],
  'dhcp-options': [
    {
      ...{ kind: 'dhcp-options', name: 'four', cidr: '10.0.0.0/8', options: { mtu: '1400' } },
      externalIds: { a: 'b' },
    },
    { cidr: '10.0.0.0/8', options: { mtu: '1400' } },
  ],
  acl: [
    {
      ...{ kind: 'acl', name: 'c', on: { portGroup: 'g' }, direction: 'from-lport', priority: 2_001 },
      ...{ match: 'inport == @g && ip4', action: 'allow-related', log: true, severity: 'info' },
      ...{ logName: 'web', logMeter: 'few', options: { 'apply-after-lb': 'true' }, externalIds: { a: 'b' } },
    },
    {
      ...{ direction: 'from-lport', priority: 2_001, match: 'inport == @g && ip4', action: 'allow-related' },
      ...{ log: true, severity: 'info', name: 'web', meter: 'few', options: { 'apply-after-lb': 'true' } },
    },
  ],
  'qos-rule': [
    {
      ...{ kind: 'qos-rule', name: 'q', switch: 's', direction: 'from-lport', priority: 100 },
      ...{
        match: 'inport == "web.shop"',
        bandwidth: { rate: 10_000, burst: 8_000 },
        externalIds: { a: 'b' },
      },
    },
    {
      ...{ direction: 'from-lport', priority: 100, match: 'inport == "web.shop"' },
      bandwidth: { rate: 10_000, burst: 8_000 },
    },
  ],
  'load-balancer': [
    {
      ...{ kind: 'load-balancer', name: 'lb', protocol: 'udp', selectionFields: ['ip_src'] },
      vips: { '10.96.0.10:53': ['10.0.0.5:53', '10.0.0.6:53'], '[fd00::1]:53': [] },
      ...{ options: { reject: 'true' }, externalIds: { a: 'b' } },
    },
    {
      ...{ protocol: 'udp', selection_fields: ['ip_src'], options: { reject: 'true' } },
      vips: { '10.96.0.10:53': '10.0.0.5:53,10.0.0.6:53', '[fd00::1]:53': '' },
    },
  ],
};

const inSwitch = { table: 'Logical_Switch', name: 's' };
const inRouter = { table: 'Logical_Router', name: 'r' };

const places: { readonly [K in Kinds]: { table: string; name: string; parent?: object; groups?: string[] } } =
  {
    'logical-switch': { table: 'Logical_Switch', name: 's' },
    'logical-switch-port': { table: 'Logical_Switch_Port', name: 'p', parent: inSwitch, groups: ['g'] },
    'logical-router': { table: 'Logical_Router', name: 'r' },
    'logical-router-port': { table: 'Logical_Router_Port', name: 'rp', parent: inRouter },
    'static-route': { table: 'Logical_Router_Static_Route', name: 'sr', parent: inRouter },
    'router-policy': { table: 'Logical_Router_Policy', name: 'rp', parent: inRouter },
    'router-nat': { table: 'NAT', name: 'n', parent: inRouter },
    'address-set': { table: 'Address_Set', name: 'as' },
    'port-group': { table: 'Port_Group', name: 'g' },
    'dhcp-options': { table: 'DHCP_Options', name: 'four' },
    acl: { table: 'ACL', name: 'c', parent: { table: 'Port_Group', name: 'g' } },
    'qos-rule': { table: 'QoS', name: 'q', parent: inSwitch },
    'load-balancer': { table: 'Load_Balancer', name: 'lb' },
  };

const rowsOf = <K extends Kinds>(resource: NorthboundResources[K]) =>
  northboundKinds[resource.kind].rows(resource as never);

describe('rows', () => {
  test.each(Object.keys(complete) as Kinds[])('of %s have every field in its column', (kind) => {
    const [resource, values] = complete[kind];
    const [row, ...parts] = rowsOf(resource);
    expect(parts).toEqual([]);
    const { columns, externalIds, ...place } = row;
    expect(place).toEqual(places[kind]);
    expect(externalIds).toEqual({ a: 'b' });
    const plain = Object.entries(columns).filter(([, value]) => 'value' in value);
    expect(Object.fromEntries(plain)).toEqual(
      Object.fromEntries(
        Object.entries(values).map(([column, value]) => [column, { value: value as unknown }]),
      ),
    );
  });

  test('of a switch port lead to its DHCP options', () => {
    const [{ columns }] = rowsOf(complete['logical-switch-port'][0]);
    expect(columns).toMatchObject({
      dhcpv4_options: { table: 'DHCP_Options', to: 'four' },
      dhcpv6_options: { table: 'DHCP_Options', to: 'six' },
    });
  });

  test('of a switch and a router lead to their load balancers', () => {
    for (const kind of ['logical-switch', 'logical-router'] as const)
      expect(rowsOf(complete[kind][0])[0].columns).toMatchObject({
        load_balancer: { table: 'Load_Balancer', toEach: ['lb'] },
      });
  });

  test('of an ACL hang in a switch or in a port group', () => {
    const [{ parent }] = rowsOf({ ...complete.acl[0], on: { switch: 's' } });
    expect(parent).toEqual(inSwitch);
  });

  test('of what is left out are empty, so that a value that was there goes', () => {
    const [{ columns }] = rowsOf({ kind: 'logical-switch-port', name: 'p', switch: 's', addresses: [] });
    expect(columns).toEqual({
      ...{
        type: { value: '' },
        addresses: { value: [] },
        port_security: { value: [] },
        options: { value: {} },
      },
      ...{ tag: { value: undefined }, enabled: { value: undefined } },
      dhcpv4_options: { table: 'DHCP_Options', to: undefined },
      dhcpv6_options: { table: 'DHCP_Options', to: undefined },
    });
  });
});

const checkOf = (resource: object): string | undefined =>
  northboundKinds[(resource as { kind: Kinds }).kind].check(resource);

describe('checks', () => {
  test('pass resources that were read from a file', () => {
    const all = [...Object.values(complete).map(([one]) => one), ...base.resources, ...owned.resources];
    for (const one of all) expect(checkOf(JSON.parse(JSON.stringify(one)) as object)).toBeUndefined();
  });

  test.each([
    [{ ...port('p'), tag: 0 }, 'tag: no number of 1 to 4095'],
    [{ ...port('p'), tag: 4_096 }, 'tag: no number of 0 to 4095'],
    [{ ...port('p'), groups: ['a-b'] }, 'groups.0: no name of letters, digits, _ and .'],
    [{ ...port('p'), addresses: undefined }, 'addresses: no list of at least 0'],
    [{ kind: 'port-group', name: '1a' }, 'name: no name of letters, digits, _ and .'],
    [{ ...complete['address-set'][0], name: 'np-1' }, 'name: no name of letters, digits, _ and .'],
    [{ ...complete['logical-router-port'][0], networks: [] }, 'networks: no list of at least 1'],
    [{ ...complete['router-policy'][0], priority: 32_768 }, 'priority: no number of 0 to 32767'],
    [{ ...complete['router-policy'][0], match: '' }, 'match: no match'],
    [{ ...complete['router-policy'][0], action: 'jump' }, 'action: none of allow, drop, reroute'],
    [{ ...complete['static-route'][0], policy: 'both' }, 'policy: none of src-ip, dst-ip'],
    [{ ...complete['router-nat'][0], type: 'nat' }, 'type: none of snat, dnat, dnat_and_snat'],
    [{ ...complete['dhcp-options'][0], cidr: '' }, 'cidr: no text of 1 to 255 characters'],
    [{ ...complete.acl[0], on: {} }, 'on: neither a switch nor a port group, or both'],
    [{ ...complete.acl[0], on: undefined }, 'on: neither a switch nor a port group, or both'],
    [
      { ...complete.acl[0], on: { switch: 's', portGroup: 'g' } },
      'on: neither a switch nor a port group, or both',
    ],
    [{ ...complete.acl[0], on: { switch: '' } }, 'on.switch: no text of 1 to 255 characters'],
    [{ ...complete.acl[0], on: { portGroup: 'a-b' } }, 'on.portGroup: no name of letters, digits, _ and .'],
    [{ ...complete.acl[0], direction: 'in' }, 'direction: none of to-lport, from-lport'],
    [{ ...complete.acl[0], priority: 32_768 }, 'priority: no number of 0 to 32767'],
    [{ ...complete.acl[0], logName: 'a'.repeat(64) }, 'logName: no text of 1 to 63 characters'],
    [{ ...complete.acl[0], severity: 'error' }, 'severity: none of alert, warning, notice, info, debug'],
    [
      { ...complete.acl[0], action: 'pass' },
      'action: none of allow, allow-related, allow-stateless, drop, reject',
    ],
    [{ ...complete['qos-rule'][0], bandwidth: {} }, 'bandwidth.rate: no number of 0 to 4294967295'],
    [{ ...complete['qos-rule'][0], bandwidth: { rate: 0 } }, 'bandwidth.rate: no number from 1 on'],
    [
      { ...complete['qos-rule'][0], bandwidth: { rate: 2 ** 32 } },
      'bandwidth.rate: no number of 0 to 4294967295',
    ],
    [{ kind: 'load-balancer', name: 'lb' }, 'vips: no object with lists'],
    [
      { kind: 'load-balancer', name: 'lb', vips: { '10.0.0.1:80': '10.0.0.5:80' } },
      'vips: 10.0.0.1:80: no list of at least 0',
    ],
    [{ ...complete['load-balancer'][0], protocol: 'icmp' }, 'protocol: none of tcp, udp, sctp'],
    [
      { kind: 'logical-switch', name: 's', externalIds: { podwire: 'x' } },
      'externalIds: a key has a blank, or is a mark of Podwire',
    ],
  ])('refuse %j', (resource, problem) => {
    expect(checkOf(resource)).toBe(problem);
  });
});

test('a resource needs the rows that it names or hangs in', () => {
  const needs = (kind: Kinds): readonly string[] => kinds.needsOf(complete[kind][0]);
  expect(needs('logical-switch-port')).toEqual([
    ...['OVN_Northbound/DHCP_Options/four', 'OVN_Northbound/DHCP_Options/six'],
    ...['OVN_Northbound/Logical_Switch/s', 'OVN_Northbound/Port_Group/g'],
  ]);
  for (const kind of ['logical-router-port', 'static-route', 'router-policy', 'router-nat'] as const)
    expect(needs(kind)).toEqual(['OVN_Northbound/Logical_Router/r']);
  for (const kind of ['logical-switch', 'logical-router'] as const)
    expect(needs(kind)).toEqual(['OVN_Northbound/Load_Balancer/lb']);
  expect(needs('qos-rule')).toEqual(['OVN_Northbound/Logical_Switch/s']);
  expect(needs('acl')).toEqual(['OVN_Northbound/Port_Group/g']);
  for (const kind of ['address-set', 'port-group', 'dhcp-options', 'load-balancer'] as const)
    expect(needs(kind)).toEqual([]);
});

test('a port in other groups is a difference, in words', () => {
  const kind = northboundKinds['logical-switch-port'];
  const pairs = new Map([['podwire', 'Logical_Switch_Port/p']]);
  const wanted = { kind: 'logical-switch-port', name: 'p', switch: 's', addresses: [] } as const;
  const columns = {
    ...{ type: '', addresses: [], port_security: [], options: [], tag: null, enabled: null },
    ...{ dhcpv4_options: null, dhcpv6_options: null },
  };
  const found = { mark: 'Logical_Switch_Port/p', columns, pairs, parents: [inSwitch], groups: ['a', 'b'] };
  expect(kind.compare({ ...wanted, groups: ['b', 'a', 'b'] }, [found])).toBeUndefined();
  expect(kind.compare(wanted, [found])).toBe('switch port p: its groups are [a, b]');
  expect(kind.compare({ ...wanted, groups: ['c'] }, [{ ...found, groups: [] }])).toBe(
    'switch port p: its groups are []',
  );
});
