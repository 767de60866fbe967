/** The gateway of a node with real packets. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { planGateway, planGatewayPod } from '@podwire/network-ovn';
import { planForwardAccept } from '@podwire/network-traffic';
import { assertBlocked, untilSameSnapshot, worldAddresses } from '@podwire/testkit';
import { openConnection, say } from './connections.js';
import { egress, node, podOf, subnetOf } from './facts.js';
import {
  chainOf,
  createGatewayWorld,
  farAway,
  type GatewayWorld,
  joinEnd,
  secondAddress,
  sourceSeen,
  withRules,
} from './gateway-world.js';

const call = () => ({ signal: AbortSignal.timeout(30_000) });

const here = { node: 'node1' };
const named = [secondAddress[4], secondAddress[6]].map((address) => ({ ...here, address }));
const subnets = [
  subnetOf(16, 'nat'),
  subnetOf(17),
  subnetOf(18, 'nat', [here]),
  subnetOf(19, 'nat', [{ node: 'node2' }]),
  subnetOf(20, 'nat', named),
  subnetOf(21, egress),
];
const pods = [podOf(16), podOf(17), podOf(18), podOf(19), podOf(20)];

const families = [4, 6] as const;
type Family = (typeof families)[number];
const of = <T>(family: Family, { ipv4, ipv6 }: { readonly ipv4: T; readonly ipv6: T }): T =>
  family === 4 ? ipv4 : ipv6;
const pod = (family: Family, number: number): string => podOf(number).addresses[family === 4 ? 0 : 1];
/** The second pod of the subnet, which no plan has. */
const unplanned = (family: Family, number: number): string => pod(family, number).replace(/5$/, '6');
const nodeAddress = (family: Family): string => of(family, worldAddresses.host);
const beyond = (family: Family): string => of(family, worldAddresses.beyond);
const ip = (family: Family): string => (family === 4 ? 'ip' : 'ip6');

suite('the gateway of a node', () => {
  let net: GatewayWorld;

  before(async () => {
    net = await createGatewayWorld();
    const resources = planGateway(node, subnets, pods);
    await net.engine.apply({ owner: 'gateway', resources }, call());
    assert.deepEqual(await net.engine.verify({ owner: 'gateway', resources }, call()), []);
  });
  after(async () => net?.close());

  const seenOutside = async (family: Family, source: string): Promise<string> =>
    sourceSeen({ from: net.a, source, to: net.world, address: beyond(family) });
  const seenByPlain = async (family: Family, source: string, asked?: string): Promise<string> =>
    sourceSeen({
      ...{ from: net.a, source, to: net.b, address: pod(family, 17) },
      ...(asked === undefined ? {} : { asked }),
    });

  for (const family of families)
    suite(`with IPv${family}`, () => {
      test('pods leave with the address that their subnet says', async () => {
        const expected = {
          16: nodeAddress(family),
          18: nodeAddress(family),
          19: pod(family, 19),
          20: secondAddress[family],
        };
        for (const [number, address] of Object.entries(expected))
          assert.equal(await seenOutside(family, pod(family, Number(number))), address, `10.${number}`);
        const plain = { from: net.b, source: pod(family, 17), to: net.world, address: beyond(family) };
        assert.equal(await sourceSeen(plain), pod(family, 17));
      });

      test('pods keep their addresses among each other, and towards the node', async () => {
        for (const number of [16, 18, 20])
          assert.equal(await seenByPlain(family, pod(family, number)), pod(family, number));
        const own = { from: net.a, source: pod(family, 16), to: net.host, address: nodeAddress(family) };
        assert.equal(await sourceSeen(own), pod(family, 16));
      });

      test('the node speaks to pods with its end of join', async () => {
        const question = { from: net.host, to: net.a, address: pod(family, 16) };
        assert.equal(await sourceSeen(question), joinEnd[family]);
      });

      test('a foreign sender that is routed to pods of a translated subnet is left as it is', async () => {
        for (const number of [16, 18]) {
          const question = {
            from: net.world,
            source: beyond(family),
            to: net.a,
            address: pod(family, number),
          };
          assert.equal(await sourceSeen(question), beyond(family));
        }
      });

      test('a service outside sees the node, also from a subnet that is not translated', async () => {
        const service = of(family, { ipv4: '10.96.0.10', ipv6: 'fd00:10:96::10' });
        await withRules(net.host, translate(family, service, beyond(family)), async () => {
          const { b: from, world: to } = net;
          const question = { from, source: pod(family, 17), to, address: beyond(family), asked: service };
          assert.equal(await sourceSeen(question), nodeAddress(family));
        });
      });

      test('a pod behind a port of the node sees the node in place of another pod', async () => {
        await withRules(net.host, translate(family, nodeAddress(family), pod(family, 17)), async () => {
          const seen = await seenByPlain(family, pod(family, 16), nodeAddress(family));
          assert.equal(seen, joinEnd[family]);
        });
      });

      test('a pod sees the address of the node in place of that of a service', async () => {
        const source = of(family, { ipv4: '10.96.0.11', ipv6: 'fd00:10:96::11' });
        await net.host.ip(`addr add ${source}/${family === 4 ? 32 : 128} dev lo`);
        const question = { from: net.host, source, to: net.b, address: pod(family, 17) };
        assert.equal(await sourceSeen(question), nodeAddress(family));
        await net.host.ip(`addr del ${source}/${family === 4 ? 32 : 128} dev lo`);
      });

      test('the mark of kube-proxy masquerades, except around a tunnel', async () => {
        const marks = chainOf('output', -200, 'meta l4proto udp meta mark set 0x4001');
        const left = chainOf(
          'postrouting',
          300,
          'meta mark & 0x1 != 0 counter; meta mark & 0x4000 != 0 counter',
        );
        await withRules(net.host, `${marks}\n${left}`, async (list) => {
          assert.equal(await seenFromSecond(family, 0), nodeAddress(family));
          for (const port of [6081, 4789])
            assert.equal(await seenFromSecond(family, port), secondAddress[family]);
          const [ofOthers, ofProxy] = countersIn(await list());
          assert.ok(ofOthers! >= 3, 'marks of others were cleared');
          assert.equal(ofProxy, 0);
        });
      });

      test('an answer to a connection that came by another way keeps the address of the pod', async () => {
        const connection = await openConnection([net.world, beyond(family)], [net.a, pod(family, 16)]);
        await net.host.run(['conntrack', '-F']);
        say(connection.server, 'hello');
        await connection.client.waitForOutput(/hello/);
        await connection.close();
      });

      test('a reset of a connection that the node has forgotten does not leave', async () => {
        const source = pod(family, 16);
        const resets = `${ip(family)} saddr ${source} tcp flags & rst == rst counter`;
        await withRules(net.world, chainOf('input', 0, resets), async (list) => {
          const connection = await openConnection([net.a, source], [net.world, beyond(family)]);
          await net.host.run(['conntrack', '-F']);
          say(connection.client, 'reset');
          await connection.client.exited;
          // Behind the reset in the same queues.
          await seenOutside(family, source);
          assert.deepEqual(countersIn(await list()), [0]);
          await connection.close();
        });
      });

      test('segments fit the tunnel', async () => {
        const size = of(family, { ipv4: 1360, ipv6: 1340 });
        const fitting = `${ip(family)} daddr ${beyond(family)} tcp option maxseg size ${size} counter`;
        await withRules(net.world, chainOf('input', 0, fitting), async (list) => {
          const question = { from: net.a, source: pod(family, 16), to: net.world, address: beyond(family) };
          await sourceSeen({ ...question, protocol: 'tcp' });
          assert.deepEqual(countersIn(await list()), [1]);
        });
      });

      test('a pod that comes and goes changes its translation, and no chain', async () => {
        const source = unplanned(family, 16);
        const resources = planGatewayPod({ subnet: 's16', addresses: [source] }, subnets[0]!);
        assert.equal(resources.length, 1);
        const chains = await listChains();
        assert.equal(await seenOutside(family, source), source);
        await net.engine.apply({ owner: 'pod', resources }, call());
        assert.equal(await seenOutside(family, source), nodeAddress(family));
        await net.engine.remove({ owner: 'pod', resources }, call());
        assert.equal(await seenOutside(family, source), source);
        assert.equal(await seenOutside(family, pod(family, 16)), nodeAddress(family));
        assert.equal(await listChains(), chains);
      });

      test('a pod goes to its gateway outside with its own address, and only while it is there', async () => {
        const source = pod(family, 21);
        const attempt = { source, sendMarker: async () => void (await seenOutside(family, source)) };
        const assertCutOff = async (): Promise<void> =>
          assertBlocked(net.a, net.world, farAway[family], [], attempt);
        await assertCutOff();
        const resources = planGatewayPod({ subnet: 's21', addresses: [source] }, subnets[5]!);
        await net.engine.apply({ owner: 'pod', resources }, call());
        const question = { from: net.a, source, to: net.world, address: farAway[family] };
        assert.equal(await sourceSeen(question), source);
        await net.engine.remove({ owner: 'pod', resources }, call());
        await assertCutOff();
      });

      test('pods pass a firewall that drops what it forwards', async () => {
        const resources = planForwardAccept(['ovn0']).filter((one) => one.family === ip(family));
        const program = family === 4 ? 'iptables' : 'ip6tables';
        await net.host.run([program, '-w', '-P', 'FORWARD', 'DROP']);
        await assertBlocked(net.a, net.world, beyond(family), wayOut(family), { source: pod(family, 16) });
        await net.engine.apply({ owner: 'firewall', resources }, call());
        assert.equal(await seenOutside(family, pod(family, 16)), nodeAddress(family));
        await net.engine.remove({ owner: 'firewall', resources }, call());
        await net.host.run(['nft', 'delete', 'table', ip(family), 'filter']);
      });
    });

  /** Sends all of the protocol to a pod or server in place of the node or a service, as kube-proxy does. */
  const translate = (family: Family, from: string, to: string): string =>
    chainOf(
      'prerouting',
      -100,
      `meta l4proto udp ${ip(family)} daddr ${from} dnat ${ip(family)} to ${to}`,
      'nat',
    );

  const countersIn = (listing: string): number[] =>
    [...listing.matchAll(/packets (\d+)/g)].map(([, count]) => Number(count));

  const wayOut = (family: Family) => [
    { namespace: net.router, address: of(family, { ipv4: '10.99.1.1', ipv6: 'fd00:99:1::1' }) },
    { namespace: net.host, address: joinEnd[family] },
  ];

  /** The source of a datagram that the node sends from its second address to the port. */
  const seenFromSecond = async (family: Family, port: number): Promise<string> =>
    sourceSeen({
      ...{ from: net.host, source: secondAddress[family], to: net.world, address: beyond(family), port },
    });

  /** With handles, so that a rule that was made anew is seen, and without elements. */
  const listChains = async (): Promise<string> =>
    (await net.host.run(['nft', '-a', 'list', 'table', 'inet', 'podwire_ovn'])).replace(
      /elements = \{[^}]*\}/g,
      '',
    );
});

test('a gateway that goes leaves nothing behind', async () => {
  const net = await createGatewayWorld();
  try {
    const before = await net.takeSnapshot();
    const owned = { owner: 'gateway', resources: planGateway(node, subnets, [...pods, podOf(21)]) };
    await net.engine.apply(owned, call());
    assert.deepEqual(await net.engine.reconcile([owned], call()), []);
    await net.engine.remove(owned, call());
    await untilSameSnapshot(before, async () => net.takeSnapshot());
  } finally {
    await net.close();
  }
});
