import assert from 'node:assert/strict';
import {
  addAddressRequest,
  addRouteRequest,
  addRuleRequest,
  appendRouteRequest,
  createLinkRequest,
  decodeRoute,
  deleteLinkRequest,
  deleteRouteRequest,
  deleteRuleRequest,
  listRoutes,
  listRules,
  lookUpRouteRequest,
  type NetlinkConnection,
  replaceRouteRequest,
  type Route,
  RTPROT_STATIC,
  setLinkRequest,
} from '@podwire/netlink';
import { assertContains, type Case, type Environment, outcome, outcomes } from './environment.js';
import { localPair } from './links.js';

/** `a` is up with 192.0.2.1/24 and 2001:db8::1/64. */
function prepare({ host }: Environment): NetlinkConnection {
  host.connection.request([
    createLinkRequest(localPair),
    setLinkRequest(10, { addressGenerationMode: 'none' }),
    setLinkRequest(11, { addressGenerationMode: 'none' }),
    setLinkRequest(10, { up: true }),
    setLinkRequest(11, { up: true }),
    addAddressRequest({ link: 10, address: '192.0.2.1/24' }),
    addAddressRequest({ link: 10, address: '2001:db8::1/64', flags: ['noDad'] }),
  ]);
  return host.connection;
}

/** The routes that are not the kernel's own, the more specific of the options left out. */
const routes = (connection: NetlinkConnection, filter: { table?: number; link?: number } = {}): Route[] =>
  listRoutes(connection, filter)
    .filter(({ protocol }) => protocol !== 2)
    .sort((a, b) => (a.destination < b.destination ? -1 : 1));

export const routeCases: readonly Case[] = [
  {
    name: 'routes of all sorts are added and listed',
    run(environment) {
      const connection = prepare(environment);
      connection.request([
        addRouteRequest({ destination: '10.0.0.1/32', link: 11, mtu: 1400 }),
        addRouteRequest({ destination: '10.1.0.0/16', gateway: '192.0.2.254', metric: 5, protocol: 80 }),
        addRouteRequest({ destination: '10.2.0.0/16', gateway: '203.0.113.1', link: 11, onlink: true }),
        addRouteRequest({ destination: '10.3.0.0/26', type: 'blackhole' }),
        addRouteRequest({ destination: '10.4.0.0/26', type: 'unreachable', table: 1000 }),
        addRouteRequest({
          destination: '10.5.0.0/16',
          link: 10,
          preferredSource: '192.0.2.1',
          scope: 'global',
        }),
        addRouteRequest({ destination: '10.6.0.0/16', gateway: 'fe80::99', link: 11, onlink: true }),
        addRouteRequest({ destination: '0.0.0.0/0', gateway: '192.0.2.254' }),
      ]);
      const common = { family: 4, table: 254, protocol: RTPROT_STATIC, type: 'unicast' };
      assert.deepEqual(routes(connection), [
        { ...common, destination: '0.0.0.0/0', scope: 'global', link: 10, gateway: '192.0.2.254' },
        { ...common, destination: '10.0.0.1/32', scope: 'link', link: 11, mtu: 1400 },
        {
          ...common,
          destination: '10.1.0.0/16',
          scope: 'global',
          link: 10,
          gateway: '192.0.2.254',
          metric: 5,
          protocol: 80,
        },
        {
          ...common,
          destination: '10.2.0.0/16',
          scope: 'global',
          link: 11,
          gateway: '203.0.113.1',
          onlink: true,
        },
        { ...common, destination: '10.3.0.0/26', scope: 'global', type: 'blackhole' },
        { ...common, destination: '10.4.0.0/26', scope: 'global', type: 'unreachable', table: 1000 },
        { ...common, destination: '10.5.0.0/16', scope: 'global', link: 10, preferredSource: '192.0.2.1' },
        {
          ...common,
          destination: '10.6.0.0/16',
          scope: 'global',
          link: 11,
          gateway: 'fe80::99',
          onlink: true,
        },
      ]);
    },
  },
  {
    name: 'IPv6 routes of all sorts are added and listed',
    run(environment) {
      const connection = prepare(environment);
      connection.request([
        addRouteRequest({ destination: '2001:db8:1::1/128', link: 11 }),
        addRouteRequest({ destination: '2001:db8:2::/64', gateway: '2001:db8::9', metric: 5, mtu: 1300 }),
        addRouteRequest({ destination: '2001:db8:3::/64', gateway: 'fe80::9', link: 11 }),
        addRouteRequest({ destination: '2001:db8:4::/122', type: 'blackhole' }),
        addRouteRequest({ destination: '::/0', gateway: 'fe80::1', link: 10 }),
      ]);
      const common = { family: 6, table: 254, protocol: RTPROT_STATIC, type: 'unicast', scope: 'global' };
      assert.deepEqual(routes(connection), [
        { ...common, destination: '2001:db8:1::1/128', link: 11, metric: 1024 },
        { ...common, destination: '2001:db8:2::/64', link: 10, gateway: '2001:db8::9', metric: 5, mtu: 1300 },
        { ...common, destination: '2001:db8:3::/64', link: 11, gateway: 'fe80::9', metric: 1024 },
        { ...common, destination: '2001:db8:4::/122', type: 'blackhole', link: 1, metric: 1024 },
        { ...common, destination: '::/0', link: 10, gateway: 'fe80::1', metric: 1024 },
      ]);
    },
  },
  {
    name: 'Calico’s wiring: a gateway that only a link route makes reachable',
    run({ host, pod }) {
      const peer = { name: 'eth0', index: 2, namespace: pod.fd };
      host.connection.request([createLinkRequest({ kind: 'veth', name: 'c', index: 10, up: true, peer })]);
      pod.connection.request([setLinkRequest(2, { up: true })]);
      const gateway = addRouteRequest({ destination: '0.0.0.0/0', gateway: '169.254.1.1', link: 2 });
      assert.deepEqual(
        outcomes(
          pod.connection,
          addAddressRequest({ link: 2, address: '10.244.0.5/32' }),
          gateway,
          addRouteRequest({ destination: '169.254.1.1/32', link: 2 }),
          gateway,
        ),
        ['ok', 'ENETUNREACH', 'ok', 'ok'],
      );
    },
  },
  {
    name: 'gateways that cannot be reached are refused',
    run(environment) {
      const connection = prepare(environment);
      const to = (destination: string, gateway: string, link?: number) =>
        addRouteRequest({ destination, gateway, ...(link === undefined ? {} : { link }) });
      assert.deepEqual(
        outcomes(
          connection,
          to('10.0.0.0/8', '203.0.113.1'),
          to('10.0.0.0/8', '203.0.113.1', 10),
          to('10.0.0.0/8', '192.0.2.9', 11),
          to('10.0.0.0/8', '192.0.2.9', 999),
          addRouteRequest({ destination: '10.0.0.0/8', gateway: '203.0.113.1', onlink: true }),
          to('2001:db8:1::/64', '2001:db8:9::1'),
          to('2001:db8:1::/64', 'fe80::1'),
          to('2001:db8:1::/64', '2001:db8::1'),
          to('2001:db8:1::/64', 'fe80::1', 999),
        ),
        [
          'ENETUNREACH',
          'ENETUNREACH',
          'ENETUNREACH',
          'ENETUNREACH',
          'ENODEV',
          'EHOSTUNREACH',
          'EINVAL',
          'EINVAL',
          'ENODEV',
        ],
      );
      assert.deepEqual(routes(connection), []);
    },
  },
  {
    name: 'routes whose next hop cannot be reached are refused',
    run(environment) {
      const connection = prepare(environment);
      connection.request([createLinkRequest({ kind: 'ifb', name: 'down', index: 30 })]);
      assert.deepEqual(
        outcomes(
          connection,
          addRouteRequest({ destination: '10.0.0.0/8' }),
          addRouteRequest({ destination: '10.0.0.0/8', link: 999 }),
          addRouteRequest({ destination: '10.0.0.0/8', link: 30 }),
          addRouteRequest({ destination: '2001:db8:1::/64', link: 30 }),
          addRouteRequest({ destination: '10.0.0.0/8', type: 'blackhole', link: 10 }),
        ),
        ['ENODEV', 'ENODEV', 'ENETDOWN', 'ENETDOWN', 'EINVAL'],
      );
    },
  },
  {
    name: 'a destination and metric is there once, until it is replaced',
    run(environment) {
      const connection = prepare(environment);
      const route = { destination: '10.1.0.0/16', gateway: '192.0.2.7' };
      const route6 = { destination: '2001:db8:1::/64', gateway: '2001:db8::7' };
      connection.request([addRouteRequest(route), addRouteRequest(route6)]);
      assert.deepEqual(
        outcomes(
          connection,
          addRouteRequest({ ...route, gateway: '192.0.2.8' }),
          addRouteRequest({ ...route6, gateway: '2001:db8::8' }),
          addRouteRequest({ ...route, metric: 7 }),
          addRouteRequest({ ...route, table: 77 }),
          replaceRouteRequest({ ...route, gateway: '192.0.2.9' }),
          replaceRouteRequest({ ...route6, gateway: '2001:db8::9' }),
          replaceRouteRequest({ destination: '10.9.0.0/16', link: 11 }),
        ),
        ['EEXIST', 'EEXIST', 'ok', 'ok', 'ok', 'ok', 'ok'],
      );
      const gateways = (destination: string) =>
        routes(connection, { table: 254 })
          .filter((entry) => entry.destination === destination)
          .map(({ gateway }) => gateway)
          .sort();
      assert.deepEqual(gateways('10.1.0.0/16'), ['192.0.2.7', '192.0.2.9']);
      assert.deepEqual(gateways('2001:db8:1::/64'), ['2001:db8::9']);
    },
  },
  {
    name: 'several next hops',
    run(environment) {
      const connection = prepare(environment);
      connection.request([
        addRouteRequest({
          destination: '10.1.0.0/16',
          nextHops: [{ gateway: '192.0.2.3' }, { gateway: '192.0.2.4', weight: 3 }],
        }),
        addRouteRequest({ destination: '2001:db8:1::/64', gateway: '2001:db8::3' }),
        appendRouteRequest({ destination: '2001:db8:1::/64', gateway: '2001:db8::4' }),
      ]);
      const [first, second] = routes(connection);
      assert.deepEqual(first?.nextHops, [
        { link: 10, gateway: '192.0.2.3', weight: 1 },
        { link: 10, gateway: '192.0.2.4', weight: 3 },
      ]);
      assert.deepEqual(second?.nextHops?.map(({ gateway }) => gateway).sort(), [
        '2001:db8::3',
        '2001:db8::4',
      ]);
      assert.deepEqual([first?.gateway, second?.gateway], [undefined, undefined]);
    },
  },
  {
    name: 'a route is deleted by what is given',
    run(environment) {
      const connection = prepare(environment);
      const destination = '10.1.0.0/16';
      connection.request([
        addRouteRequest({ destination, gateway: '192.0.2.7', metric: 5 }),
        addRouteRequest({ destination, gateway: '192.0.2.8', metric: 6 }),
        addRouteRequest({ destination: '10.2.0.0/16', type: 'blackhole' }),
        addRouteRequest({ destination: '2001:db8:1::/64', link: 10 }),
      ]);
      assert.deepEqual(
        outcomes(
          connection,
          deleteRouteRequest({ destination: '10.99.0.0/16' }),
          deleteRouteRequest({ destination, gateway: '192.0.2.9' }),
          deleteRouteRequest({ destination, metric: 7 }),
          deleteRouteRequest({ destination, link: 11 }),
          deleteRouteRequest({ destination, protocol: 99 }),
          deleteRouteRequest({ destination, table: 777 }),
          deleteRouteRequest({ destination: '10.2.0.0/16', type: 'throw' }),
          deleteRouteRequest({ destination: '2001:db8:1::/64', metric: 5 }),
          deleteRouteRequest({ destination: '2001:db8:1::/64', table: 777 }),
        ),
        Array.from({ length: 9 }, () => 'ESRCH'),
      );
      assert.deepEqual(
        outcomes(
          connection,
          deleteRouteRequest({ destination, metric: 6 }),
          deleteRouteRequest({ destination }),
          deleteRouteRequest({ destination: '10.2.0.0/16', type: 'blackhole' }),
          deleteRouteRequest({ destination: '2001:db8:1::/64', link: 10 }),
          deleteRouteRequest({ destination }),
        ),
        ['ok', 'ok', 'ok', 'ok', 'ESRCH'],
      );
      assert.deepEqual(routes(connection), []);
    },
  },
  {
    name: 'routes are listed by table, link, protocol and type',
    run(environment) {
      const connection = prepare(environment);
      connection.request([
        addRouteRequest({ destination: '10.1.0.0/16', link: 10, table: 100 }),
        addRouteRequest({ destination: '10.2.0.0/16', link: 11, protocol: 80 }),
        addRouteRequest({ destination: '10.3.0.0/16', type: 'blackhole' }),
        addRouteRequest({ destination: '2001:db8:1::/64', link: 11 }),
      ]);
      const destinations = (filter: Parameters<typeof listRoutes>[1]) =>
        listRoutes(connection, filter).map(({ destination }) => destination);
      assert.deepEqual(destinations({ table: 100 }), ['10.1.0.0/16']);
      assert.deepEqual(destinations({ protocol: 80 }), ['10.2.0.0/16']);
      assert.deepEqual(destinations({ type: 'blackhole' }), ['10.3.0.0/16']);
      assert.deepEqual(destinations({ link: 11, table: 254 }), ['10.2.0.0/16', '2001:db8:1::/64']);
      assert.deepEqual(destinations({ link: 11, family: 6, table: 254 }), ['2001:db8:1::/64']);
      assert.deepEqual([destinations({ table: 4711 }), destinations({ link: 999 })], [[], []]);
    },
  },
  {
    name: 'routes vanish with their link, and when it goes down',
    run(environment) {
      const connection = prepare(environment);
      connection.request([
        createLinkRequest({ kind: 'ifb', name: 'i0', index: 30, up: true }),
        addRouteRequest({ destination: '10.1.0.0/16', gateway: '192.0.2.9' }),
        addRouteRequest({ destination: '10.2.0.0/16', link: 30 }),
        addRouteRequest({ destination: '2001:db8:1::/64', link: 30 }),
        addRouteRequest({ destination: '10.3.0.0/16', type: 'blackhole' }),
      ]);
      const destinations = () => routes(connection).map(({ destination }) => destination);
      connection.request([setLinkRequest(10, { up: false })]);
      assert.deepEqual(destinations(), ['10.2.0.0/16', '10.3.0.0/16', '2001:db8:1::/64']);
      connection.request([deleteLinkRequest(30)]);
      assert.deepEqual(destinations(), ['10.3.0.0/16']);
    },
  },
  {
    name: 'the route of a packet is looked up',
    run(environment) {
      const connection = prepare(environment);
      connection.request([
        addRouteRequest({ destination: '10.0.0.0/8', gateway: '192.0.2.9' }),
        addRouteRequest({ destination: '10.1.0.0/16', link: 11 }),
        addRouteRequest({ destination: '10.9.0.0/16', link: 11, table: 100 }),
        addRuleRequest({ family: 4, priority: 100, mark: 7, table: 100 }),
      ]);
      const routeOf = (destination: string, options?: { mark: number }) => {
        const [replies] = connection.request([lookUpRouteRequest(destination, options)]);
        const route = decodeRoute(replies![0]!);
        return `${route?.link} ${route?.gateway}`;
      };
      assert.equal(routeOf('10.1.2.3'), '11 undefined');
      assert.equal(routeOf('10.9.2.3'), '10 192.0.2.9');
      assert.equal(routeOf('10.9.2.3', { mark: 7 }), '11 undefined');
      assert.equal(outcome(connection, lookUpRouteRequest('11.0.0.1')), 'ENETUNREACH');
    },
  },
  {
    name: 'rules are added, listed and deleted',
    run({ host: { connection } }) {
      const defaults = listRules(connection).length;
      const byMark = { family: 4, priority: 100, mark: 0x10, markMask: 0xf0, table: 100 } as const;
      const bySource = {
        family: 4,
        priority: 101,
        from: '10.0.0.0/8',
        to: '192.0.2.1/32',
        table: 1000,
      } as const;
      const from6 = {
        family: 6,
        priority: 102,
        from: '2001:db8::/32',
        inputLink: 'eth9',
        table: 100,
      } as const;
      const refuse = { family: 4, priority: 103, action: 'unreachable', invert: true, mark: 1 } as const;
      const suppress = { family: 4, priority: 104, table: 254, suppressPrefixLength: 0 } as const;
      connection.request([byMark, bySource, from6, refuse, suppress].map(addRuleRequest));
      const added = listRules(connection).filter(({ priority }) => priority >= 100 && priority < 200);
      assertContains(added, [byMark, bySource, refuse, suppress, from6]);
      assert.deepEqual(
        outcomes(
          connection,
          addRuleRequest(byMark),
          deleteRuleRequest({ ...byMark, table: 99 }),
          deleteRuleRequest({ family: 6, priority: 100 }),
          ...[byMark, bySource, from6, refuse, suppress].map(deleteRuleRequest),
          deleteRuleRequest(byMark),
        ),
        ['EEXIST', 'ENOENT', 'ENOENT', 'ok', 'ok', 'ok', 'ok', 'ok', 'ENOENT'],
      );
      assert.equal(listRules(connection).length, defaults);
    },
  },
];
