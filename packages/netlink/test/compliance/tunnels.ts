import assert from 'node:assert/strict';
import {
  addAddressRequest,
  addForwardingEntryRequest,
  addNeighbourRequest,
  addRouteRequest,
  createLinkRequest,
  deleteForwardingEntryRequest,
  deleteLinkRequest,
  listForwardingEntries,
  listNeighbours,
  listRoutes,
  type NetlinkConnection,
  setLinkRequest,
} from '@podwire/netlink';
import { assertContains, type Case, linkNames, outcome, outcomes } from './environment.js';
import { find } from './links.js';

const peer = { link: 30, table: 'self', mac: '66:00:00:00:00:02', remote: '192.0.2.2' } as const;

/** A VXLAN device on a link of its own, as a node has it; both up. */
function makeTunnel(connection: NetlinkConnection): void {
  connection.request([
    createLinkRequest({ kind: 'ifb', name: 'eth0', index: 20, up: true }),
    addAddressRequest({ link: 20, address: '192.0.2.1/24' }),
    createLinkRequest({
      ...{ kind: 'vxlan', name: 'vx0', index: 30, id: 4096, port: 4789, local: '192.0.2.1', underlay: 20 },
      ...{ learning: false, mtu: 1450 },
    }),
    setLinkRequest(30, { addressGenerationMode: 'none' }),
    setLinkRequest(30, { up: true }),
    addAddressRequest({ link: 30, address: '10.244.0.0/32' }),
    addAddressRequest({ link: 30, address: 'fd00:244::/128', flags: ['noDad'] }),
    addForwardingEntryRequest(peer),
    addNeighbourRequest({ link: 30, address: '10.244.1.0', mac: peer.mac }),
    addNeighbourRequest({ link: 30, address: 'fd00:244:1::', mac: peer.mac }),
    addRouteRequest({ destination: '10.244.1.0/26', gateway: '10.244.1.0', link: 30, onlink: true }),
    addRouteRequest({ destination: 'fd00:244:1::/122', gateway: 'fd00:244:1::', link: 30, onlink: true }),
  ]);
}

const permanent = (connection: NetlinkConnection): string[] =>
  listNeighbours(connection, { link: 30 })
    .filter(({ state }) => state === 'permanent')
    .map(({ address }) => address)
    .sort();

const remotes = (connection: NetlinkConnection) =>
  listForwardingEntries(connection, { link: 30 }).map(({ remote }) => remote);

export const tunnelCases: readonly Case[] = [
  {
    name: 'a VXLAN device on a link, with routes through gateways that no route leads to',
    run({ host: { connection } }) {
      makeTunnel(connection);
      assertContains(find(connection, 'vx0')!.settings, {
        underlay: 20,
        learning: false,
        local: '192.0.2.1',
      });
      const routes = listRoutes(connection, { link: 30, protocol: 4 });
      assertContains(routes, [
        { destination: '10.244.1.0/26', gateway: '10.244.1.0', onlink: true },
        { destination: 'fd00:244:1::/122', gateway: 'fd00:244:1::', onlink: true },
      ]);
      assert.deepEqual(permanent(connection), ['10.244.1.0', 'fd00:244:1::']);
      assertContains(listForwardingEntries(connection, { link: 30 }), [{ ...peer, permanent: true }]);
    },
  },
  {
    name: 'a VXLAN device dies with the link it is on',
    run({ host: { connection } }) {
      makeTunnel(connection);
      connection.request([deleteLinkRequest('eth0')]);
      assert.deepEqual(linkNames(connection), []);
      assert.deepEqual(listRoutes(connection), []);
    },
  },
  {
    name: 'a VXLAN device that is down keeps what it knows of peers, and nothing of IP',
    run({ host: { connection } }) {
      makeTunnel(connection);
      connection.request([setLinkRequest(30, { up: false })]);
      assert.deepEqual(remotes(connection), ['192.0.2.2']);
      assert.deepEqual(permanent(connection), []);
      assert.deepEqual(listRoutes(connection, { link: 30, protocol: 4 }), []);
    },
  },
  {
    name: 'another MAC address costs a link its neighbours',
    run({ host: { connection } }) {
      makeTunnel(connection);
      connection.request([setLinkRequest(30, { mac: '66:00:00:00:00:09' })]);
      assert.deepEqual(permanent(connection), []);
      assert.equal(listRoutes(connection, { link: 30, protocol: 4 }).length, 2);
    },
  },
  {
    name: 'a forwarding entry is deleted by the remote it has; with another nothing happens',
    run({ host: { connection } }) {
      makeTunnel(connection);
      assert.equal(
        outcome(connection, deleteForwardingEntryRequest({ ...peer, remote: '192.0.2.77' })),
        'ok',
      );
      assert.deepEqual(remotes(connection), ['192.0.2.2']);
      assert.deepEqual(
        outcomes(connection, deleteForwardingEntryRequest(peer), deleteForwardingEntryRequest(peer)),
        ['ok', 'ENOENT'],
      );
      assert.deepEqual(remotes(connection), []);
    },
  },
  {
    name: 'two VXLAN devices share a port, not an identifier, also when one is down',
    run({ host: { connection } }) {
      makeTunnel(connection);
      const other = { kind: 'vxlan', port: 4789, local: '192.0.2.1', underlay: 20 } as const;
      connection.request([setLinkRequest(30, { up: false })]);
      assert.equal(outcome(connection, createLinkRequest({ ...other, name: 'vx1', id: 4096 })), 'EEXIST');
      assert.equal(outcome(connection, createLinkRequest({ ...other, name: 'vx1', id: 4097 })), 'ok');
      assert.equal(
        outcome(connection, createLinkRequest({ ...other, name: 'vx2', id: 4096, port: 8472 })),
        'ok',
      );
    },
  },
];
