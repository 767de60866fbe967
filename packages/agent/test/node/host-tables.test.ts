import type { NetworkModel, NodeView } from '@podwire/network-contract';
import { expect, test } from 'vitest';
import { planHostTables } from '../../src/node/host-tables.js';
import { plainModel } from '../two-models/plain-model.js';

const view: NodeView = {
  network: { name: 'default', model: 'plain', pools: [] },
  ...{ name: 'node1', blocks: [], mtu: 1500, ipv4: true, ipv6: true },
  router: { forwarded: { 4: false }, bridges: { 4: [], 6: [] }, advertised: [] },
};

test('a node that is no router forwards through the links of its models', () => {
  const bridged: NetworkModel = { ...plainModel, hostTables: ['traffic'], forwardingLinks: ['tun0'] };
  const { beforeModels, afterModels } = planHostTables([{ model: bridged, view }], []);
  const [table] = beforeModels.filter((resource) => resource.kind === 'nft-table');
  expect(table?.body).toContain('iifname "tun0" accept');
  const firewall = afterModels.filter((resource) => resource.kind === 'forward-accept');
  expect(firewall.map(({ links }) => links.includes('tun0'))).toEqual([true, true]);
});
