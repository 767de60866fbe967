/** The engine's handling of tunnels and peers, on either kernel: run by tunnels.test.ts and tunnels.ns.test.ts. */
import { createLinuxBackends, type Kernel } from '../src/index.js';
import { createEngine, type Engine, type Owned, type Resource } from '@podwire/engine';
import assert from 'node:assert/strict';
import {
  addAddressRequest,
  addForwardingEntryRequest,
  addNeighbourRequest,
  addRouteRequest,
  createLinkRequest,
  decodeLink,
  deleteForwardingEntryRequest,
  getLinkRequest,
  type Link,
  listAddresses,
  listForwardingEntries,
  listLinks,
  listNeighbours,
  listRoutes,
  type NetlinkConnection,
  setLinkRequest,
} from '@podwire/netlink';
import { call } from './call.js';
import { peerOf, peerTable, tunnel, tunnelResources } from './tunnel-resources.js';

export interface Bench {
  readonly kernel: Kernel;
  readonly engine: Engine;
  readonly route: NetlinkConnection;
}

export interface TunnelCase {
  readonly name: string;
  readonly run: (bench: Bench) => Promise<void>;
}

export const nodeOf = (changes: Partial<typeof tunnel> = {}): Owned => ({
  owner: 'node',
  resources: [...tunnelResources(changes), peerTable],
});

/** The link that tunnels leave by. */
export function makeUnderlay(route: NetlinkConnection): void {
  route.request([
    createLinkRequest({ kind: 'ifb', name: 'eth0', up: true }),
    setLinkRequest('eth0', { addressGenerationMode: 'none' }),
  ]);
  route.request([addAddressRequest({ link: indexOf(route, 'eth0'), address: '192.0.2.1/24' })]);
}

const find = (route: NetlinkConnection, name: string): Link =>
  decodeLink(route.request([getLinkRequest(name)]).flat()[0]!);
const indexOf = (route: NetlinkConnection, name: string): number => find(route, name).index;

/** Everything that leads to peers, in words. */
function picture({ route, kernel }: Bench): string[] {
  const [device] = listLinks(route).filter(({ name }) => name === tunnel.name);
  if (device === undefined) return [];
  const link = device.index;
  return [
    ...listForwardingEntries(route, { link }).map(({ mac, remote }) => `fdb ${mac} ${remote}`),
    ...listNeighbours(route, { link })
      .filter(({ state }) => state === 'permanent')
      .map(({ address }) => `neighbour ${address}`),
    ...listAddresses(route, { link }).map(({ address }) => `address ${address}`),
    ...listRoutes(route, { link, protocol: 157 }).map(
      ({ destination, gateway, onlink }) => `route ${destination} ${gateway} ${onlink}`,
    ),
    ...kernel.nftables.listElements('inet', 'podwire', 'peers').map(({ key }) => `peer ${key[0]!.value}`),
  ].sort();
}

const failures = (changes: Awaited<ReturnType<Engine['reconcile']>>) =>
  changes.filter(({ action }) => action === 'failed');

export const tunnelCases: readonly TunnelCase[] = [
  {
    name: 'peers come, are found in place, and go without a trace',
    async run(bench) {
      const { engine } = bench;
      await engine.apply(nodeOf(), call());
      const alone = picture(bench);
      await engine.apply(peerOf(2), call());
      await engine.apply(peerOf(3), call());
      assert.deepEqual(await engine.verify(peerOf(2), call()), []);
      assert.deepEqual(await engine.verify(nodeOf(), call()), []);
      assert.equal(picture(bench).length, alone.length + 2 * peerOf(2).resources.length);
      assert.deepEqual(await engine.reconcile([nodeOf(), peerOf(2), peerOf(3)], call()), []);
      await engine.remove(peerOf(2), call());
      await engine.remove(peerOf(3), call());
      assert.deepEqual(picture(bench), alone);
    },
  },
  {
    name: 'a reconcile brings everything up from nothing, and again after everything is lost',
    async run(bench) {
      const all = [nodeOf(), ...[2, 3, 4].map((n) => peerOf(n))];
      assert.deepEqual(failures(await bench.engine.reconcile(all, call())), []);
      const complete = picture(bench);
      assert.equal(complete.length, 2 + 3 * peerOf(2).resources.length);
      bench.route.request([setLinkRequest(tunnel.name, { up: false })]);
      assert.deepEqual(failures(await bench.engine.reconcile(all, call())), []);
      assert.deepEqual(picture(bench), complete);
      bench.kernel.nftables.deleteTable('inet', 'podwire');
      assert.deepEqual(failures(await bench.engine.reconcile(all, call())), []);
      assert.deepEqual(picture(bench), complete);
      assert.deepEqual(await bench.engine.reconcile(all, call()), []);
    },
  },
  {
    name: 'the last IPv4 address of a tunnel goes alone, and other addresses stay',
    async run(bench) {
      const { route, engine } = bench;
      await engine.reconcile([nodeOf(), peerOf(2), peerOf(3)], call());
      const link = indexOf(route, tunnel.name);
      // A foreign route through it stays too.
      route.request([addRouteRequest({ destination: '203.0.113.0/24', link, metric: 5 })]);
      const foreign = (): number => listRoutes(route, { link, protocol: 4 }).length;
      const complete = picture(bench);
      const isAddress = ({ kind }: Resource): boolean => kind === 'address';
      const addresses = nodeOf().resources.filter(isAddress);
      await engine.remove({ owner: 'node', resources: addresses }, call());
      const others = complete.filter((line) => !line.startsWith('address '));
      assert.deepEqual(picture(bench), others);
      assert.equal(foreign(), 1);

      // The same when it is a reconcile that takes it away.
      await engine.apply({ owner: 'node', resources: addresses }, call());
      assert.deepEqual(picture(bench), complete);
      const node = { ...nodeOf(), resources: nodeOf().resources.filter((one) => !isAddress(one)) };
      assert.deepEqual(failures(await engine.reconcile([node, peerOf(2), peerOf(3)], call())), []);
      assert.deepEqual(picture(bench), others);
      assert.equal(foreign(), 1);
    },
  },
  {
    name: 'differences of one peer are repaired, and nothing else is touched',
    async run(bench) {
      const { route, engine } = bench;
      const all = [nodeOf(), peerOf(2), peerOf(3)];
      await engine.reconcile(all, call());
      const complete = picture(bench);
      const link = indexOf(route, tunnel.name);
      route.request([
        deleteForwardingEntryRequest({ link, table: 'self', mac: '66:00:00:00:00:02' }),
        addForwardingEntryRequest({ link, table: 'self', mac: '66:00:00:00:00:02', remote: '192.0.2.99' }),
      ]);
      const changes = await engine.reconcile(all, call());
      assert.deepEqual(
        changes.map(({ owner, action, what }) => ({ owner, action, what })),
        [
          {
            owner: 'peer:node2',
            action: 'repaired',
            what: `forwarding entry 66:00:00:00:00:02 to 192.0.2.2 on ${tunnel.name}`,
          },
        ],
      );
      assert.deepEqual(picture(bench), complete);
    },
  },
  {
    name: 'what no plan wants of the tunnel is pruned, and foreign things elsewhere stay',
    async run(bench) {
      const { route, engine } = bench;
      await engine.reconcile([nodeOf(), peerOf(2)], call());
      const wanted = picture(bench);
      const link = indexOf(route, tunnel.name);
      const eth0 = indexOf(route, 'eth0');
      await engine.apply(peerOf(7), call());
      route.request([
        addAddressRequest({ link, address: '10.9.0.60/32' }),
        addNeighbourRequest({ link, address: '10.9.9.0', mac: '66:00:00:00:00:09' }),
        addForwardingEntryRequest({ link, table: 'self', mac: '66:00:00:00:00:09', remote: '192.0.2.9' }),
        addNeighbourRequest({ link: eth0, address: '192.0.2.50', mac: '02:00:00:00:00:50' }),
        addRouteRequest({ destination: '10.9.9.0/26', gateway: '10.9.9.0', link, onlink: true, protocol: 4 }),
      ]);
      await engine.reconcile([nodeOf(), peerOf(2)], call());
      assert.deepEqual(picture(bench), wanted);
      const foreign = listNeighbours(route, { link: eth0 }).filter(({ state }) => state === 'permanent');
      assert.equal(foreign.length, 1);
      assert.equal(listRoutes(route, { link, protocol: 4 }).length, 1);
    },
  },
  {
    name: 'a route of ours is pruned by table and metric, not by destination alone',
    async run({ route, engine }) {
      const node = nodeOf();
      await engine.reconcile([node], call());
      route.request([
        addRouteRequest({ destination: '10.9.0.0/26', type: 'blackhole', protocol: 157, metric: 7 }),
        addRouteRequest({ destination: '10.9.0.0/26', type: 'blackhole', protocol: 157, table: 1000 }),
      ]);
      const changes = await engine.reconcile([node], call());
      assert.deepEqual(
        changes.map(({ action, what }) => `${action} ${what}`),
        ['removed route 10.9.0.0/26', 'removed route 10.9.0.0/26'],
      );
      assert.equal(listRoutes(route, { protocol: 157 }).length, 1);
    },
  },
  {
    name: 'a tunnel that must be another is made anew, with all peers',
    async run(bench) {
      const peers = [peerOf(2), peerOf(3)];
      await bench.engine.reconcile([nodeOf(), ...peers], call());
      const complete = picture(bench);
      const before = find(bench.route, tunnel.name);
      const changes = await bench.engine.reconcile([nodeOf({ id: 5000 }), ...peers], call());
      assert.deepEqual(failures(changes), []);
      const after = find(bench.route, tunnel.name);
      assert.notEqual(after.index, before.index);
      assert.equal(after.settings?.kind === 'vxlan' && after.settings.id, 5000);
      assert.deepEqual(picture(bench), complete);
    },
  },
  {
    name: 'MAC and MTU are set on the tunnel that is there, and neighbours survive it',
    async run(bench) {
      const peers = [peerOf(2)];
      await bench.engine.reconcile([nodeOf(), ...peers], call());
      const complete = picture(bench);
      const before = find(bench.route, tunnel.name);
      const changed = nodeOf({ mtu: 1400, mac: '66:00:00:00:00:aa' });
      assert.deepEqual(failures(await bench.engine.reconcile([changed, ...peers], call())), []);
      const after = find(bench.route, tunnel.name);
      assert.deepEqual([after.index, after.mtu, after.mac], [before.index, 1400, '66:00:00:00:00:aa']);
      assert.deepEqual(picture(bench), complete);
    },
  },
  {
    name: 'apply makes a tunnel of ours what it must be, and leaves a foreign one alone',
    async run({ engine, route }) {
      await engine.apply(nodeOf(), call());
      for (const changes of [{ mtu: 1400 }, { id: 4097 }, { port: 8472 }]) {
        await engine.apply({ owner: 'node', resources: [{ ...tunnel, ...changes }] }, call());
        assert.deepEqual(
          await engine.verify({ owner: 'node', resources: [{ ...tunnel, ...changes }] }, call()),
          [],
        );
      }
      route.request([setLinkRequest(tunnel.name, { group: 0 })]);
      const before = find(route, tunnel.name);
      await assert.rejects(engine.apply(nodeOf(), call()), /EEXIST/);
      const changes = await engine.reconcile([nodeOf()], call());
      assert.ok(failures(changes).some(({ what }) => what.startsWith('vxlan')));
      assert.equal(find(route, tunnel.name).index, before.index);
    },
  },
  {
    name: 'a tunnel that no plan wants any more goes at once, and another can take its number',
    async run({ engine, route }) {
      await engine.reconcile([nodeOf(), peerOf(2)], call());
      await engine.reconcile([{ owner: 'node', resources: [peerTable] }], call());
      assert.ok(listLinks(route).every(({ name }) => name !== tunnel.name));
      await engine.apply(nodeOf(), call());
      await engine.remove(nodeOf(), call());
      await engine.apply(nodeOf(), call());
      assert.deepEqual(await engine.verify(nodeOf(), call()), []);
    },
  },
  {
    name: 'a peer without the tunnel is refused, and leaves nothing',
    async run(bench) {
      await bench.engine.apply({ owner: 'node', resources: [peerTable] }, call());
      await assert.rejects(bench.engine.apply(peerOf(2), call()), { code: 'KERNEL_REFUSED' });
      assert.deepEqual(bench.kernel.nftables.listElements('inet', 'podwire', 'peers'), []);
    },
  },
  {
    name: 'one peer that cannot be made keeps no other from it',
    async run(bench) {
      const broken = peerOf(2);
      const [first, ...rest] = broken.resources;
      const elsewhere = { ...first, link: 'nowhere' } as (typeof rest)[number];
      const all = [nodeOf(), { ...broken, resources: [elsewhere, ...rest] }, peerOf(3)];
      const changes = await bench.engine.reconcile(all, call());
      assert.deepEqual(
        failures(changes).map(({ owner, what }) => `${owner} ${what}`),
        ['peer:node2 forwarding entry 66:00:00:00:00:02 to 192.0.2.2 on nowhere'],
      );
      assert.deepEqual(await bench.engine.verify(peerOf(3), call()), []);
    },
  },
];

export const openBench = (kernel: Kernel): Bench => ({
  kernel,
  engine: createEngine({ backends: createLinuxBackends(kernel) }),
  route: kernel.host.route,
});
