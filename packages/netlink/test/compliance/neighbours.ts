import assert from 'node:assert/strict';
import {
  addAddressRequest,
  addForwardingEntryRequest,
  addNeighbourRequest,
  addProxyNeighbourRequest,
  appendForwardingEntryRequest,
  createLinkRequest,
  decodeNeighbour,
  deleteForwardingEntryRequest,
  deleteNeighbourRequest,
  deleteProxyNeighbourRequest,
  getLinkRequest,
  getNeighbourRequest,
  listForwardingEntries,
  listNeighbours,
  type NetlinkConnection,
  probeNeighbourRequest,
  readNeighbour,
  replaceForwardingEntryRequest,
  replaceNeighbourRequest,
  resolveNeighbourRequest,
  setLinkRequest,
} from '@podwire/netlink';
import { assertBecomes, type Case, outcomes } from './environment.js';
import { localPair } from './links.js';

/** Without what the kernel resolves by itself (multicast). */
const permanent = (connection: NetlinkConnection, link?: number) =>
  listNeighbours(connection, link === undefined ? {} : { link })
    .filter(({ state }) => state === 'permanent')
    .map(({ link: index, address, mac }) => `${index} ${address} ${mac}`)
    .sort();

export const neighbourCases: readonly Case[] = [
  {
    name: 'neighbours are added, replaced, listed and deleted',
    run({ host: { connection } }) {
      connection.request([
        createLinkRequest(localPair),
        setLinkRequest(10, { up: true }),
        setLinkRequest(11, { up: true }),
      ]);
      const four = { link: 10, address: '192.0.2.9', mac: '02:00:00:00:00:09' };
      const six = { link: 11, address: '2001:db8::9', mac: '02:00:00:00:00:0a' };
      const other = '02:00:00:00:00:0b';
      assert.deepEqual(
        outcomes(
          connection,
          addNeighbourRequest(four),
          addNeighbourRequest(six),
          addNeighbourRequest({ ...four, mac: other }),
          replaceNeighbourRequest({ ...four, mac: other }),
          deleteNeighbourRequest({ link: 10, address: '192.0.2.10' }),
          addNeighbourRequest({ ...four, link: 99 }),
          deleteNeighbourRequest({ ...four, link: 99 }),
          addNeighbourRequest({ link: 10, address: '192.0.2.11', mac: '02:00' }),
        ),
        ['ok', 'ok', 'EEXIST', 'ok', 'ENOENT', 'ENODEV', 'ENODEV', 'EINVAL'],
      );
      assert.deepEqual(permanent(connection), [`10 192.0.2.9 ${other}`, `11 2001:db8::9 ${six.mac}`]);
      assert.deepEqual(permanent(connection, 11), [`11 2001:db8::9 ${six.mac}`]);
      assert.deepEqual(permanent(connection, 999), []);
      const [found] = connection.request([getNeighbourRequest(four)]).flat();
      assert.equal(decodeNeighbour(found!)?.mac, other);
      assert.deepEqual(
        outcomes(
          connection,
          getNeighbourRequest({ ...four, address: '192.0.2.10' }),
          getNeighbourRequest({ ...six, link: 99 }),
        ),
        ['ENOENT', 'ENODEV'],
      );
      connection.request([deleteNeighbourRequest(four), setLinkRequest(11, { up: false })]);
      assert.deepEqual(permanent(connection), []);
    },
  },
  {
    name: 'a neighbour is resolved as a packet to it would do it',
    run({ host: { connection }, pod }) {
      const peer = { name: 'b', index: 11, namespace: pod.fd };
      connection.request([
        createLinkRequest({ kind: 'veth', name: 'a', index: 10, peer }),
        addAddressRequest({ link: 10, address: '192.0.2.1/24' }),
      ]);
      pod.connection.request([addAddressRequest({ link: 11, address: '192.0.2.2/24' })]);
      pod.connection.request([setLinkRequest(11, { up: true })]);
      // The kernel acts on the carrier of a link that is asked for at once.
      connection.request([setLinkRequest(10, { up: true }), getLinkRequest(10)]);
      const [near, absent] = ['192.0.2.2', '192.0.2.9'].map((address) => ({ link: 10, address }));
      assert.deepEqual(
        outcomes(
          connection,
          probeNeighbourRequest(near!),
          resolveNeighbourRequest(near!),
          resolveNeighbourRequest({ ...near!, link: 99 }),
          resolveNeighbourRequest(absent!),
          probeNeighbourRequest(absent!),
        ),
        ['ENOENT', 'ok', 'ENODEV', 'ok', 'EINVAL'],
      );
      assertBecomes(() => readNeighbour(connection, near!)?.state, 'reachable');
      assert.equal(readNeighbour(connection, absent!)?.mac, undefined);
      assert.deepEqual(outcomes(connection, probeNeighbourRequest(near!)), ['ok']);
      assertBecomes(() => readNeighbour(connection, near!)?.state, 'reachable');
    },
  },
  {
    name: 'proxy entries are kept apart from neighbours',
    run({ host: { connection } }) {
      connection.request([createLinkRequest(localPair), setLinkRequest(10, { up: true })]);
      const proxy = { link: 10, address: '192.0.2.9' };
      const proxy6 = { link: 10, address: 'fe80::1' };
      assert.deepEqual(
        outcomes(
          connection,
          addProxyNeighbourRequest(proxy),
          addProxyNeighbourRequest(proxy),
          addProxyNeighbourRequest(proxy6),
          deleteProxyNeighbourRequest({ link: 10, address: '192.0.2.10' }),
          addProxyNeighbourRequest({ ...proxy, link: 99 }),
        ),
        ['ok', 'ok', 'ok', 'ENOENT', 'ENODEV'],
      );
      const proxies = () =>
        listNeighbours(connection, { link: 10, proxy: true }).map(({ address, proxy }) => [address, proxy]);
      assert.deepEqual(proxies(), [
        ['192.0.2.9', true],
        ['fe80::1', true],
      ]);
      assert.deepEqual(permanent(connection), []);
      connection.request([deleteProxyNeighbourRequest(proxy)]);
      assert.deepEqual(proxies(), [['fe80::1', true]]);
    },
  },
  {
    name: 'forwarding entries of a VXLAN device',
    run({ host: { connection } }) {
      connection.request([
        createLinkRequest({ kind: 'vxlan', name: 'vx0', index: 30, id: 7, port: 4789, learning: false }),
      ]);
      const entry = { link: 30, table: 'self', mac: '02:00:00:00:00:11', remote: '192.0.2.1' } as const;
      const all = { link: 30, table: 'self', mac: '00:00:00:00:00:00' } as const;
      assert.deepEqual(
        outcomes(
          connection,
          addForwardingEntryRequest(entry),
          addForwardingEntryRequest({ ...entry, remote: '192.0.2.2' }),
          replaceForwardingEntryRequest({ ...entry, remote: '192.0.2.3' }),
          appendForwardingEntryRequest({ ...all, remote: '192.0.2.4' }),
          appendForwardingEntryRequest({ ...all, remote: '192.0.2.5' }),
          deleteForwardingEntryRequest({ ...entry, mac: '02:00:00:00:00:12' }),
          addForwardingEntryRequest({ ...entry, link: 99 }),
        ),
        ['ok', 'EEXIST', 'ok', 'ok', 'ok', 'ENOENT', 'ENODEV'],
      );
      const entries = () =>
        listForwardingEntries(connection, { link: 30 })
          .map(({ mac, remote, table }) => `${mac} ${remote} ${table}`)
          .sort();
      assert.deepEqual(entries(), [
        '00:00:00:00:00:00 192.0.2.4 self',
        '00:00:00:00:00:00 192.0.2.5 self',
        '02:00:00:00:00:11 192.0.2.3 self',
      ]);
      connection.request([
        deleteForwardingEntryRequest({ ...all, remote: '192.0.2.4' }),
        deleteForwardingEntryRequest({ ...entry, remote: '192.0.2.3' }),
      ]);
      assert.deepEqual(entries(), ['00:00:00:00:00:00 192.0.2.5 self']);
      assert.deepEqual(listForwardingEntries(connection, { link: 999 }), []);
    },
  },
  {
    name: 'forwarding entries of a bridge',
    run({ host: { connection } }) {
      connection.request([
        createLinkRequest(localPair),
        createLinkRequest({ kind: 'bridge', name: 'br0', index: 20 }),
        setLinkRequest(10, { master: 20 }),
      ]);
      const entry = { link: 10, table: 'master', mac: '02:00:00:00:00:11' } as const;
      assert.deepEqual(
        outcomes(
          connection,
          addForwardingEntryRequest(entry),
          addForwardingEntryRequest({ ...entry, link: 11 }),
        ),
        ['ok', 'EOPNOTSUPP'],
      );
      const found = listForwardingEntries(connection, { master: 20 }).filter(({ mac }) => mac === entry.mac);
      assert.deepEqual(found, [{ ...entry, permanent: true, master: 20 }]);
      connection.request([deleteForwardingEntryRequest(entry)]);
    },
  },
];
