import assert from 'node:assert/strict';
import {
  addAddressRequest,
  addRouteRequest,
  addRuleRequest,
  createLinkRequest,
  decodeRoute,
  decodeRule,
  deleteAddressRequest,
  listAddresses,
  listAddressMessages,
  listRouteMessages,
  listRoutes,
  listRuleMessages,
  listRules,
  type NetlinkConnection,
  repeatAddressRequests,
  repeatRouteRequest,
  repeatRuleRequest,
  setLinkRequest,
  type Transfer,
  withdrawRouteRequest,
  withdrawRuleRequest,
} from '@podwire/netlink';
import { assertContains, type Case, type Environment, outcomes } from './environment.js';
import { localPair } from './links.js';

const [a, b] = [
  { index: 10, name: 'a' },
  { index: 11, name: 'b' },
];
const transfer: Transfer = { from: a, to: b };
const onSpot: Transfer = { from: a, to: a };

/** Both ends of a pair are up, `a` with 192.0.2.1/24 and 2001:db8::1/64. */
function prepare({ host }: Environment): NetlinkConnection {
  host.connection.request([
    createLinkRequest(localPair),
    ...[10, 11].flatMap((link) => [
      setLinkRequest(link, { addressGenerationMode: 'none' }),
      setLinkRequest(link, { up: true }),
    ]),
    addAddressRequest({ link: 10, address: '192.0.2.1/24' }),
    addAddressRequest({ link: 10, address: '2001:db8::1/64', flags: ['noDad'] }),
  ]);
  return host.connection;
}

/** Addresses of `a` are on `b` as well. */
function repeatAddresses(connection: NetlinkConnection): void {
  const messages = listAddressMessages(connection, { link: 10 });
  connection.request(messages.flatMap((message) => repeatAddressRequests(message, transfer)));
}

const routesBeyond = (connection: NetlinkConnection) =>
  listRoutes(connection).filter(({ protocol }) => protocol !== 2);

const writtenRoutes = (connection: NetlinkConnection) =>
  listRouteMessages(connection, { link: 10 }).filter((message) => decodeRoute(message)?.protocol !== 2);

export const transferCases: readonly Case[] = [
  {
    name: 'addresses are put onto another link with their labels and flags',
    run(environment) {
      const connection = prepare(environment);
      connection.request([
        addAddressRequest({ link: 10, address: '192.0.2.2/24', label: 'a:1' }),
        addAddressRequest({ link: 10, address: '10.0.0.1/32', flags: ['noPrefixRoute'], label: 'other' }),
        addAddressRequest({ link: 10, address: '10.0.1.1/32', peer: '10.0.1.2' }),
      ]);
      repeatAddresses(connection);
      const [before, after] = [10, 11].map((link) => listAddresses(connection, { link }));
      const renamed = before!.map((entry) => {
        const { label, created: _, ...rest } = entry;
        return {
          ...rest,
          link: 11,
          ...(label === undefined ? {} : { label: label.replace(/^a(?=$|:)/, 'b') }),
        };
      });
      assertContains(after, renamed);
    },
  },
  {
    name: 'a route leads through both links, and then through the other one alone',
    run(environment) {
      const connection = prepare(environment);
      connection.request([
        addRouteRequest({ destination: '10.1.0.0/16', gateway: '192.0.2.9', metric: 5, protocol: 80 }),
        addRouteRequest({ destination: '10.2.0.0/16', link: 10, table: 1000, preferredSource: '192.0.2.1' }),
        addRouteRequest({ destination: '2001:db8:1::/64', gateway: '2001:db8::9', mtu: 1300 }),
        addRouteRequest({ destination: '2001:db8:2::/64', link: 10 }),
      ]);
      const before = routesBeyond(connection);
      repeatAddresses(connection);
      const messages = writtenRoutes(connection);
      connection.request(messages.map((message) => repeatRouteRequest(message, transfer)));
      const again = messages.map((message) => repeatRouteRequest(message, transfer));
      assert.deepEqual(outcomes(connection, ...again), Array(4).fill('EEXIST'));
      connection.request(messages.map((message) => withdrawRouteRequest(message, onSpot)));
      assert.deepEqual(
        routesBeyond(connection),
        before.map((route) => ({ ...route, link: 11 })),
      );
      const gone = messages.map((message) => withdrawRouteRequest(message, onSpot));
      assert.deepEqual(outcomes(connection, ...gone), Array(4).fill('ESRCH'));
    },
  },
  {
    name: 'of several next hops those of the link lead through the other one',
    run(environment) {
      const connection = prepare(environment);
      connection.request([
        addAddressRequest({ link: 1, address: '198.51.100.1/24' }),
        setLinkRequest('lo', { up: true }),
        addRouteRequest({
          destination: '10.1.0.0/16',
          nextHops: [{ gateway: '192.0.2.9', weight: 3 }, { gateway: '192.0.2.8' }],
        }),
        addRouteRequest({
          destination: '2001:db8:1::/64',
          nextHops: [{ gateway: '2001:db8::9' }, { gateway: '2001:db8::8' }],
        }),
      ]);
      repeatAddresses(connection);
      const messages = writtenRoutes(connection);
      connection.request(messages.map((message) => repeatRouteRequest(message, transfer)));
      connection.request(messages.map((message) => withdrawRouteRequest(message, onSpot)));
      const hops = routesBeyond(connection).map(({ nextHops = [] }) => nextHops);
      assert.deepEqual(hops[0], [
        { link: 11, gateway: '192.0.2.9', weight: 3 },
        { link: 11, gateway: '192.0.2.8', weight: 1 },
      ]);
      assert.deepEqual(hops[1]?.map(({ link, gateway }) => `${link} ${gateway}`).sort(), [
        '11 2001:db8::8',
        '11 2001:db8::9',
      ]);
    },
  },
  {
    name: 'a rule names the other link, and keeps everything else',
    run(environment) {
      const connection = prepare(environment);
      const rule = { family: 4, priority: 77, table: 1000, from: '10.1.0.0/16', invert: true } as const;
      connection.request([
        addRuleRequest({ ...rule, inputLink: 'a', mark: 0x10, markMask: 0xf0 }),
        addRuleRequest({ ...rule, family: 6, from: 'fd00::/16', priority: 78, outputLink: 'a' }),
      ]);
      const ours = listRuleMessages(connection).filter((message) =>
        [77, 78].includes(decodeRule(message)!.priority),
      );
      const before = listRules(connection);
      connection.request(ours.map((message) => repeatRuleRequest(message, transfer)));
      connection.request(ours.map((message) => withdrawRuleRequest(message, onSpot)));
      const rename = (name: string | undefined): object => (name === 'a' ? { name: 'b' } : {});
      const renamed = before.map(({ inputLink, outputLink, ...rest }) => ({
        ...rest,
        ...('name' in rename(inputLink) ? { inputLink: 'b' } : {}),
        ...('name' in rename(outputLink) ? { outputLink: 'b' } : {}),
      }));
      assertContains(listRules(connection), renamed);
      assert.deepEqual(outcomes(connection, ...ours.map((message) => withdrawRuleRequest(message, onSpot))), [
        'ENOENT',
        'ENOENT',
      ]);
    },
  },
  {
    name: 'an address that is put onto a link twice is there once',
    run(environment) {
      const connection = prepare(environment);
      repeatAddresses(connection);
      repeatAddresses(connection);
      assert.equal(listAddresses(connection, { link: 11 }).length, 2);
      connection.request([deleteAddressRequest({ link: 10, address: '192.0.2.1/24' })]);
      assert.deepEqual(
        listAddresses(connection, { link: 11, family: 4 }).map(({ address }) => address),
        ['192.0.2.1/24'],
      );
    },
  },
];
