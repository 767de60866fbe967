import assert from 'node:assert/strict';
import {
  addAddressRequest,
  addNeighbourRequest,
  addRouteRequest,
  createLinkRequest,
  deleteAddressRequest,
  deleteLinkRequest,
  listAddresses,
  listNeighbours,
  listRoutes,
  type NetlinkConnection,
  replaceAddressRequest,
  setLinkRequest,
} from '@podwire/netlink';
import type { Case } from './environment.js';
import { assertBecomes, assertContains, outcomes } from './environment.js';
import { localPair } from './links.js';

const addressTexts = (connection: NetlinkConnection, link: number): string[] =>
  listAddresses(connection, { link })
    .map(({ address }) => address)
    .filter((address) => !address.startsWith('fe80:'))
    .sort();

/** All but when they were made, which is the kernel's to know. */
const addressEntries = (connection: NetlinkConnection, link?: number) =>
  listAddresses(connection, link === undefined ? {} : { link }).map(({ created: _, ...entry }) => entry);

const byAddress = (a: { address: string }, b: { address: string }): number =>
  a.address < b.address ? -1 : 1;

/** The kernel's own routes over a link, without IPv6's multicast and link-local ones. */
const ownRoutes = (connection: NetlinkConnection, link: number): string[] =>
  listRoutes(connection, { link, protocol: 2 })
    .filter(({ destination }) => !/^f[ef]/.test(destination))
    .map(({ type, destination, table, scope }) => `${type} ${destination} ${table} ${scope}`)
    .sort();

export const addressCases: readonly Case[] = [
  {
    name: 'an address is added, listed and deleted',
    run({ host }) {
      host.connection.request([
        createLinkRequest(localPair),
        addAddressRequest({ link: 10, address: '192.0.2.1/24', broadcast: '192.0.2.255', metric: 7 }),
        addAddressRequest({ link: 10, address: '2001:db8::1/64', flags: ['noDad'] }),
        addAddressRequest({ link: 10, address: '192.0.2.9/32', scope: 'link', label: 'a:x' }),
      ]);
      const entries = addressEntries(host.connection, 10);
      assert.deepEqual(entries.sort(byAddress), [
        {
          family: 4,
          link: 10,
          address: '192.0.2.1/24',
          broadcast: '192.0.2.255',
          scope: 'global',
          flags: ['permanent'],
          label: 'a',
          metric: 7,
        },
        { family: 4, link: 10, address: '192.0.2.9/32', scope: 'link', flags: ['permanent'], label: 'a:x' },
        { family: 6, link: 10, address: '2001:db8::1/64', scope: 'global', flags: ['noDad', 'permanent'] },
      ]);
      host.connection.request([
        deleteAddressRequest({ link: 10, address: '192.0.2.1/24' }),
        deleteAddressRequest({ link: 10, address: '2001:db8::1/64' }),
      ]);
      assert.deepEqual(addressTexts(host.connection, 10), ['192.0.2.9/32']);
    },
  },
  {
    name: 'an address with a peer',
    run({ host }) {
      host.connection.request([
        createLinkRequest(localPair),
        addAddressRequest({ link: 10, address: '192.0.2.1/32', peer: '192.0.2.77' }),
      ]);
      assertContains(listAddresses(host.connection, { link: 10, family: 4 }), [
        { address: '192.0.2.1/32', peer: '192.0.2.77' },
      ]);
      host.connection.request([setLinkRequest(10, { up: true })]);
      assert.deepEqual(ownRoutes(host.connection, 10), [
        'local 192.0.2.1/32 255 host',
        'unicast 192.0.2.77/32 254 link',
      ]);
    },
  },
  {
    name: 'addresses that are there, or not there, are refused',
    run({ host }) {
      host.connection.request([
        createLinkRequest(localPair),
        addAddressRequest({ link: 10, address: '192.0.2.1/24' }),
        addAddressRequest({ link: 10, address: '2001:db8::1/64' }),
      ]);
      assert.deepEqual(
        outcomes(
          host.connection,
          addAddressRequest({ link: 10, address: '192.0.2.1/24' }),
          addAddressRequest({ link: 10, address: '2001:db8::1/64' }),
          addAddressRequest({ link: 10, address: '2001:db8::1/128' }),
          addAddressRequest({ link: 10, address: '192.0.2.1/32' }),
          replaceAddressRequest({ link: 10, address: '192.0.2.1/24' }),
          addAddressRequest({ link: 99, address: '192.0.2.1/24' }),
          addAddressRequest({ link: 99, address: '2001:db8::1/64' }),
          deleteAddressRequest({ link: 10, address: '192.0.2.2/24' }),
          deleteAddressRequest({ link: 10, address: '192.0.2.1/25' }),
          deleteAddressRequest({ link: 10, address: '2001:db8::2/64' }),
          deleteAddressRequest({ link: 99, address: '192.0.2.1/24' }),
        ),
        [
          'EEXIST',
          'EEXIST',
          'EEXIST',
          'ok',
          'ok',
          'ENODEV',
          'ENODEV',
          'EADDRNOTAVAIL',
          'EADDRNOTAVAIL',
          'EADDRNOTAVAIL',
          'ENODEV',
        ],
      );
      assert.deepEqual(listAddresses(host.connection, { link: 999 }), []);
    },
  },
  {
    name: 'addresses bring routes when the link is up',
    run({ host }) {
      host.connection.request([
        // Not a veth: whether it has a carrier is known to IPv6 only some time later.
        createLinkRequest({ kind: 'ifb', name: 'i0', index: 10 }),
        addAddressRequest({ link: 10, address: '192.0.2.1/24' }),
        addAddressRequest({ link: 10, address: '192.0.2.2/24' }),
        addAddressRequest({ link: 10, address: '198.51.100.1/32' }),
        addAddressRequest({ link: 10, address: '2001:db8::1/64', flags: ['noDad'] }),
        addAddressRequest({ link: 10, address: '2001:db8:1::1/64', flags: ['noDad', 'noPrefixRoute'] }),
      ]);
      const local4 = [
        'local 192.0.2.1/32 255 host',
        'local 192.0.2.2/32 255 host',
        'local 198.51.100.1/32 255 host',
      ];
      const local6 = ['local 2001:db8:1::1/128 255 global', 'local 2001:db8::1/128 255 global'];
      const routes = (): string[] => ownRoutes(host.connection, 10);
      // IPv6 adds an address's route from a work queue, also without duplicate address detection.
      assertBecomes(routes, [...local4, ...local6].sort());
      host.connection.request([setLinkRequest(10, { up: true })]);
      assertBecomes(
        routes,
        [
          ...local4,
          ...local6,
          'broadcast 192.0.2.255/32 255 link',
          'unicast 192.0.2.0/24 254 link',
          'unicast 2001:db8::/64 254 global',
        ].sort(),
      );
      host.connection.request([setLinkRequest(10, { up: false })]);
      assert.deepEqual(routes(), local4);
      assert.deepEqual(addressTexts(host.connection, 10), [
        '192.0.2.1/24',
        '192.0.2.2/24',
        '198.51.100.1/32',
      ]);
    },
  },
  {
    name: 'the routes of an address go with it',
    run({ host }) {
      host.connection.request([
        createLinkRequest(localPair),
        setLinkRequest(10, { up: true }),
        addAddressRequest({ link: 10, address: '192.0.2.1/24' }),
        deleteAddressRequest({ link: 10, address: '192.0.2.1/24' }),
      ]);
      assert.deepEqual(ownRoutes(host.connection, 10), []);
    },
  },
  {
    name: 'with the last IPv4 address of a link go its IPv4 routes and neighbours, also those of other programs',
    run({ host }) {
      const { connection } = host;
      connection.request([
        createLinkRequest(localPair),
        setLinkRequest(10, { up: true }),
        setLinkRequest(11, { up: true }),
        addAddressRequest({ link: 10, address: '192.0.2.1/32' }),
        addAddressRequest({ link: 10, address: '192.0.2.2/32' }),
        addAddressRequest({ link: 10, address: '2001:db8::1/64', flags: ['noDad'] }),
        addRouteRequest({ destination: '198.51.100.0/24', link: 10, protocol: 157 }),
        addRouteRequest({ destination: '2001:db8:9::/64', link: 10, protocol: 157 }),
        addNeighbourRequest({ link: 10, address: '198.51.100.9', mac: '02:00:00:00:00:09' }),
        addNeighbourRequest({ link: 10, address: '2001:db8::9', mac: '02:00:00:00:00:09' }),
      ]);
      const left = (): string[] => [
        ...listRoutes(connection, { link: 10, protocol: 157 }).map(({ destination }) => destination),
        ...listNeighbours(connection, { link: 10 })
          .filter(({ state }) => state === 'permanent')
          .map(({ address }) => address)
          .sort(),
      ];
      const others = ['2001:db8:9::/64', '2001:db8::9'];
      connection.request([deleteAddressRequest({ link: 10, address: '192.0.2.1/32' })]);
      assert.deepEqual(left(), ['198.51.100.0/24', others[0], '198.51.100.9', others[1]]);
      connection.request([deleteAddressRequest({ link: 10, address: '192.0.2.2/32' })]);
      assert.deepEqual(left(), others);
      connection.request([deleteAddressRequest({ link: 10, address: '2001:db8::1/64' })]);
      assert.deepEqual(left(), others);
    },
  },
  {
    name: 'addresses and routes go with the link',
    run({ host }) {
      host.connection.request([
        createLinkRequest(localPair),
        setLinkRequest(10, { up: true }),
        addAddressRequest({ link: 10, address: '192.0.2.1/24' }),
        addAddressRequest({ link: 11, address: '198.51.100.1/24' }),
        deleteLinkRequest(11),
      ]);
      assert.deepEqual(listAddresses(host.connection), []);
      assert.deepEqual(listRoutes(host.connection), []);
    },
  },
  {
    name: 'the loopback has its addresses when it is up',
    run({ host }) {
      host.connection.request([setLinkRequest('lo', { up: true })]);
      assert.deepEqual(addressEntries(host.connection), [
        { family: 4, link: 1, address: '127.0.0.1/8', scope: 'host', flags: ['permanent'], label: 'lo' },
        { family: 6, link: 1, address: '::1/128', scope: 'host', flags: ['permanent'] },
      ]);
      assert.deepEqual(ownRoutes(host.connection, 1), [
        'broadcast 127.255.255.255/32 255 link',
        'local 127.0.0.0/8 255 host',
        'local 127.0.0.1/32 255 host',
        'local ::1/128 255 global',
      ]);
    },
  },
  {
    name: 'an IPv6 link-local address comes by itself, unless it is told not to',
    run({ host }) {
      const linkLocal = (link: number) =>
        listAddresses(host.connection, { link, family: 6 }).map(({ address }) => address);
      host.connection.request([
        createLinkRequest({ kind: 'ifb', name: 'i0', index: 10, mac: '02:00:00:00:00:01' }),
        createLinkRequest({ kind: 'ifb', name: 'i1', index: 11 }),
        setLinkRequest(11, { addressGenerationMode: 'none' }),
        setLinkRequest(10, { up: true }),
        setLinkRequest(11, { up: true }),
      ]);
      assert.deepEqual(linkLocal(10), ['fe80::ff:fe00:1/64']);
      assert.deepEqual(linkLocal(11), []);
    },
  },
];
