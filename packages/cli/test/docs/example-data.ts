/** A node and a cluster with everything that is long: IPv6, names of deployments, counts of large pools. */
import type { NodeShown, PoolShown } from '@podwire/cluster-ipam/operations';
import type { Workload } from '@podwire/cluster-state';
import type { EndpointView, ExplainedResource, PeerStatusView } from '../../src/api/shapes.js';
import type { TestbedState } from '../../src/testbed/observe.js';
import { container, podView } from '../pods/views.js';

export const now = Date.parse('2026-01-01T03:00:00Z');
const hour = 3_600_000;

const endpoint: EndpointView = {
  ...{ key: 'podwire,c1,eth0', containerId: 'c1', ifName: 'eth0', network: 'default', cniNetwork: 'podwire' },
  pod: { namespace: 'kube-system', name: 'coredns-66bff467f8-jxt9x', uid: 'u' },
  ...{ phase: 'ready', addresses: ['10.244.0.9', 'fd00:10:244:0:1d2c:5f60:7a8b:9c0d'] },
  ...{ mac: '02:00:00:00:00:01', hostInterface: 'pw3f2a', netns: '/run/netns/x', portMappings: [] },
  createdAt: '2026-01-01T00:00:00Z',
};

const both = [{ ip: '10.244.0.7' }, { ip: 'fd00:10:244:0:1d2c:5f60:7a8b:9c0e' }];

export const machine = {
  pods: [
    podView('web', {}, { podIPs: both }),
    podView(
      'checkout-7d9c5f6b8-x2x7q',
      {
        stage: 'starting',
        events: [
          {
            type: 'Warning',
            reason: 'FailedMount',
            message: 'volume settings: config map shop/settings does not exist',
            ...{ at: now - 9_000, lastAt: now - 1_000, count: 4 },
          },
        ],
        containers: [
          container('main', {
            ready: false,
            started: false,
            state: { waiting: { reason: 'ContainerCreating' } },
          }),
        ],
      },
      { phase: 'Pending', conditions: [], podIPs: [], startTime: '2026-01-01T02:59:00Z' },
    ),
  ],
  endpoints: [endpoint],
};

const configuration = {
  ...{ network: 'default', natOutgoing: true, disabled: false, deleting: false, reserved: [] },
  ...{ nodeSelector: '', assignment: 'automatic', allocation: 'blocks', borrowing: true },
} as const;

export const pools = [
  {
    ...{ name: 'main', network: 'default', cidr: '10.244.0.0/16' },
    configuration: {
      ...{ ...configuration, name: 'main', cidr: '10.244.0.0/16', blockSize: 26 },
      encapsulation: 'vxlan-cross-subnet',
    },
    ...{ total: '65536', inUse: 112, reserved: '2', free: '65422', lent: 1 },
    blocks: [
      { cidr: '10.244.0.0/26', node: 'worker-a', state: 'confirmed', size: 64, inUse: 63, lent: 0 },
      { cidr: '10.244.0.64/26', node: 'worker-b', state: 'confirmed', size: 64, inUse: 48, lent: 1 },
    ],
  },
  {
    ...{ name: 'main6', network: 'default', cidr: 'fd00:10:244::/48' },
    configuration: {
      ...{ ...configuration, name: 'main6', cidr: 'fd00:10:244::/48', blockSize: 122 },
      encapsulation: 'vxlan',
    },
    ...{ total: '1208925819614629174706176', inUse: 111, reserved: '1', lent: 0 },
    free: '1208925819614629174706064',
    blocks: [
      {
        ...{ cidr: 'fd00:10:244:ffff:ffff:ffff:ffff:ff40/122', node: 'worker-a', state: 'confirmed' },
        ...{ size: 64, inUse: 63, lent: 0 },
      },
    ],
  },
] as unknown as readonly PoolShown[];

export const loans = [
  {
    ...{ address: '10.244.0.99', block: '10.244.0.64/26', owner: 'worker-b', borrower: 'worker-a' },
    pod: 'shop/checkout-7d9c5f6b8-x2x7q',
  },
  {
    ...{ address: 'fd00:10:244:ffff:ffff:ffff:ffff:ff41', block: 'fd00:10:244:ffff:ffff:ffff:ffff:ff40/122' },
    ...{ owner: 'worker-b', borrower: 'worker-a', pod: 'shop/web' },
  },
];

export const leases = [
  { address: '10.244.0.7', owner: 'podwire,c1,eth0', pod: 'shop/web', node: 'worker-a', since: now - hour },
  {
    address: 'fd00:10:244:ffff:ffff:ffff:ffff:ff41',
    ...{
      owner: 'podwire,c2,eth0',
      pod: 'shop/checkout-7d9c5f6b8-x2x7q',
      node: 'worker-b',
      since: now - 9_000,
    },
  },
];

export const nodePools = [
  {
    ...{ name: 'main6', cidr: 'fd00:10:244::/48', size: '1208925819614629174706176', used: 63, cooling: 1 },
    ...{ reserved: '1', free: '1208925819614629174706111' },
    blocks: [
      { cidr: 'fd00:10:244:ffff:ffff:ffff:ffff:ff40/122', used: 63, free: 0, cooling: 1, reserved: 0 },
    ],
  },
];

export const nodes: readonly NodeShown[] = [
  {
    ...{ name: 'worker-a', state: 'ready', since: now - 5 * hour, version: '0.1.0', labels: {} },
    addresses: { ipv4: '192.168.100.101/24', ipv6: '2001:db8:100:200:300:400:500:101/64' },
    ...{ blocks: ['10.244.0.0/26', 'fd00:10:244::/122'], borrowed: ['10.244.0.99'], inUse: 127 },
  },
  {
    ...{ name: 'worker-b', state: 'unreachable', since: now - 80_000, version: '0.1.0', labels: {} },
    addresses: { ipv4: '192.168.100.102/24', ipv6: '2001:db8:100:200:300:400:500:102/64' },
    ...{ blocks: ['10.244.0.64/26'], borrowed: [], inUse: 48 },
  },
];

export const peers: readonly PeerStatusView[] = [
  {
    ...{ name: 'worker-b', ipv4: '192.168.100.102/24', ipv6: '2001:db8:100:200:300:400:500:102/64' },
    ...{ mtu: 1450, blocks: ['10.244.0.64/26'], resources: 4, problems: ['MTU_MISMATCH: 1450 here'] },
    ...{ reachable: false, unreachableSince: new Date(now - 80_000).toISOString() },
  },
];

export const bgp = {
  sessions: [
    { neighbour: '192.168.100.1', state: 'Established', since: '2026-01-01 00:00:03' },
    {
      ...{ neighbour: '2001:db8:100:200:300:400:500:1', state: 'Active', since: '2026-01-01 02:58:00' },
      lastError: 'Socket: Connection refused',
    },
  ],
};

export const workloads: readonly Workload[] = [
  {
    ...{ network: 'default', namespace: 'prod', name: 'db-0', pools: [], sticky: true },
    addresses: ['10.244.7.10', 'fd00:10:244::7:10'],
    assigned: { 'prod/db-0': ['10.244.7.10', 'fd00:10:244::7:10'] },
  },
];

export const choice = {
  files: [
    { file: '/etc/cni/net.d/10-podwire.conflist', verdict: 'chosen' as const, why: 'the first by name' },
    {
      ...{ file: '/etc/cni/net.d/87-podman-bridge.conflist', verdict: 'unusable' as const },
      why: 'the plugin dnsname is in none of the directories of plugins',
    },
  ],
};

export const explained: readonly ExplainedResource[] = [
  {
    resource: {
      ...{ kind: 'veth', mtu: 1500 },
      host: { name: 'pw3f2a9c01', mac: 'ee:ee:ee:ee:ee:ee' },
      pod: { name: 'eth0', mac: '02:00:00:00:00:01' },
    },
    state: 'ok',
  },
  {
    resource: {
      ...{ kind: 'route', in: 'host', destination: 'fd00:10:244:0:1d2c:5f60:7a8b:9c0d/128' },
      link: 'pw3f2a9c01',
    },
    ...{ state: 'missing', detail: 'there is no such route in the table main of this node' },
  },
];

export const testbed: TestbedState = {
  ...{ name: 'testbed', directory: '/run/podwire-testbed/testbed', createdAt: now - 90_000 },
  shape: {
    ...{ nodes: 2, pods: 1, subnets: 2, fabric: 'vxlan-cross-subnet', store: 'etcd', families: 'dual' },
    model: 'routed',
  },
  store: { kind: 'etcd', state: 'running' },
  nodes: [1, 2].map((number) => ({
    ...{ name: `node${number}`, subnet: `subnet${number}`, pods: 1 },
    netns: `/run/podwire-testbed/testbed/ns/node${number}`,
    addresses: [`10.10.${number}.1${number}/24`, `fd00:10:${number}::1${number}/64`],
    agent: { state: 'running', pid: number, ready: true, memory: 90 << 20 },
    blocks: [`10.244.${number}.0/26`, `fd00:10:244::${number}:0/122`],
  })),
  pods: [1, 2].map((number) => ({
    ...{ namespace: 'default', name: `pod${number}a`, node: `node${number}`, containerId: `${number}` },
    addresses: [`10.244.${number}.1`, `fd00:10:244::${number}:1`],
    ...{ labels: { app: 'web' }, ports: [], annotations: {} },
    netns: `/run/podwire-testbed/testbed/ns/pods/default_pod${number}a`,
  })),
};
