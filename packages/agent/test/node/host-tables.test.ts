import type { Resource } from '@podwire/engine';
import type { HostTable, NetworkModel, NodeView, PoolView } from '@podwire/network-contract';
import { packetFilter } from '@podwire/network-traffic';
import { expect, test } from 'vitest';
import { planHostTables } from '../../src/node/host-tables.js';
import { plainModel } from '../two-models/plain-model.js';

const view: NodeView = {
  network: { name: 'default', model: 'plain', pools: [] },
  ...{ name: 'node1', blocks: [], mtu: 1500, ipv4: true, ipv6: true },
  router: { forwarded: { 4: false }, bridges: { 4: [], 6: [] }, advertised: [] },
};

test('a node that is no router forwards through the links of its models', () => {
  const bridged: NetworkModel = { ...plainModel, hostTables: [packetFilter], forwardingLinks: ['tun0'] };
  const { beforeModels, afterModels } = planHostTables([{ model: bridged, view }], []);
  const [table] = beforeModels.filter((resource) => resource.kind === 'nft-table');
  expect(table?.body).toContain('iifname "tun0" accept');
  const firewall = afterModels.filter((resource) => resource.kind === 'forward-accept');
  expect(firewall.map(({ links }) => links.includes('tun0'))).toEqual([true, true]);
});

test('a table that models bring is planned once, for the networks that ask for it', () => {
  const marker = (key: string): Resource => ({ kind: 'sysctl', in: 'host', key, value: '1' });
  const pool = (cidr: string): PoolView => ({
    name: cidr,
    cidr,
    encapsulation: 'direct',
    natOutgoing: false,
  });
  const viewOf = (name: string, cidr: string): NodeView => ({
    ...view,
    network: { name, model: 'plain', pools: [pool(cidr)] },
  });
  const table: HostTable = {
    plan: (sides, elsewhere) => ({
      beforeModels: sides.map(({ view }) => marker(view.network.name)),
      afterModels: elsewhere.map(({ cidr }) => marker(cidr)),
    }),
  };
  const asking: NetworkModel = { ...plainModel, hostTables: [table] };
  const sides = [
    { model: asking, view: viewOf('one', '10.1.0.0/16') },
    { model: { ...asking }, view: viewOf('two', '10.2.0.0/16') },
    { model: plainModel, view: viewOf('other', '10.3.0.0/16') },
  ];
  expect(planHostTables(sides, [pool('10.4.0.0/16')])).toEqual({
    beforeModels: [marker('one'), marker('two')],
    afterModels: [marker('10.3.0.0/16'), marker('10.4.0.0/16')],
  });
});
