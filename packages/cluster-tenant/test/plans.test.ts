/** Plans: what is handed out, what may change, what may go. */
import { describe, expect, test } from 'vitest';
import { Cluster } from '../src/index.js';
import { Bench, type Fields, networkOf, refusalOf } from './support.js';

const tagsOf = (bench: Bench, key: string) => bench.cluster.table('network').get(key)?.tags;

/** One more network, on a subnet of its own. */
const network = (number: number, fields: Fields = {}): Fields => ({
  ...{ networkName: `n${number}`, subnet: `10.2.${number}.0/24` },
  ...fields,
});

describe('networks', () => {
  test('get the lowest tags: a VLAN, or a VNI and a VLAN that stands for it', () => {
    const bench = new Bench();
    bench.network(network(1, { encap: 'vlan' }));
    bench.network(network(2));
    bench.network(network(3));
    expect(tagsOf(bench, 'default:n1')).toEqual({ pktTag: 1, extPktTag: 0 });
    expect(tagsOf(bench, 'default:n2')).toEqual({ pktTag: 1, extPktTag: 1 });
    expect(tagsOf(bench, 'default:n3')).toEqual({ pktTag: 2, extPktTag: 2 });
    bench.delete('networks', 'default:n2');
    bench.network(network(4));
    expect(tagsOf(bench, 'default:n4')).toEqual({ pktTag: 1, extPktTag: 1 });
  });

  test('get the tag that they ask for when it is free and in the range', () => {
    const bench = new Bench();
    bench.put('globals', 'global', { vlans: '100-110', vxlans: '500-600' });
    bench.network(network(1, { encap: 'vlan', pktTag: 105 }));
    bench.network(network(2, { pktTag: 555 }));
    expect(tagsOf(bench, 'default:n1')).toEqual({ pktTag: 105, extPktTag: 0 });
    expect(tagsOf(bench, 'default:n2')).toEqual({ pktTag: 1, extPktTag: 555 });
    const again = (fields: Fields) => refusalOf(() => bench.network(network(3, fields)));
    expect(again({ encap: 'vlan', pktTag: 105 })).toBe(
      'TENANT_CONFLICT network default:n3: pktTag asks for VLAN 105, which another network has',
    );
    expect(again({ pktTag: 555 })).toContain('asks for VNI 555, which another network has');
    expect(again({ pktTag: 601 })).toContain('asks for VNI 601, which is not in 500-600');
  });

  test('are refused when no tag is free', () => {
    const bench = new Bench();
    bench.put('globals', 'global', { vlans: '7-8' });
    for (const number of [1, 2]) bench.network(network(number, { encap: 'vlan' }));
    expect(refusalOf(() => bench.network(network(3, { encap: 'vlan' })))).toBe(
      'TENANT_EXHAUSTED network default:n3: no VLAN of 7-8 is free',
    );
  });

  test('share no address with others of their tenant', () => {
    const bench = new Bench();
    bench.put('tenants', 'blue', { tenantName: 'blue' });
    bench.network({ subnet: '10.1.1.10-10.1.1.20/24', ipv6Subnet: 'fd00::/64' });
    const add = (subnet: string, more: Fields = {}) => bench.network({ networkName: 'db', subnet, ...more });
    expect(refusalOf(() => add('10.1.0.0/16'))).toBe(
      'TENANT_CONFLICT network default:db: subnet overlaps that of network default:web, 10.1.1.10-10.1.1.20/24',
    );
    expect(refusalOf(() => add('10.1.1.20-10.1.1.30/24'))).toContain('subnet overlaps');
    expect(refusalOf(() => add('10.3.0.0/16', { ipv6Subnet: 'fd00::/48' }))).toContain('ipv6Subnet overlaps');
    add('10.1.1.21-10.1.1.30/24');
    bench.network({ tenantName: 'blue' });
  });

  test('hand out no gateway of another network of their tenant', () => {
    const bench = new Bench();
    bench.put('tenants', 'blue', { tenantName: 'blue' });
    const first = { networkName: 'r1', subnet: '10.9.1.10-10.9.1.20/24', gateway: '10.9.1.30' };
    const second = { networkName: 'r2', subnet: '10.9.1.25-10.9.1.40/24' };
    bench.network(first);
    expect(refusalOf(() => bench.network(second))).toBe(
      'TENANT_CONFLICT network default:r2: subnet has the gateway of network default:r1, 10.9.1.30',
    );
    bench.network({ ...second, tenantName: 'blue' });
    expect(refusalOf(() => bench.network({ ...first, tenantName: 'blue' }))).toBe(
      'TENANT_CONFLICT network blue:r1: gateway is an address of network blue:r2, 10.9.1.25-10.9.1.40/24',
    );
    bench.network({ ...second, subnet: '10.9.1.31-10.9.1.40/24', gateway: '10.9.1.30' });
  });

  test('cannot change, and are no change when they are asked for again', () => {
    const bench = new Bench();
    const before = bench.network({});
    expect(bench.network({})).toEqual(before);
    expect(refusalOf(() => bench.network({ gateway: '10.1.1.1' }))).toBe(
      'TENANT_CONFLICT network default:web: gateway cannot change once the object is there',
    );
  });

  test('have no name of a group, and no id of another network', () => {
    const bench = new Bench();
    bench.put('tenants', 'b.c', { tenantName: 'b.c' });
    bench.put('tenants', 'c', { tenantName: 'c' });
    bench.network({});
    bench.group({ groupName: 'db' });
    expect(refusalOf(() => bench.network(network(1, { networkName: 'db' })))).toContain(
      'networkName is the name of an endpointGroup of the tenant',
    );
    expect(refusalOf(() => bench.group({ groupName: 'web' }))).toContain(
      'groupName is the name of a network',
    );
    bench.network({ tenantName: 'b.c', networkName: 'a' });
    expect(refusalOf(() => bench.network({ tenantName: 'c', networkName: 'a.b' }))).toContain(
      'networkName comes to the id a.b.c, which network b.c:a has',
    );
  });

  test('are of a tenant that is there', () => {
    expect(refusalOf(() => new Bench().network({ tenantName: 'red' }))).toBe(
      'TENANT_CONFLICT network red:web: tenantName names tenant red, which is not there',
    );
  });
});

describe('groups', () => {
  test('have ids that rest before they are handed out again', () => {
    const bench = new Bench();
    bench.network({});
    const idOf = (groupName: string) => {
      bench.group({ groupName });
      return bench.cluster.table('endpointGroup').get(`default:${groupName}`)?.id;
    };
    expect([idOf('a'), idOf('b')]).toEqual([1, 2]);
    bench.delete('endpointGroups', 'default:b');
    expect(idOf('c')).toBe(3);
    // One that is put again moves nothing.
    bench.delete('endpointGroups', 'default:c');
    expect([idOf('a'), idOf('d')]).toEqual([1, 4]);
  });

  test('have ids behind the highest after a restart, in whatever order they are read', () => {
    const bench = new Bench();
    bench.network({});
    for (const groupName of ['z', 'y', 'x', 'a']) bench.group({ groupName });
    bench.delete('endpointGroups', 'default:y');
    const entries = [...bench.cluster.table('endpointGroup')].toSorted();
    const restarted = new Cluster([
      ...[...bench.cluster.table('network')].map(
        ([key, value]) => ({ type: 'network', key, value }) as const,
      ),
      ...entries.map(([key, value]) => ({ type: 'endpointGroup', key, value }) as const),
    ]);
    expect(restarted.groupCursor).toBe(5);
  });

  test('have 16 bits, and begin at 1 again behind the last', () => {
    const bench = new Bench();
    bench.network({});
    bench.group({ groupName: 'first' });
    const config = { tenantName: 'default', groupName: 'last', networkName: 'web', policies: [] };
    bench.cluster.apply([{ type: 'endpointGroup', key: 'default:last', value: { config, id: 65_535 } }]);
    bench.group({ groupName: 'next' });
    expect(bench.cluster.table('endpointGroup').get('default:next')?.id).toBe(2);
  });

  test.each([
    ['10.1.1.20-10.1.1.10', 'ipPool must have a range whose first address is not behind its last'],
    ['10.1.2.1-10.1.2.9', 'ipPool must have a range within 10.1.1.0/24'],
    ['10.1.1.0-10.1.1.9', 'ipPool has 10.1.1.0, which is taken'],
    ['10.1.1.250-10.1.1.254', 'ipPool has 10.1.1.254, which is taken'],
    ['10.1.1.1-10.1.1.9', 'ipPool has 10.1.1.1, which is taken'],
    ['10.1.1.25-10.1.1.40', 'ipPool overlaps that of endpointGroup default:pool'],
  ])('have a pool of free addresses of their network: not %s', (ipPool, words) => {
    const bench = new Bench();
    bench.network({ gateway: '10.1.1.254' });
    bench.endpoint('c1');
    bench.group({ groupName: 'pool', ipPool: '10.1.1.20-10.1.1.30' });
    expect(refusalOf(() => bench.group({ groupName: 'g', ipPool }))).toContain(words);
  });

  test('keep network, pool and tag; policies and netprofile change', () => {
    const bench = new Bench();
    bench.network({});
    bench.network(network(1));
    bench.put('policys', 'default:p', { tenantName: 'default', policyName: 'p' });
    bench.group({ groupName: 'g' });
    for (const fields of [{ networkName: 'n1' }, { ipPool: '10.1.1.1-10.1.1.2' }, { cfgdTag: 'x' }])
      expect(refusalOf(() => bench.group({ groupName: 'g', ...fields }))).toContain('cannot change once');
    expect(bench.group({ groupName: 'g', policies: ['p'] })['policies']).toEqual(['p']);
    expect(bench.group({ groupName: 'g' })['policies']).toBeUndefined();
    expect(refusalOf(() => bench.group({ groupName: 'g', policies: ['q'] }))).toBe(
      'TENANT_CONFLICT endpointGroup default:g: policies names policy default:q, which is not there',
    );
    expect(refusalOf(() => bench.group({ groupName: 'g', netProfile: 'q' }))).toContain('names netprofile');
  });

  test('are in one appProfile at most', () => {
    const bench = new Bench();
    bench.network({});
    bench.group({ groupName: 'g' });
    const profile = (appProfileName: string) => ({
      tenantName: 'default',
      appProfileName,
      endpointGroups: ['g'],
    });
    bench.put('appProfiles', 'default:a', profile('a'));
    bench.put('appProfiles', 'default:a', profile('a'));
    expect(refusalOf(() => bench.put('appProfiles', 'default:b', profile('b')))).toContain(
      'endpointGroups names g, which is in appProfile default:a',
    );
  });
});

describe('settings', () => {
  test('that are not given stay', () => {
    const bench = new Bench();
    bench.put('globals', 'global', { vlans: '1-100' });
    bench.put('globals', 'global', { arpMode: 'flood' });
    expect(bench.cluster.global).toMatchObject({ vlans: '1-100', arpMode: 'flood', fwdMode: 'bridge' });
  });

  test('keep the numbers that networks have', () => {
    const bench = new Bench();
    bench.network(network(1, { encap: 'vlan', pktTag: 50 }));
    expect(refusalOf(() => bench.put('globals', 'global', { vlans: '1-49' }))).toBe(
      'TENANT_CONFLICT global global: vlans must keep 50, which network default:n1 has',
    );
    bench.put('globals', 'global', { vlans: '50-60' });
  });

  test('about forwarding change only while there is no network', () => {
    const bench = new Bench();
    bench.put('globals', 'global', { fwdMode: 'routing', pvtSubnet: '172.20.0.0/16' });
    bench.network({});
    for (const fields of [{ fwdMode: 'bridge' }, { pvtSubnet: '172.21.0.0/16' }])
      expect(refusalOf(() => bench.put('globals', 'global', fields))).toContain(
        'cannot change while 1 networks have tags, network default:web for one',
      );
    bench.put('globals', 'global', { fwdMode: 'routing', arpMode: 'flood' });
  });
});

describe('what is in use', () => {
  /** A cluster in which everything is used by something. */
  function createFull(): Bench {
    const bench = new Bench();
    const own = { tenantName: 'default' };
    bench.network({});
    bench.put('policys', 'default:p', { ...own, policyName: 'p' });
    bench.put('netprofiles', 'default:q', { ...own, profileName: 'q' });
    bench.group({ groupName: 'g', policies: ['p'], netProfile: 'q' });
    const rule = { ...own, policyName: 'p', direction: 'in', action: 'allow' };
    bench.put('rules', 'default:p:1', { ...rule, ruleId: '1', fromEndpointGroup: 'g' });
    bench.put('rules', 'default:p:2', { ...rule, ruleId: '2', fromNetwork: 'web' });
    bench.put('appProfiles', 'default:a', { ...own, appProfileName: 'a', endpointGroups: ['g'] });
    bench.endpoint('c1', { group: 'g' });
    return bench;
  }

  test.each([
    ['tenants', 'default', 'network default:web, policy default:p'],
    ['networks', 'default:web', 'endpointGroup default:g, rule default:p:2, endpoint web.default-c1'],
    ['endpointGroups', 'default:g', 'rule default:p:1, appProfile default:a, endpoint web.default-c1'],
    ['policys', 'default:p', 'endpointGroup default:g'],
    ['netprofiles', 'default:q', 'endpointGroup default:g'],
  ])('stays, and the refusal for %s %s names its users', (plural, key, users) => {
    const bench = createFull();
    expect(refusalOf(() => bench.delete(plural, key))).toMatch(/^OBJECT_IN_USE .* cannot be deleted while/);
    expect(refusalOf(() => bench.delete(plural, key))).toContain(users);
  });

  test('goes once its users are gone, with rules behind their policy', () => {
    const bench = createFull();
    bench.call('deleteEndpoint', { TenantName: 'default', NetworkName: 'web', EndpointID: 'c1' });
    bench.delete('appProfiles', 'default:a');
    bench.delete('rules', 'default:p:1');
    bench.delete('endpointGroups', 'default:g');
    bench.delete('policys', 'default:p');
    expect(bench.cluster.table('rule').size).toBe(0);
    for (const [plural, key] of [
      ['netprofiles', 'default:q'],
      ['networks', 'default:web'],
      ['tenants', 'default'],
    ] as const)
      expect(bench.delete(plural, key)).toBe(key);
    expect(refusalOf(() => bench.delete('tenants', 'default'))).toBe(
      'OBJECT_UNKNOWN there is no tenant default',
    );
  });

  test('is named up to five times', () => {
    const bench = new Bench();
    bench.network({});
    for (let number = 0; number < 7; number++) bench.endpoint(`c${number}`);
    expect(refusalOf(() => bench.delete('networks', 'default:web'))).toMatch(/web\.default-c4 and 2 more$/);
  });

  test('does not hold the settings, which never go', () => {
    expect(refusalOf(() => new Bench().delete('globals', 'global'))).toContain('cannot be deleted');
  });
});

test('rules name what is there, and never change', () => {
  const bench = new Bench();
  bench.put('policys', 'default:p', { tenantName: 'default', policyName: 'p' });
  const rule = {
    ...{ tenantName: 'default', policyName: 'p', ruleId: '1', direction: 'out', action: 'deny' },
  };
  const put = (fields: Fields) => bench.put('rules', 'default:p:1', { ...rule, ...fields });
  expect(refusalOf(() => put({ toEndpointGroup: 'g' }))).toContain(
    'toEndpointGroup names endpointGroup default:g',
  );
  expect(refusalOf(() => put({ toNetwork: 'web' }))).toContain('toNetwork names network default:web');
  expect(refusalOf(() => bench.put('rules', 'default:q:1', { ...rule, policyName: 'q' }))).toContain(
    'policyName',
  );
  expect(put({})).toMatchObject({ priority: 1, links: { MatchEndpointGroup: {} } });
  expect(put({})).toMatchObject({ key: 'default:p:1' });
  expect(refusalOf(() => put({ priority: 2 }))).toContain('priority cannot change once the object is there');
});

test('a network of infra has endpoints without a group', () => {
  const bench = new Bench();
  bench.network(networkOf({ nwType: 'infra' }));
  bench.network(network(1));
  bench.group({ groupName: 'g', networkName: 'n1' });
  expect(bench.endpoint('node1', { group: 'g' })).toMatchObject({ endpointGroupId: 0, endpointGroupKey: '' });
});
