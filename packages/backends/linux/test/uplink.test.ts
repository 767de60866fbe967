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
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createFakeSystem, type FakeSystem } from '../src/fake/index.js';
import { createUplinkBackend } from '../src/index.js';
import { call } from './call.js';

const moved = (from: string, to: string): Owned => ({
  owner: `ovn-provider/${to.slice(3)}`,
  resources: [{ kind: 'uplink-moved', in: 'host', from, to }],
});

const owned = moved('eth1', 'br-net1');

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
  await open().remove(moved('eth2', 'br-net1'), call());
  expect(on(11)).toEqual(before);
  expect(listLinks(system.host.route).map(({ alias }) => alias)).toContain('podwire uplink eth1');
});

/** A second uplink with an address, and a second bridge. */
function addSecond(): void {
  system.host.route.request([
    createLinkRequest({ kind: 'bridge', name: 'eth2', index: 12, up: true }),
    createLinkRequest({ kind: 'bridge', name: 'br-net2', index: 13, up: true }),
    addAddressRequest({ link: 12, address: '198.51.100.10/24' }),
  ]);
}

/** The contents of the four links, and the marks of all. */
const look = () => [
  ...[10, 11, 12, 13].map(on),
  ...listLinks(system.host.route).map(({ name, alias = '' }) => `${name} ${alias}`),
];

const changes: readonly { readonly what: string; readonly before: Owned[]; readonly now: Owned[] }[] = [
  { what: 'another bridge', before: [owned], now: [moved('eth1', 'br-net2')] },
  { what: 'another uplink', before: [owned], now: [moved('eth2', 'br-net1')] },
  {
    what: 'bridges that have changed places',
    before: [owned, moved('eth2', 'br-net2')],
    now: [moved('eth1', 'br-net2'), moved('eth2', 'br-net1')],
  },
];

describe.each(changes)('after a restart with $what', ({ before, now }) => {
  beforeEach(addSecond);

  /** The state that a first start would bring. The node is left as `before` has it. */
  async function lookWithout(): Promise<unknown> {
    await open().reconcile(now, call());
    const wanted = look();
    await open().reconcile([], call());
    await open().reconcile(before, call());
    return wanted;
  }

  test('the contents of each uplink are on its new bridge, and come back', async () => {
    const [untouched, wanted] = [[10, 12].map(on), await lookWithout()];
    await open().reconcile(now, call());
    expect(look()).toEqual(wanted);
    await open().reconcile([], call());
    expect([10, 12].map(on)).toEqual(untouched);
  });

  test('a process that dies before any of the requests leaves what the next one finishes, or undoes', async () => {
    const [untouched, wanted] = [[10, 12].map(on), await lookWithout()];
    const request = vi.spyOn(system.host.route, 'request');
    await open().reconcile(now, call());
    const { length } = request.mock.calls;
    request.mockRestore();
    expect(length).toBeGreaterThan(1);
    for (let nth = 0; nth < length; nth += 1) {
      await open().reconcile(before, call());
      await dieBefore(nth, now);
      await open().reconcile(now, call());
      expect([nth, look()]).toEqual([nth, wanted]);
      await open().reconcile(before, call());
      await dieBefore(nth, now);
      await open().reconcile([], call());
      expect([nth, [10, 12].map(on)]).toEqual([nth, untouched]);
    }
  });
});

/** All requests fail from the one on that the process dies before. */
async function dieBefore(nth: number, now: readonly Owned[]): Promise<void> {
  const real = system.host.route.request.bind(system.host.route);
  let count = 0;
  const request = vi.spyOn(system.host.route, 'request').mockImplementation((requests) => {
    if (count++ >= nth) throw new Error('the process is dead');
    return real(requests);
  });
  const outcome = await open().reconcile(now, call());
  request.mockRestore();
  expect(outcome.map(({ action }) => action)).toContain('failed');
}
