/** A switch's database, fake or real, for the compliance suite of backends. */
import type { BackendSubject, ExchangeLists } from '@podwire/engine/compliance';
import type { Owned, Resource } from '@podwire/engine';
import type { OvsdbClient } from '@podwire/ovsdb';
import { createSwitchBackend } from '../src/index.js';
import { createSubjectClients, removePortRow, type SubjectOptions } from './subject-clients.js';

export const bridge: Resource = { kind: 'ovs-bridge', name: 'br0', failMode: 'secure' };

type OvsPort = Extract<Resource, { readonly kind: 'ovs-port' }>;

export const port = (name: string, more: Partial<OvsPort> = {}): Resource => ({
  ...{ kind: 'ovs-port', name, bridge: 'br0', ...more },
  interfaces: [{ name, type: 'internal', externalIds: { 'iface-id': `id of ${name}` } }],
});

export const queue = (name: string, rate: number): Resource => ({
  ...{ kind: 'ovs-queue', name },
  otherConfig: { 'max-rate': String(rate) },
});

const gold: Resource = { kind: 'ovs-qos', name: 'gold', type: 'linux-htb', queues: { 0: 'slow', 7: 'fast' } };
const broken = port('web1');

const mirror: Resource = {
  ...{ kind: 'ovs-mirror', name: 'tap', bridge: 'br0' },
  ...{ selectSrcPorts: ['web0'], outputPort: 'tap0', selectVlans: [5, 6] },
};

/** Ports say that it gets what leaves by them. */
const copy = (name: string): Resource => ({ kind: 'ovs-mirror', name, bridge: 'br0', outputPort: 'tap0' });

export const setting = (value: string): Resource => ({ kind: 'ovs-setting', key: 'ovn-remote', value });

export const mapping = (name: string, value: string): Resource => ({
  ...{ kind: 'ovs-setting-entry', key: 'ovn-bridge-mappings', name, value },
});

/** They travel in a transaction of their own. */
const settings = [setting('unix:/run/ovn/sb.sock'), mapping('net1', 'br0'), mapping('net2', 'br0')];

export const owned: Owned = {
  owner: 'network:1',
  resources: [
    ...[queue('slow', 1_000), queue('fast', 9_000), gold],
    ...[port('tap0'), copy('copy'), copy('other'), port('web0', { tag: 5, qos: 'gold', mirrors: ['copy'] })],
    ...[broken, mirror],
  ],
};

/** Ports that move between bridges, and change what they refer to. */
const exchange: ExchangeLists = {
  first: [
    ...[queue('a', 1), { ...gold, queues: { 0: 'a' } } as Resource, port('p1')],
    ...[{ ...copy('m0'), outputPort: 'p1' } as Resource, port('p0', { qos: 'gold', mirrors: ['m0'] })],
  ],
  second: [
    ...[{ kind: 'ovs-bridge', name: 'br1' } as const, queue('b', 2)],
    ...[{ ...gold, queues: { 0: 'b' } } as Resource, port('p0', { qos: 'gold', bridge: 'br1', tag: 7 })],
  ],
  refused: [port('p0', { tag: 9 }), port('p2', { bridge: 'absent' })],
};

type Values = { readonly [column: string]: string };

export function createSubject({ client: options, picture }: SubjectOptions): BackendSubject {
  const { open, openBackend, change } = createSubjectClients(
    { database: 'Open_vSwitch', ...options },
    createSwitchBackend,
  );
  const addPort = (name: string): Promise<void> => change((client) => addForeignPort(client, name));
  const daemon = open();
  const isAtWork = playDaemon(daemon);
  return {
    base: {
      owner: 'node',
      resources: [
        ...[bridge, { kind: 'ovs-port-ready', port: 'br0', number: LOCAL } as const],
        { kind: 'ovs-port-installed', port: 'br0' },
      ],
    },
    owned: { ...owned, resources: [...owned.resources, ...settings] },
    backends: () => [openBackend()],
    picture,
    exchange,
    replacement: [
      queue('slow', 2_000),
      { ...gold, queues: { 0: 'fast' } } as Resource,
      port('web0', { tag: 6, mirrors: ['other'] }),
      { ...mirror, selectSrcPorts: [], selectVlans: [] } as Resource,
      ...[setting('tcp:192.0.2.1:6642'), mapping('net1', 'br1')],
    ],
    many: (count) => Array.from({ length: count }, (_, n) => queue(`many${n}`, n)),
    broken,
    break: async () => {
      await addPort('web1');
      return () => change((client) => removePort(client, 'web1'));
    },
    damage: () =>
      change(async (client) => {
        await removePort(client, 'web1');
        await client.transact([
          { op: 'update', table: 'Port', where: [['name', '==', 'web0']], row: { tag: 99, qos: undefined } },
          {
            ...{ op: 'mutate', table: 'Interface', where: [['name', '==', 'web0']] },
            mutations: [['external_ids', 'delete', ['iface-id']]],
          },
          { op: 'update', table: 'Mirror', where: [], row: { select_dst_port: [] } },
          {
            ...{ op: 'mutate', table: 'Open_vSwitch', where: [] },
            mutations: [['external_ids', 'delete', ['ovn-remote', 'ovn-bridge-mappings']]],
          },
        ]);
      }),
    addForeign: () =>
      change(async (client) => {
        await addForeignPort(client, 'foreign0');
        const queue = { dscp: 3, other_config: { 'max-rate': '5' } as Values };
        await client.transact([
          { op: 'insert', table: 'Queue', row: queue },
          {
            ...{ op: 'mutate', table: 'Open_vSwitch', where: [] },
            mutations: [['external_ids', 'insert', { 'system-id': 'n1' }]],
          },
        ]);
      }),
    close: async () => {
      await isAtWork;
      await daemon.close();
    },
  };
}

/** Open vSwitch has one number for the own ports of all bridges; here any will do. */
const LOCAL = 65_000;

/** Gives the bridge's own port its number as soon as it is there, as ovs-vswitchd does, and flows, as ovn-controller does. */
async function playDaemon(client: OvsdbClient): Promise<void> {
  const rows = await client.monitor({ Interface: { columns: ['name', 'ofport'] } });
  const report = (): void => {
    const isWaiting = [...rows.rows('Interface').values()].some(
      ({ name, ofport }) => name === 'br0' && ofport === undefined,
    );
    if (!isWaiting) return;
    const where: [string, '==', string][] = [['name', '==', 'br0']];
    const installed = ['external_ids', 'insert', { 'ovn-installed': 'true' } as Values] as const;
    client
      .transact([
        { op: 'update', table: 'Interface', where, row: { ofport: LOCAL } },
        { op: 'mutate', table: 'Interface', where, mutations: [installed] },
      ])
      .catch(() => undefined);
  };
  rows.subscribe(report);
  report();
}

/** As `ovs-vsctl add-port br0 NAME` does it. */
export async function addForeignPort(client: OvsdbClient, name: string): Promise<void> {
  await client.transact([
    { op: 'insert', table: 'Interface', row: { name, type: 'internal' }, uuidName: 'interface' },
    {
      op: 'insert',
      table: 'Port',
      row: { name, interfaces: [{ namedUuid: 'interface' }] },
      uuidName: 'port',
    },
    {
      ...{ op: 'mutate', table: 'Bridge', where: [['name', '==', 'br0']] },
      mutations: [['ports', 'insert', [{ namedUuid: 'port' }]]],
    },
  ]);
}

/** As `ovs-vsctl del-port NAME` does it. */
export const removePort = (client: OvsdbClient, name: string): Promise<void> =>
  removePortRow(client, { table: 'Port', of: 'Bridge' }, name);
