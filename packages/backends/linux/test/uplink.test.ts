import { createEngine, type Owned } from '@podwire/engine';
import {
  addAddressRequest,
  addRouteRequest,
  createLinkRequest,
  listAddresses,
  listLinks,
  listRoutes,
  type NetlinkRequest,
} from '@podwire/netlink';
import { beforeEach, expect, test, vi } from 'vitest';
import { createFakeSystem, type FakeSystem } from '../src/fake/index.js';
import { createUplinkBackend } from '../src/index.js';
import { call } from './call.js';

const owned: Owned = {
  owner: 'ovn-provider/net1',
  resources: [{ kind: 'uplink-moved', in: 'host', from: 'eth1', to: 'br-net1' }],
};

let system: FakeSystem;

beforeEach(() => {
  system = createFakeSystem();
  system.host.route.request([
    createLinkRequest({ kind: 'bridge', name: 'eth1', index: 10, up: true }),
    createLinkRequest({ kind: 'bridge', name: 'br-net1', index: 11, up: true }),
    addAddressRequest({ link: 10, address: '192.0.2.10/24' }),
    addAddressRequest({ link: 10, address: '192.0.2.11/24' }),
    addAddressRequest({ link: 10, address: '2001:db8::10/64' }),
    addRouteRequest({ destination: '0.0.0.0/0', gateway: '192.0.2.1', preferredSource: '192.0.2.11' }),
    addRouteRequest({ destination: '::/0', gateway: '2001:db8::1', metric: 300 }),
  ]);
});

const open = () => createEngine({ backends: [createUplinkBackend(system)] });

/** RTM_DELADDR, RTM_DELROUTE. */
const deletions: readonly number[] = [21, 25];

/** Everything on a link, link-local addresses and the kernel's own routes left out. */
const on = (link: number) => ({
  addresses: listAddresses(system.host.route, { link })
    .filter(({ scope }) => scope !== 'link')
    .map(({ address }) => address),
  routes: listRoutes(system.host.route, { link })
    .filter(({ protocol }) => protocol !== 2)
    .map(({ destination }) => destination),
});

test('everything moves in one request, and nothing goes before all has come', async () => {
  const [before, request] = [on(10), vi.spyOn(system.host.route, 'request')];
  await open().apply(owned, call());
  const changes = request.mock.calls.map(([requests]) => requests).filter(({ length }) => length > 1);
  expect(changes).toHaveLength(1);
  const goes = changes.flat().map(({ type }: NetlinkRequest) => deletions.includes(type));
  expect(goes.indexOf(true)).toBeGreaterThan(goes.filter((one) => !one).length - 2);
  expect([on(10), on(11)]).toEqual([{ addresses: [], routes: [] }, before]);
});

test('a request that the kernel refuses brings everything back, whichever it is', async () => {
  const before = on(10);
  const used = system.netlink.requests.length;
  await open().apply(owned, call());
  const requests = system.netlink.requests.slice(used);
  await open().remove(owned, call());
  expect(on(10)).toEqual(before);
  for (const nth of requests.keys()) {
    system.netlink.failRequest(nth + 1, { code: 'EPERM' });
    await expect(open().apply(owned, call())).rejects.toThrow(/EPERM/);
    expect([nth, on(10), on(11).addresses]).toEqual([nth, before, []]);
  }
});

test('a bridge that has the role of another uplink is left alone', async () => {
  await open().apply(owned, call());
  const before = on(11);
  const other: Owned = {
    owner: 'ovn-provider/net2',
    resources: [{ kind: 'uplink-moved', in: 'host', from: 'eth2', to: 'br-net1' }],
  };
  await open().remove(other, call());
  expect(on(11)).toEqual(before);
  expect(listLinks(system.host.route).map(({ alias }) => alias)).toContain('podwire uplink eth1');
});
