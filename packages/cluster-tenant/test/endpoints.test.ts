/** Endpoints and their addresses. */
import { describe, expect, test } from 'vitest';
import { planCleanUp } from '../src/index.js';
import { Bench, endpointRequest, type Fields, refusalOf } from './support.js';

function createBench(fields: Fields = {}): Bench {
  const bench = new Bench();
  bench.network(fields);
  return bench;
}

const deleteOf = (container: string) => ({
  ...{ TenantName: 'default', NetworkName: 'web', EndpointID: container },
});

describe('an endpoint', () => {
  test('gets the lowest free address, its MAC, and the id of its group', () => {
    const bench = createBench({ gateway: '10.1.1.1' });
    bench.group({ groupName: 'g' });
    expect(bench.endpoint('c1', { group: 'g' })).toEqual({
      ...{ id: 'web.default-c1', netID: 'web.default', endpointID: 'c1', serviceName: 'g' },
      ...{ endpointGroupId: 1, endpointGroupKey: 'g:default', ipAddress: '10.1.1.2', ipv6Address: '' },
      ...{ macAddress: '02:02:0a:01:01:02', homingHost: 'node1', intfName: '', vtepIP: '', labels: {} },
      ...{ containerId: '', epCommonName: '' },
    });
    expect(bench.endpoint('c2').ipAddress).toBe('10.1.1.3');
    bench.call('deleteEndpoint', deleteOf('c1'));
    expect(bench.endpoint('c3').ipAddress).toBe('10.1.1.2');
  });

  test('that is there is answered again, and not counted again', () => {
    const bench = createBench();
    const first = bench.endpoint('c1');
    expect(bench.endpoint('c1')).toEqual(first);
    expect(bench.endpoint('c1', { address: first.ipAddress })).toEqual(first);
    expect(bench.cluster.use('default:web').endpoints.size).toBe(1);
  });

  test('that is there cannot be asked for as something else', () => {
    const bench = createBench();
    bench.group({ groupName: 'g' });
    bench.endpoint('c1');
    expect(refusalOf(() => bench.endpoint('c1', { address: '10.1.1.9' }))).toContain(
      'ConfigEP.IPAddress differs',
    );
    expect(refusalOf(() => bench.endpoint('c1', { group: 'g' }))).toContain('ServiceName differs');
  });

  test('of another network that comes to the same id is refused, and not deleted', () => {
    const bench = createBench();
    bench.put('tenants', 'default-x', { tenantName: 'default-x' });
    bench.network({ tenantName: 'default-x' });
    bench.endpoint('x-c1');
    expect(refusalOf(() => bench.endpoint('c1', { tenant: 'default-x' }))).toContain('NetworkName differs');
    bench.call('deleteEndpoint', { ...deleteOf('c1'), TenantName: 'default-x' });
    expect(bench.cluster.table('endpoint').size).toBe(1);
  });

  test('of another tenant that comes to the same id is not changed', () => {
    const bench = createBench();
    for (const tenantName of ['b', 'b-c']) {
      bench.put('tenants', tenantName, { tenantName });
      bench.network({ tenantName, networkName: 'a' });
    }
    bench.endpoint('d', { tenant: 'b-c', network: 'a' });
    const update = { Tenant: 'b', Network: 'a', EndpointID: 'c-d', Event: 'start', ContainerID: 'abc' };
    expect(refusalOf(() => bench.call('updateEndpoint', update))).toBe(
      'OBJECT_UNKNOWN there is no endpoint a.b-c-d',
    );
    expect(bench.cluster.table('endpoint').get('a.b-c-d')).toMatchObject({ containerId: '' });
  });

  test('that is there is found by any text of its addresses', () => {
    const bench = createBench({ ipv6Subnet: '2001:db8::/64' });
    const first = bench.endpoint('c1', { address6: '2001:DB8:0::5' });
    expect(first.ipv6Address).toBe('2001:db8::5');
    expect(bench.endpoint('c1', { address6: '2001:DB8:0::5' })).toEqual(first);
    expect(refusalOf(() => bench.endpoint('c1', { address6: '2001:DB8::6' }))).toContain(
      'ConfigEP.IPv6Address differs',
    );
    bench.network({ networkName: 'db', subnet: '10.2.0.0/16' });
    bench.endpoint('c2', { network: 'db' });
    expect(refusalOf(() => bench.endpoint('c2', { network: 'db', address6: '::' }))).toContain(
      'ConfigEP.IPv6Address differs from that of the endpoint which is there, none',
    );
  });

  test('that is not there is deleted already', () => {
    const answer = createBench().call('deleteEndpoint', deleteOf('c1'));
    expect(answer).toMatchObject({ EndpointConfig: { id: '', ipAddress: '' } });
  });

  test('needs a network and a group that are there, and belong together', () => {
    const bench = createBench();
    bench.network({ networkName: 'db', subnet: '10.2.0.0/16' });
    bench.group({ groupName: 'g', networkName: 'db' });
    expect(refusalOf(() => bench.endpoint('c1', { network: 'x' }))).toBe(
      'OBJECT_UNKNOWN there is no network default:x',
    );
    expect(refusalOf(() => bench.endpoint('c1', { group: 'x' }))).toBe(
      'OBJECT_UNKNOWN there is no endpointGroup default:x',
    );
    expect(refusalOf(() => bench.endpoint('c1', { group: 'g' }))).toContain(
      'ServiceName names endpointGroup default:g, which is of network db',
    );
  });

  test('is refused when no address is left', () => {
    const bench = createBench({ subnet: '10.1.1.0/30', gateway: '10.1.1.1' });
    bench.endpoint('c1');
    expect(refusalOf(() => bench.endpoint('c2'))).toBe(
      'TENANT_EXHAUSTED endpoint web.default-c2: no address of 10.1.1.0/30 is free',
    );
    expect(bench.cluster.use('default:web').endpoints.size).toBe(1);
  });

  test('of a range gets addresses of it alone', () => {
    const bench = createBench({ subnet: '10.1.1.10-10.1.1.11/24' });
    expect([bench.endpoint('c1').ipAddress, bench.endpoint('c2').ipAddress]).toEqual([
      '10.1.1.10',
      '10.1.1.11',
    ]);
    expect(refusalOf(() => bench.endpoint('c3'))).toContain('TENANT_EXHAUSTED');
  });

  test('of a group with a pool has an address of it, and no other endpoint has one', () => {
    const bench = createBench();
    bench.group({ groupName: 'g', ipPool: '10.1.1.1-10.1.1.2' });
    expect(bench.endpoint('c1').ipAddress).toBe('10.1.1.3');
    expect(bench.endpoint('c2', { group: 'g' }).ipAddress).toBe('10.1.1.1');
    expect(bench.endpoint('c3', { group: 'g' }).ipAddress).toBe('10.1.1.2');
    expect(refusalOf(() => bench.endpoint('c4', { group: 'g' }))).toContain(
      'no address of the pool 10.1.1.1-10.1.1.2 is free',
    );
  });

  test.each([
    ['10.1.2.1', {}, 'which is no address of 10.1.1.0/24'],
    ['10.1.1.254', {}, 'which is taken'],
    ['10.1.1.255', {}, 'which is taken'],
    ['10.1.1.1', {}, 'which is taken'],
    ['10.1.1.20', {}, 'which is in the pool of endpointGroup default:g'],
    ['10.1.1.9', { group: 'g' }, 'which is not in the pool 10.1.1.20-10.1.1.30 of its group'],
  ])('cannot have %s with %j', (address, more, words) => {
    const bench = createBench({ gateway: '10.1.1.254' });
    bench.group({ groupName: 'g', ipPool: '10.1.1.20-10.1.1.30' });
    bench.endpoint('c1');
    expect(refusalOf(() => bench.endpoint('c2', { address, ...more }))).toBe(
      `TENANT_CONFLICT endpoint web.default-c2: ConfigEP.IPAddress asks for ${address}, ${words}`,
    );
  });

  test('with IPv6 gets the address behind the highest, at the end a free one, or the one that it asks for', () => {
    const bench = createBench({ ipv6Subnet: 'fd00::/126', ipv6Gateway: 'fd00::1' });
    expect(bench.endpoint('c1').ipv6Address).toBe('fd00::2');
    expect(bench.endpoint('c2').ipv6Address).toBe('fd00::3');
    bench.call('deleteEndpoint', deleteOf('c1'));
    expect(bench.endpoint('c3').ipv6Address).toBe('fd00::2');
    expect(refusalOf(() => bench.endpoint('c4'))).toContain('no address of fd00::/126 is free');
    expect(refusalOf(() => bench.endpoint('c4', { address6: 'fd00::2' }))).toContain('which is taken');
    expect(refusalOf(() => bench.endpoint('c4', { address6: 'fd01::2' }))).toContain(
      'which is no address of',
    );
    expect(bench.cluster.use('default:web').endpoints.size).toBe(2);
    expect(bench.cluster.use('default:web').free.firstFrom(1)).toBe(3);
    bench.call('deleteEndpoint', deleteOf('c2'));
    expect(bench.endpoint('c5', { address6: 'fd00::3' }).ipv6Address).toBe('fd00::3');
  });

  test('notes what a runtime says of its container', () => {
    const bench = createBench();
    bench.endpoint('c1');
    const update = { Tenant: 'default', Network: 'web', EndpointID: 'c1', Event: 'start' };
    const labels = { app: 'shop', empty: '' };
    const said = {
      ...update,
      ContainerID: 'abc',
      EPCommonName: 'shop-1',
      IPAddress: '10.1.1.1',
      Labels: labels,
    };
    expect(bench.call('updateEndpoint', said)).toEqual({ IPAddress: '10.1.1.1' });
    expect(bench.cluster.table('endpoint').get('web.default-c1')).toMatchObject({
      ...{ labels, containerId: 'abc', epCommonName: 'shop-1', ipAddress: '10.1.1.1' },
    });
    bench.call('updateEndpoint', { ...said, Labels: { tier: 'web' } });
    expect(bench.cluster.table('endpoint').get('web.default-c1')?.labels).toEqual({ tier: 'web' });
    expect(refusalOf(() => bench.call('updateEndpoint', { ...update, EndpointID: 'c2' }))).toContain(
      'OBJECT_UNKNOWN there is no endpoint web.default-c2',
    );
    expect(bench.call('updateEndpoint', { ...update, Event: 'die', EndpointID: 'c2' })).toEqual({
      IPAddress: '',
    });
  });
});

describe('an address that a runtime asks for', () => {
  const alloc = (bench: Bench, fields: Fields) =>
    bench.call('allocAddress', { NetworkID: 'web.default', ...fields });

  test('is kept for the endpoint that names it, and for no other', () => {
    const bench = createBench();
    expect(alloc(bench, {})).toEqual({ NetworkID: 'web.default', IPv4Address: '10.1.1.1/24' });
    expect(bench.endpoint('c1').ipAddress).toBe('10.1.1.2');
    expect(refusalOf(() => alloc(bench, { PreferredIPv4Address: '10.1.1.1' }))).toContain('which is taken');
    expect(bench.endpoint('c2', { address: '10.1.1.1' }).ipAddress).toBe('10.1.1.1');
    expect(bench.cluster.table('reservation').size).toBe(0);
    expect(refusalOf(() => bench.endpoint('c3', { address: '10.1.1.1' }))).toContain('which is taken');
  });

  test('is free again when it is released, unless an endpoint has it', () => {
    const bench = createBench();
    alloc(bench, {});
    const release = { NetworkID: 'web.default', IPv4Address: '10.1.1.1' };
    expect(bench.call('releaseAddress', release)).toBe('success');
    expect(bench.call('releaseAddress', release)).toBe('success');
    expect(bench.endpoint('c1').ipAddress).toBe('10.1.1.1');
    expect(bench.call('releaseAddress', release)).toBe('success');
    expect(bench.endpoint('c2').ipAddress).toBe('10.1.1.2');
  });

  test('is found by network, by group, and by subnet', () => {
    const bench = createBench();
    bench.put('tenants', 'b.c', { tenantName: 'b.c' });
    bench.network({ tenantName: 'b.c' });
    bench.group({ tenantName: 'b.c', groupName: 'a.b', ipPool: '10.1.1.50-10.1.1.60' });
    expect(alloc(bench, { NetworkID: 'web:a.b.b.c' })).toMatchObject({ IPv4Address: '10.1.1.50/24' });
    expect(alloc(bench, { NetworkID: '', AddressPool: '10.1.1.0/24:b.c' })).toEqual({
      ...{ NetworkID: '', IPv4Address: '10.1.1.1/24' },
    });
    expect(refusalOf(() => alloc(bench, { NetworkID: '', AddressPool: '10.1.1.0/24' }))).toContain(
      'AddressPool must name a tenant: 2 networks have 10.1.1.0/24',
    );
    expect(refusalOf(() => alloc(bench, { NetworkID: '', AddressPool: '10.9.9.0/24' }))).toContain(
      'OBJECT_UNKNOWN',
    );
    expect(refusalOf(() => alloc(bench, { NetworkID: 'x.default' }))).toContain('OBJECT_UNKNOWN');
    expect(refusalOf(() => alloc(bench, { NetworkID: 'web:x.default' }))).toContain('OBJECT_UNKNOWN');
  });

  test('goes with its network or group', () => {
    const bench = createBench();
    bench.group({ groupName: 'g', ipPool: '10.1.1.50-10.1.1.60' });
    alloc(bench, { NetworkID: 'web:g.default' });
    alloc(bench, {});
    bench.delete('endpointGroups', 'default:g');
    expect(bench.cluster.table('reservation').size).toBe(1);
    bench.delete('networks', 'default:web');
    expect(bench.cluster.table('reservation').size).toBe(0);
  });
});

const other = (fields: Fields) => ({ ...(endpointRequest('c1') as object), ...fields });

test.each([
  ['createEndpoint', {}, 'createEndpoint: TenantName must be text'],
  ['createEndpoint', other({ ConfigEP: {} }), ''],
  ['createEndpoint', other({ ConfigEP: { Container: '../x' } }), 'ConfigEP.Container must be letters'],
  [
    'createEndpoint',
    other({ ConfigEP: { IPAddress: '10.1' } }),
    'ConfigEP.IPAddress must be an IPv4 address',
  ],
  ['createEndpoint', other({ ConfigEP: 'x' }), 'ConfigEP must be an object'],
  ['createEndpoint', other({ Color: 'red' }), 'createEndpoint: Color is not known'],
  ['createEndpoint', other({ EndpointID: '', ConfigEP: {} }), 'ConfigEP.Container must be given'],
  [
    'deleteEndpoint',
    { TenantName: 'default', NetworkName: 'web' },
    'deleteEndpoint: EndpointID must be text',
  ],
  [
    'updateEndpoint',
    { Tenant: 'default', Network: 'web', EndpointID: 'c', Event: 'x' },
    'Event must be start or die',
  ],
  ['allocAddress', {}, 'allocAddress: NetworkID must be given, or AddressPool'],
  [
    'allocAddress',
    { NetworkID: 'web.default', PreferredIPv4Address: 'x' },
    'PreferredIPv4Address must be an IPv4',
  ],
  ['releaseAddress', { NetworkID: 'web.default' }, 'releaseAddress: IPv4Address must be text'],
])('%s takes %j or refuses it: %s', (name, body, words) => {
  const bench = createBench();
  if (words === '') expect(bench.call(name, body)).toBeDefined();
  else expect(refusalOf(() => bench.call(name, body))).toContain(words);
});

test('endpoints are cleaned up by network, by group, or by container', () => {
  const bench = createBench();
  bench.group({ groupName: 'g' });
  bench.endpoint('c1', { group: 'g' });
  bench.endpoint('c2');
  bench.endpoint('c3');
  const clean = (category: string, id: string): number => {
    bench.cluster.apply(planCleanUp(bench.cluster, 'default', category, id).changes);
    return bench.cluster.table('endpoint').size;
  };
  expect([clean('group', 'g'), clean('ep', 'c9'), clean('ep', 'c3'), clean('net', 'web')]).toEqual([
    2, 2, 1, 0,
  ]);
  expect(refusalOf(() => clean('group', 'x'))).toBe('OBJECT_UNKNOWN there is no endpointGroup default:x');
});
