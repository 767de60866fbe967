/** Traffic while its way changes: the kernel counts what is lost, and what passes that must not. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type ChangeSet, createEngine, type Engine, type Owned, type Resource } from '@podwire/engine';
import {
  createPrivateHost,
  eventually,
  pings,
  type PrivateHost,
  startStream,
  type TestNamespace,
  worldAddresses,
} from '@podwire/testkit';
import { createLinuxBackends, openKernel } from '../src/index.js';
import { call } from './call.js';

const { host: node, world: first, beyond } = worldAddresses;
/** Another address of the world: another gateway to what is behind it. */
const second = { ipv4: '192.0.2.2', ipv6: '2001:db8:2::2' };
const length = { ipv4: 32, ipv6: 128 };
const families = ['ipv4', 'ipv6'] as const;

const PORT = 9;
/** Packets that meet changes in a test. */
const ENOUGH = 3_000;

let host: PrivateHost;
let world: TestNamespace;
let pod: TestNamespace;
let engine: Engine;

/** A pod, the node that forwards for it, and a world to which the node has only the routes that a test makes. */
before(async () => {
  host = await createPrivateHost({ name: 'traffic', world: { defaultRoute: false } });
  world = host.world!;
  pod = host.addPod('pod');
  await host.namespace.ip(
    `link add pod0 type veth peer name eth0 netns ${pod.name}`,
    'link set pod0 up',
    'addr add 10.9.0.1/24 dev pod0',
    'addr add fd00:9::1/64 dev pod0 nodad',
  );
  await pod.ip(
    'link set eth0 up',
    'addr add 10.9.0.2/24 dev eth0',
    'addr add fd00:9::2/64 dev eth0 nodad',
    'route add default via 10.9.0.1',
    'route add default via fd00:9::1',
  );
  await world.ip(
    `addr add ${second.ipv4}/24 dev eth0`,
    `addr add ${second.ipv6}/64 dev eth0 nodad`,
    `route add 10.9.0.0/24 via ${node.ipv4}`,
    `route add fd00:9::/64 via ${node.ipv6}`,
  );
  await host.run(['sysctl', '-q', '-w', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1']);
  engine = createEngine({ backends: createLinuxBackends(openKernel(host.namespace)) });
});
after(async () => {
  await engine?.close();
  await host?.close();
});

const change = async (set: ChangeSet): Promise<void> => engine.change({ owner: 'traffic' }, set, call());

interface Counter {
  count(): Promise<number>;
}

/** Counts the stream from zero. */
async function countAt(at: TestNamespace, hook: 'prerouting' | 'input'): Promise<Counter> {
  const chain = `chain seen { type filter hook ${hook} priority -310; udp dport ${PORT} counter; }`;
  const input = `table inet count\ndelete table inet count\ntable inet count { ${chain}; }\n`;
  await at.run(['nft', '-f', '-'], { input });
  const read = async (): Promise<string> => at.run(['nft', 'list', 'table', 'inet', 'count']);
  return { count: async () => Number(/packets (\d+)/.exec(await read())?.[1]) };
}

interface Flow {
  readonly sent: number;
  readonly arrived: Counter;
}

/** Changes the way of a stream until enough packets have met a change. */
async function streamDuring(address: string, turn: (round: number) => Promise<void>): Promise<Flow> {
  const [forwarded, arrived] = [await countAt(host.namespace, 'prerouting'), await countAt(world, 'input')];
  const stream = await startStream(pod, address, PORT);
  for (let round = 0; round % 20 !== 0 || (await forwarded.count()) < ENOUGH; round++) await turn(round);
  const sent = await stream.stop();
  await eventually('all packets are at the node', async () => (await forwarded.count()) === sent);
  return { sent, arrived };
}

/** A packet behind all others: queues keep the order. */
const sendMarker = async (address: string): Promise<void> =>
  assert.ok(await pings(pod, address), `the marker does not arrive at ${address}`);

describe('a route', () => {
  const routeTo = (family: 'ipv4' | 'ipv6', round: number): Resource => ({
    ...{ kind: 'route', in: 'host', link: 'eth0' },
    destination: `${beyond[family]}/${length[family]}`,
    gateway: (round % 2 === 0 ? first : second)[family],
  });

  for (const family of families) {
    const address = beyond[family];

    /** Neighbours are known before: only the change of the route may cost a packet. */
    const openWay = async (): Promise<void> => {
      for (const gateway of [first, second]) assert.ok(await pings(host.namespace, gateway[family]));
      await change({ replace: [routeTo(family, 0)] });
      await sendMarker(address);
    };

    const closeWay = async (): Promise<void> => {
      await change({ replace: [routeTo(family, 0)] });
      await change({ remove: [routeTo(family, 0)] });
    };

    test(`loses no packet while it is replaced, ${family}`, async () => {
      await openWay();
      const { sent, arrived } = await streamDuring(address, async (round) =>
        change({ replace: [routeTo(family, round)] }),
      );
      await eventually('all packets arrive', async () => {
        const count = await arrived.count();
        return count === sent || `${count} of ${sent}`;
      });
      assert.ok(sent >= ENOUGH);
      await closeWay();
    });

    test(`loses packets when it goes before the other one comes, ${family}`, async () => {
      await openWay();
      const { sent, arrived } = await streamDuring(address, async (round) => {
        await change({ remove: [routeTo(family, round)] });
        await change({ add: [routeTo(family, round + 1)] });
      });
      await sendMarker(address);
      const count = await arrived.count();
      assert.ok(count < sent, `all of ${sent} packets arrived`);
      await closeWay();
    });
  }
});

describe('an element of a verdict map', () => {
  const place = { family: 'inet', table: 'podwire-policy' } as const;
  const dropIn = (name: string): Resource => ({
    ...{ kind: 'nft-chain', ...place },
    chain: { name, rules: [{ statements: [{ is: 'drop' }] }] },
  });
  const policy: Owned = {
    owner: 'policy',
    resources: [
      { kind: 'nft-own-table', family: 'inet', name: 'podwire-policy' },
      { ...{ kind: 'nft-set', ...place }, set: { name: 'links', key: ['ifname'], data: 'verdict' } },
      dropIn('one'),
      dropIn('other'),
      {
        ...{ kind: 'nft-chain', ...place },
        chain: {
          name: 'forward',
          base: { type: 'filter', hook: 'forward', priority: 0 },
          rules: [{ statements: [{ is: 'vmap', fields: ['iifname'], map: 'links' }] }],
        },
      },
    ],
  };
  /** Both chains drop all of the pod; without the element everything passes. */
  const linkTo = (round: number): Resource => ({
    ...{ kind: 'nft-element', ...place, set: 'links', chain: round % 2 === 0 ? 'one' : 'other' },
    key: [{ type: 'ifname', value: 'pod0' }],
  });
  const address = beyond.ipv4;
  const route: Resource = {
    ...{ kind: 'route', in: 'host', link: 'eth0', destination: `${address}/32`, gateway: first.ipv4 },
  };

  before(async () => engine.apply({ ...policy, resources: [...policy.resources, route] }, call()));
  after(async () => engine.remove({ ...policy, resources: [...policy.resources, route] }, call()));
  beforeEach(async () => {
    await sendMarker(address);
    await change({ add: [linkTo(0)] });
  });

  /** Opens the way for the marker. */
  async function countPassed({ arrived }: Flow, last: Resource): Promise<number> {
    await change({ remove: [last] });
    await sendMarker(address);
    return arrived.count();
  }

  test('passes no forbidden packet while it is exchanged', async () => {
    let last = linkTo(0);
    const flow = await streamDuring(address, async (round) => {
      const next = linkTo(round + 1);
      await change({ remove: [last], add: [next] });
      last = next;
    });
    assert.equal(await countPassed(flow, last), 0, `of ${flow.sent} packets`);
    assert.ok(flow.sent >= ENOUGH);
  });

  test('passes packets when it goes before the other one comes', async () => {
    let last = linkTo(0);
    const flow = await streamDuring(address, async (round) => {
      const next = linkTo(round + 1);
      await change({ remove: [last] });
      await change({ add: [next] });
      last = next;
    });
    assert.notEqual(await countPassed(flow, last), 0, `of ${flow.sent} packets`);
  });
});
