/** Random lives of a cluster: nothing is handed out twice, what is counted is what is there, a refusal changes nothing. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAddress } from '@podwire/addresses';
import { type Change, Cluster, type Endpoint, type EntryType } from '../src/index.js';
import { itemsOf } from '../src/store/layout.js';
import { Bench, endpointRequest, networkOf, refusalOf } from './support.js';

type Step = (bench: Bench) => unknown;

const tenant = fc.constantFrom('default', 'blue');
const networkName = fc.constantFrom('web', 'db', 'x');
const groupName = fc.constantFrom('g', 'h');
const container = fc.constantFrom('c1', 'c2', 'c3', 'c4', 'c5');
const host = fc.nat({ max: 9 });
const own = (tenantName: string, name: string): string => `${tenantName}:${name}`;

const subnets = ['10.1.1.0/29', '10.1.1.8/29', '10.1.1.2-10.1.1.12/28', '10.1.2.0/30'];

const putNetwork = fc
  .record({
    ...{ tenantName: tenant, networkName, subnet: fc.constantFrom(...subnets) },
    encap: fc.constantFrom('vlan', 'vxlan'),
    gateway: fc.constantFrom('', '10.1.1.1', '10.1.1.9'),
    ipv6Subnet: fc.constantFrom('', 'fd00::/125'),
    pktTag: fc.nat({ max: 5 }),
  })
  .map((fields): Step => (bench) => {
    bench.put('networks', own(fields.tenantName, fields.networkName), networkOf(fields));
  });

const putGroup = fc
  .record({
    ...{ tenantName: tenant, groupName, networkName },
    ipPool: fc.constantFrom('', '10.1.1.3-10.1.1.4', '10.1.1.4-10.1.1.5'),
    policies: fc.constantFrom([], ['p']),
  })
  .map((fields): Step => (bench) => {
    bench.put('endpointGroups', own(fields.tenantName, fields.groupName), fields);
  });

const address = fc.oneof(
  fc.constant(''),
  host.map((number) => `10.1.1.${number}`),
);

const createEndpoint = fc
  .record({ network: networkName, tenant, group: fc.constantFrom('', 'g', 'h'), address })
  .chain((more) =>
    container.map(
      (id): Step =>
        (bench) =>
          bench.call('createEndpoint', endpointRequest(id, more)),
    ),
  );

const deleteEndpoint = fc.tuple(tenant, networkName, container).map(
  ([TenantName, NetworkName, EndpointID]): Step =>
    (bench) =>
      bench.call('deleteEndpoint', { TenantName, NetworkName, EndpointID }),
);

const place = fc.tuple(networkName, fc.constantFrom('', ':g', ':h'), tenant).map((parts) => {
  const [network, group, name] = parts;
  return `${network}${group}.${name}`;
});

const alloc = fc.tuple(place, address).map(
  ([NetworkID, PreferredIPv4Address]): Step =>
    (bench) =>
      bench.call('allocAddress', { NetworkID, AddressPool: '', PreferredIPv4Address }),
);

const release = fc.tuple(place, host).map(
  ([NetworkID, number]): Step =>
    (bench) =>
      bench.call('releaseAddress', { NetworkID, IPv4Address: `10.1.1.${number}` }),
);

const remove = fc
  .oneof(
    fc.tuple(fc.constant('networks'), tenant, networkName),
    fc.tuple(fc.constant('endpointGroups'), tenant, groupName),
    fc.tuple(fc.constant('policys'), tenant, fc.constant('p')),
  )
  .map(
    ([plural, tenantName, name]): Step =>
      (bench) =>
        bench.delete(plural, own(tenantName, name)),
  );

const policy = tenant.map((tenantName): Step => (bench) => {
  bench.put('policys', own(tenantName, 'p'), { tenantName, policyName: 'p' });
});

const rule = fc
  .record({
    tenantName: tenant,
    ruleId: fc.constantFrom('1', '2'),
    fromEndpointGroup: fc.constantFrom('', 'g'),
  })
  .map((fields): Step => (bench) => {
    const more = { policyName: 'p', direction: 'in', action: 'allow' };
    bench.put('rules', `${fields.tenantName}:p:${fields.ruleId}`, { ...fields, ...more });
  });

const ranges = fc.constantFrom('1-2', '1-4', '3-9').chain((vlans) =>
  fc.constantFrom('1-3', '2-5').map((vxlans): Step => (bench) => {
    bench.put('globals', 'global', { vlans, vxlans });
  }),
);

const step = fc.oneof(
  ...[putNetwork, putGroup, remove, policy, rule, ranges, alloc, release],
  { weight: 6, arbitrary: createEndpoint },
  { weight: 3, arbitrary: deleteEndpoint },
);

const types: readonly EntryType[] = [
  ...(['global', 'tenant', 'network', 'policy', 'netprofile', 'endpointGroup'] as const),
  ...(['rule', 'appProfile', 'endpoint', 'reservation'] as const),
];

const changesOf = (cluster: Cluster): Change[] =>
  types.flatMap((type) => [...cluster.table(type)].map(([key, value]) => ({ type, key, value }) as Change));

const storedBy = (cluster: Cluster): unknown =>
  types.flatMap((type) => [...cluster.table(type).keys()].flatMap((key) => itemsOf(cluster, { type, key })));

function expectDistinct(values: readonly unknown[]): void {
  expect(new Set(values).size).toBe(values.length);
}

/** By the entries alone, without what the cluster keeps beside them. */
function expectSound(cluster: Cluster): void {
  const networks = [...cluster.table('network').values()];
  for (const encap of ['vlan', 'vxlan'] as const) {
    const tags = networks.filter(({ config }) => config.encap === encap).map((each) => each.tags);
    expectDistinct(tags.map(({ pktTag }) => pktTag));
    if (encap === 'vxlan') expectDistinct(tags.map(({ extPktTag }) => extPktTag));
  }
  const groups = [...cluster.table('endpointGroup').values()];
  expectDistinct(groups.map(({ id }) => id));
  const endpoints = [...cluster.table('endpoint').values()];
  for (const { config } of networks) expectAddresses(cluster, config, endpoints);
  for (const endpoint of endpoints.filter(({ serviceName }) => serviceName !== ''))
    expectPool(cluster, endpoint);
  for (const each of endpoints) expectNoPoolOfOthers(cluster, each);
}

type Config = NonNullable<ReturnType<Cluster['networkById']>>['config'];

function expectAddresses(cluster: Cluster, config: Config, all: readonly Endpoint[]): void {
  const key = own(config.tenantName, config.networkName);
  const endpoints = all.filter(({ netID }) => netID === `${config.networkName}.${config.tenantName}`);
  const reservations = [...cluster.table('reservation').values()].filter(({ network }) => network === key);
  const addresses = [...endpoints.map((each) => each.ipAddress), ...reservations.map((each) => each.address)];
  expectDistinct(addresses);
  expect(addresses).not.toContain(config.gateway);
  expectDistinct(endpoints.map(({ ipv6Address }) => ipv6Address).filter((each) => each !== ''));
  expect(cluster.use(key).endpoints.size).toBe(endpoints.length);
  const [, from = '', to = '', bits] = /^([0-9.]+)(?:-([0-9.]+))?\/(\d+)$/.exec(config.subnet)!;
  const size = 1n << (32n - BigInt(bits!));
  const base = (parseAddress(from).value / size) * size;
  const range =
    to === '' ? [base + 1n, base + size - 2n] : [from, to].map((each) => parseAddress(each).value);
  for (const each of addresses) {
    expect(parseAddress(each).value).toBeGreaterThanOrEqual(range[0]!);
    expect(parseAddress(each).value).toBeLessThanOrEqual(range[1]!);
  }
}

/** An address of a pool is that of an endpoint in its group. */
function expectNoPoolOfOthers(cluster: Cluster, { netID, serviceName, ipAddress }: Endpoint): void {
  const { tenantName, networkName } = cluster.networkById(netID)!.config;
  const { value } = parseAddress(ipAddress);
  for (const { config } of cluster.table('endpointGroup').values()) {
    const isOther = config.networkName === networkName && config.groupName !== serviceName;
    if (config.tenantName !== tenantName || !isOther || config.ipPool === undefined) continue;
    const [first, last] = config.ipPool.split('-').map((each) => parseAddress(each).value);
    expect(value < first! || value > last!).toBe(true);
  }
}

function expectPool(cluster: Cluster, { netID, serviceName, ipAddress }: Endpoint): void {
  const { tenantName } = cluster.networkById(netID)!.config;
  const pool = cluster.table('endpointGroup').get(own(tenantName, serviceName))!.config.ipPool;
  if (pool === undefined) return;
  const [first, last] = pool.split('-').map((each) => parseAddress(each).value);
  const { value } = parseAddress(ipAddress);
  expect(value >= first! && value <= last!).toBe(true);
}

test('requests in any order keep numbers and addresses apart, and refusals change nothing', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 30, maxLength: 60 }), (steps) => {
      const bench = new Bench();
      bench.put('tenants', 'blue', { tenantName: 'blue' });
      // Most random requests need a network, and would be refused without one.
      bench.network({ subnet: '10.1.1.0/29' });
      bench.group({ groupName: 'g', ipPool: '10.1.1.2-10.1.1.3' });
      for (const work of steps) {
        const before = JSON.stringify(changesOf(bench.cluster));
        try {
          work(bench);
        } catch (error) {
          // A fault of this program would be no refusal.
          expect(
            refusalOf(() => {
              throw error;
            }),
          ).toMatch(/^(REQUEST|TENANT|OBJECT)_/);
          expect(JSON.stringify(changesOf(bench.cluster))).toBe(before);
        }
        expectSound(bench.cluster);
      }
      expect(storedBy(new Cluster(changesOf(bench.cluster)))).toEqual(storedBy(bench.cluster));
    }),
    { numRuns: 60 },
  );
});
