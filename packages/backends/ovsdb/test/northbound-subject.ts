/** OVN's northbound database, fake or real, for the compliance suite of backends. */
import type { BackendSubject, ExchangeLists } from '@podwire/engine/compliance';
import type { Owned, Resource } from '@podwire/engine';
import type { OvsdbClient } from '@podwire/ovsdb';
import {
  type Acl,
  createNorthboundBackend,
  type LogicalSwitchPort,
  type QosRule,
} from '../src/northbound/index.js';
import { createSubjectClients, removePortRow, type SubjectOptions } from './subject-clients.js';

export const base: Owned = {
  owner: 'vpc',
  resources: [
    // OVN translates addresses on routers with a place only.
    { kind: 'logical-router', name: 'vpc', options: { chassis: 'n1' }, externalIds: { vendor: 'podwire' } },
    {
      ...{ kind: 'logical-router-port', name: 'vpc-join', router: 'vpc' },
      ...{ mac: '00:00:00:00:01:00', networks: ['100.64.0.1/16'] },
    },
    { kind: 'logical-switch', name: 'blue', otherConfig: { subnet: '10.16.0.0/16' } },
  ],
};

export const port = (name: string, more: Partial<LogicalSwitchPort> = {}): LogicalSwitchPort => ({
  ...{ kind: 'logical-switch-port', name, switch: 'blue', externalIds: { pod: `ns/${name}` } },
  ...{ addresses: ['00:00:00:00:00:01 10.16.0.5'], ...more },
});

const group = (name: string): Resource => ({ kind: 'port-group', name });
const set = (name: string, ...addresses: string[]): Resource => ({ kind: 'address-set', name, addresses });
const dhcp: Resource = {
  ...{ kind: 'dhcp-options', name: 'blue', cidr: '10.16.0.0/16' },
  options: { lease_time: '3600', server_id: '169.254.0.254', server_mac: '00:00:00:00:01:01' },
};
const web = port('web', { groups: ['blue.n1'], dhcpv4Options: 'blue' });
const broken = port('broken');
const route = (name: string, nextHop: string): Resource => ({
  ...{ kind: 'static-route', name, router: 'vpc', prefix: '10.16.0.5', policy: 'src-ip', nextHop },
});
const policy = (name: string, priority: number): Resource => ({
  ...{ kind: 'router-policy', name, router: 'vpc', priority, match: 'ip4.src == $blue.n1_ip4' },
  ...{ action: 'reroute', nextHops: ['100.64.0.2'] },
});

const acl = (name: string, on: Acl['on'], priority: number): Acl => ({
  ...{ kind: 'acl', name, on, direction: 'to-lport', priority, match: 'outport == @blue.n1 && ip4' },
  ...{ action: 'allow-related', externalIds: { vendor: 'podwire' } },
});
const balancer = (name: string, ...backends: string[]): Resource => ({
  ...{ kind: 'load-balancer', name, vips: { '10.96.0.10:80': backends }, protocol: 'tcp' },
});

const limit = (name: string, rate: number, more: Partial<QosRule> = {}): QosRule => ({
  ...{ kind: 'qos-rule', name, switch: 'blue', direction: 'from-lport', priority: 1_000 },
  ...{ match: `inport == "${name}"`, bandwidth: { rate, burst: rate }, ...more },
});

/** A switch that uses load balancers. */
const shop = (...loadBalancers: string[]): Resource => ({
  ...{ kind: 'logical-switch', name: 'shop', loadBalancers },
});

export const owned: Owned = {
  owner: 'subnet:blue',
  resources: [
    ...[dhcp, group('blue.n1'), group('blue.n2'), set('friends', '10.17.0.0/16', '10.18.0.0/16')],
    {
      ...{ kind: 'logical-router-port', name: 'vpc-blue', router: 'vpc' },
      ...{ mac: '00:00:00:00:01:01', networks: ['10.16.0.1/16'] },
    },
    {
      ...{ kind: 'logical-switch-port', name: 'blue-vpc', switch: 'blue', type: 'router' },
      ...{ addresses: ['router'], options: { 'router-port': 'vpc-blue' } },
    },
    ...[web, broken, route('web', '100.64.0.2'), policy('blue.n1', 29_000)],
    {
      ...{ kind: 'router-nat', name: 'web', router: 'vpc', type: 'snat' },
      ...{ externalIp: '192.0.2.1', logicalIp: '10.16.0.5' },
    },
    ...[acl('of web', { portGroup: 'blue.n1' }, 2_001), acl('of blue', { switch: 'blue' }, 1_001)],
    ...[balancer('web', '10.16.0.5:8080'), shop('web'), limit('web', 10_000)],
  ],
};

/** Ports and ACLs that move between switches and groups, and routes that come and go. */
const exchange: ExchangeLists = {
  first: [
    ...[group('a'), group('b'), port('p0', { groups: ['a'] }), port('p1'), route('r0', '100.64.0.2')],
    ...[acl('c0', { portGroup: 'a' }, 1), acl('c1', { switch: 'blue' }, 2)],
    ...[balancer('l0', '10.16.0.5:80'), balancer('l1', '10.16.0.6:80'), shop('l0', 'l1')],
    ...[limit('p0', 1_000), limit('p1', 2_000)],
  ],
  second: [
    ...[group('b'), group('c'), { kind: 'logical-switch', name: 'red' } as const],
    ...[port('p0', { switch: 'red', groups: ['b', 'c'] }), route('r0', '100.64.0.3'), policy('p', 1)],
    ...[acl('c0', { switch: 'red' }, 1), acl('c1', { portGroup: 'b' }, 3), acl('c2', { portGroup: 'b' }, 4)],
    ...[balancer('l1', '10.16.0.7:80'), balancer('l2'), shop('l1', 'l2')],
    ...[limit('p0', 3_000, { switch: 'red', bandwidth: { rate: 3_000 } })],
  ],
  refused: [port('p0', { groups: [] }), port('p2', { switch: 'absent' })],
};

export function createNorthboundSubject({ client: options, picture }: SubjectOptions): BackendSubject {
  const { openBackend, change } = createSubjectClients(
    { database: 'OVN_Northbound', ...options },
    createNorthboundBackend,
  );
  return {
    ...{ base, owned, picture, exchange, broken },
    backends: () => [openBackend()],
    replacement: [
      ...[set('friends', '10.19.0.0/16'), { ...dhcp, options: {} } as Resource, policy('blue.n1', 28_000)],
      ...[port('web', { groups: ['blue.n2'] }), route('web', '100.64.0.3')],
      ...[acl('of web', { switch: 'blue' }, 2_000), balancer('web', '10.16.0.6:80'), shop()],
      limit('web', 20_000),
    ],
    many: (count) => Array.from({ length: count }, (_, n) => set(`many${n}`, `10.0.0.${n % 256}`)),
    break: async () => {
      await change((client) => addForeignPort(client, 'broken'));
      return () => change((client) => removePort(client, 'broken'));
    },
    damage: () =>
      change(async (client) => {
        await removePort(client, 'broken');
        await client.transact([
          { op: 'update', table: 'Logical_Router_Policy', where: [], row: { priority: 5 } },
          { op: 'update', table: 'Port_Group', where: [['name', '==', 'blue.n1']], row: { ports: [] } },
          { op: 'update', table: 'Logical_Router', where: [], row: { nat: [] } },
          { op: 'update', table: 'Logical_Switch', where: [], row: { acls: [], load_balancer: [] } },
          { op: 'update', table: 'QoS', where: [], row: { bandwidth: { rate: 1 } } },
          { op: 'update', table: 'ACL', where: [], row: { action: 'drop' } },
        ]);
      }),
    addForeign: () => change(addForeignRows),
    close: () => undefined,
  };
}

/** As `ovn-nbctl lsp-add blue NAME` does it. */
export async function addForeignPort(client: OvsdbClient, name: string): Promise<void> {
  await client.transact([
    { op: 'insert', table: 'Logical_Switch_Port', row: { name }, uuidName: 'port' },
    {
      ...{ op: 'mutate', table: 'Logical_Switch', where: [['name', '==', 'blue']] },
      mutations: [['ports', 'insert', [{ namedUuid: 'port' }]]],
    },
  ]);
}

/** As `ovn-nbctl lsp-del NAME` does it. */
export const removePort = (client: OvsdbClient, name: string): Promise<void> =>
  removePortRow(client, { table: 'Logical_Switch_Port', of: 'Logical_Switch' }, name);

/** Rows beside ours and in ours: a route, a policy and a port that Kube-OVN, say, has made. */
export async function addForeignRows(client: OvsdbClient): Promise<void> {
  await addForeignPort(client, 'foreign');
  const row = { ip_prefix: '10.16.0.5', nexthop: '100.64.0.9' };
  await client.transact([
    { op: 'insert', table: 'Logical_Router_Static_Route', row, uuidName: 'route' },
    { op: 'insert', table: 'Address_Set', row: { name: 'strangers', addresses: ['10.16.0.5'] } },
    {
      ...{ op: 'mutate', table: 'Logical_Router', where: [['name', '==', 'vpc']] },
      mutations: [['static_routes', 'insert', [{ namedUuid: 'route' }]]],
    },
  ]);
}
