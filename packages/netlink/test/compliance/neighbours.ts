import assert from 'node:assert/strict';
import {
  addForwardingEntry,
  addNeighbour,
  addProxyNeighbour,
  appendForwardingEntry,
  createLink,
  decodeNeighbour,
  deleteForwardingEntry,
  deleteNeighbour,
  deleteProxyNeighbour,
  getNeighbour,
  listForwardingEntries,
  listNeighbours,
  type NetlinkConnection,
  replaceForwardingEntry,
  replaceNeighbour,
  setLink,
} from '@podwire/netlink';
import { type Case, outcomes } from './environment.js';
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
      connection.request([createLink(localPair), setLink(10, { up: true }), setLink(11, { up: true })]);
      const four = { link: 10, address: '192.0.2.9', mac: '02:00:00:00:00:09' };
      const six = { link: 11, address: '2001:db8::9', mac: '02:00:00:00:00:0a' };
      const other = '02:00:00:00:00:0b';
      assert.deepEqual(
        outcomes(
          connection,
          addNeighbour(four),
          addNeighbour(six),
          addNeighbour({ ...four, mac: other }),
          replaceNeighbour({ ...four, mac: other }),
          deleteNeighbour({ link: 10, address: '192.0.2.10' }),
          addNeighbour({ ...four, link: 99 }),
          deleteNeighbour({ ...four, link: 99 }),
          addNeighbour({ link: 10, address: '192.0.2.11', mac: '02:00' }),
        ),
        ['ok', 'ok', 'EEXIST', 'ok', 'ENOENT', 'ENODEV', 'ENODEV', 'EINVAL'],
      );
      assert.deepEqual(permanent(connection), [`10 192.0.2.9 ${other}`, `11 2001:db8::9 ${six.mac}`]);
      assert.deepEqual(permanent(connection, 11), [`11 2001:db8::9 ${six.mac}`]);
      assert.deepEqual(permanent(connection, 999), []);
      const [found] = connection.request([getNeighbour(four)]).flat();
      assert.equal(decodeNeighbour(found!)?.mac, other);
      assert.deepEqual(
        outcomes(
          connection,
          getNeighbour({ ...four, address: '192.0.2.10' }),
          getNeighbour({ ...six, link: 99 }),
        ),
        ['ENOENT', 'ENODEV'],
      );
      connection.request([deleteNeighbour(four), setLink(11, { up: false })]);
      assert.deepEqual(permanent(connection), []);
    },
  },
  {
    name: 'proxy entries are kept apart from neighbours',
    run({ host: { connection } }) {
      connection.request([createLink(localPair), setLink(10, { up: true })]);
      const proxy = { link: 10, address: '192.0.2.9' };
      const proxy6 = { link: 10, address: 'fe80::1' };
      assert.deepEqual(
        outcomes(
          connection,
          addProxyNeighbour(proxy),
          addProxyNeighbour(proxy),
          addProxyNeighbour(proxy6),
          deleteProxyNeighbour({ link: 10, address: '192.0.2.10' }),
          addProxyNeighbour({ ...proxy, link: 99 }),
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
      connection.request([deleteProxyNeighbour(proxy)]);
      assert.deepEqual(proxies(), [['fe80::1', true]]);
    },
  },
  {
    name: 'forwarding entries of a VXLAN device',
    run({ host: { connection } }) {
      connection.request([
        createLink({ kind: 'vxlan', name: 'vx0', index: 30, id: 7, port: 4789, learning: false }),
      ]);
      const entry = { link: 30, table: 'self', mac: '02:00:00:00:00:11', remote: '192.0.2.1' } as const;
      const all = { link: 30, table: 'self', mac: '00:00:00:00:00:00' } as const;
      assert.deepEqual(
        outcomes(
          connection,
          addForwardingEntry(entry),
          addForwardingEntry({ ...entry, remote: '192.0.2.2' }),
          replaceForwardingEntry({ ...entry, remote: '192.0.2.3' }),
          appendForwardingEntry({ ...all, remote: '192.0.2.4' }),
          appendForwardingEntry({ ...all, remote: '192.0.2.5' }),
          deleteForwardingEntry({ ...entry, mac: '02:00:00:00:00:12' }),
          addForwardingEntry({ ...entry, link: 99 }),
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
        deleteForwardingEntry({ ...all, remote: '192.0.2.4' }),
        deleteForwardingEntry({ ...entry, remote: '192.0.2.3' }),
      ]);
      assert.deepEqual(entries(), ['00:00:00:00:00:00 192.0.2.5 self']);
      assert.deepEqual(listForwardingEntries(connection, { link: 999 }), []);
    },
  },
  {
    name: 'forwarding entries of a bridge',
    run({ host: { connection } }) {
      connection.request([
        createLink(localPair),
        createLink({ kind: 'bridge', name: 'br0', index: 20 }),
        setLink(10, { master: 20 }),
      ]);
      const entry = { link: 10, table: 'master', mac: '02:00:00:00:00:11' } as const;
      assert.deepEqual(
        outcomes(connection, addForwardingEntry(entry), addForwardingEntry({ ...entry, link: 11 })),
        ['ok', 'EOPNOTSUPP'],
      );
      const found = listForwardingEntries(connection, { master: 20 }).filter(({ mac }) => mac === entry.mac);
      assert.deepEqual(found, [{ ...entry, permanent: true, master: 20 }]);
      connection.request([deleteForwardingEntry(entry)]);
    },
  },
];
