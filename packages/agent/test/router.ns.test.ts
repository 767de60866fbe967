/** A node's own networks once the agent makes a router of it: the routes it learns, and who may pass. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { afterEach, beforeEach, describe, test } from 'node:test';
import {
  type Agent,
  assertBlocked,
  assertPasses,
  createPrivateHost,
  nativeProgram,
  type PrivateHost,
  startAgent,
  type TestNamespace,
  until,
  worldAddresses,
} from '@podwire/testkit';
import { callPlugin } from './fakes/plugin-client.js';

const families = [4, 6] as const;
const lan = { 4: '203.0.113.2', 6: '2001:db8:3::2' } as const;
const forwarding = { 4: 'net/ipv4/ip_forward', 6: 'net/ipv6/conf/all/forwarding' } as const;

let host: PrivateHost;
let lanHost: TestNamespace;

/** A node between two networks: the world, which knows it as the way to the other one, and a LAN. */
beforeEach(async () => {
  host = await createPrivateHost({ name: 'router', world: true });
  lanHost = host.addPod('lan');
  await connect('lan0', lanHost, '203.0.113', '2001:db8:3:');
});
afterEach(() => host.close());

const world = (): TestNamespace => host.world!;

/** Joins a namespace to the node by a link of this name; the node is .1 on it, the namespace .2. */
async function connect(link: string, other: TestNamespace, prefix4: string, prefix6: string): Promise<void> {
  await host.namespace.ip(
    `link add ${link} type veth peer name eth0 netns ${other.name}`,
    `link set ${link} up`,
    `addr add ${prefix4}.1/24 dev ${link}`,
    `addr add ${prefix6}:1/64 dev ${link} nodad`,
  );
  await other.ip(
    'link set eth0 up',
    `addr add ${prefix4}.2/24 dev eth0`,
    `addr add ${prefix6}:2/64 dev eth0 nodad`,
    'addr add fe80::2/64 dev eth0 nodad',
    `route add default via ${prefix4}.1`,
    `route add default via ${prefix6}:1`,
  );
  await world().ip(`route add ${prefix4}.0/24 via 192.0.2.10`, `route add ${prefix6}:/64 via 2001:db8:2::10`);
}

const read = (key: string): string =>
  host.namespace.inside(() => fs.readFileSync(`/proc/sys/${key}`, 'utf8').trim());
const write = (key: string, value: string): void =>
  host.namespace.inside(() => fs.writeFileSync(`/proc/sys/${key}`, value));

/** The world does not reach an address behind the node. */
async function assertShut(to: TestNamespace, address: string): Promise<void> {
  const node = worldAddresses.host[address.includes(':') ? 'ipv6' : 'ipv4'];
  await assertBlocked(world(), to, address, [{ namespace: host.namespace, address: node }]);
}

/** The world reaches the LAN through the node in these families, and in no other. */
async function assertOpen(...open: readonly (4 | 6)[]): Promise<void> {
  for (const family of families) {
    if (open.includes(family)) await assertPasses(world(), lanHost, lan[family]);
    else await assertShut(lanHost, lan[family]);
  }
}

async function addPod(agent: Agent, name: string): Promise<{ pod: TestNamespace; addresses: string[] }> {
  const pod = host.addPod(name);
  const answer = await callPlugin(agent.socket, { command: 'ADD', id: name, netns: pod.path });
  assert.ok(answer?.ok, JSON.stringify(answer));
  const ips = answer.json['ips'] as { address: string }[];
  return { pod, addresses: ips.map(({ address }) => address.split('/')[0]!) };
}

describe('a node that was no router', () => {
  test('forwards for pods only, also after a crash of its agent', async () => {
    await assertOpen();
    const agent = await startAgent(host);
    for (const family of families) assert.equal(read(forwarding[family]), '1');
    await assertOpen();
    const { pod, addresses } = await addPod(agent, 'web');
    for (const address of addresses) await assertPasses(lanHost, pod, address);
    for (const family of families) await assertPasses(pod, lanHost, lan[family]);

    await agent.kill9();
    await assertOpen(); // no watch is open
    await agent.start();
    await assertOpen();
  });

  test('leaves the guests of a container engine alone that came later', async () => {
    await host.namespace.ip('link add br0 type bridge', 'link set br0 up');
    await startAgent(host);
    const guest = host.addPod('guest');
    await connect('guest0', guest, '198.18.0', '2001:db8:18:');
    await assertShut(guest, '198.18.0.2'); // a link of the node, it seems
    const move = (bridge: string): Promise<void> =>
      host.namespace.ip(
        `link set guest0 master ${bridge}`,
        'addr del 198.18.0.1/24 dev guest0',
        `addr add 198.18.0.1/24 dev ${bridge}`,
      );
    await move('br0');
    await assertShut(guest, '198.18.0.2'); // a bridge of the node itself
    await host.namespace.ip(
      'link add docker0 type bridge',
      'link set docker0 up',
      'addr del 198.18.0.1/24 dev br0',
      'addr add 198.18.0.1/24 dev guest0',
    );
    await move('docker0');
    await assertPasses(world(), guest, '198.18.0.2');
    await assertOpen();
  });

  test('does not forward in a family that no pod has', async () => {
    await startAgent(host, { config: { networks: [{ name: 'four', pools: [{ cidr: '10.244.0.0/16' }] }] } });
    assert.deepEqual([read(forwarding[4]), read(forwarding[6])], ['1', '0']);
  });
});

test('a node that was a router stays one, each family for itself', async () => {
  write(forwarding[4], '1');
  await assertOpen(4);
  const agent = await startAgent(host);
  await assertOpen(4);
  await agent.stop();
  await agent.start();
  await assertOpen(4);
});

describe('routes from router advertisements', () => {
  const advertised = async (): Promise<string[]> => {
    const output = await host.run(['ip', '-json', '-6', 'route', 'show', 'default', 'proto', 'ra']);
    return (JSON.parse(output) as { dev: string }[]).map(({ dev }) => dev);
  };
  const advertise = async (from: TestNamespace): Promise<void> => {
    await from.run([nativeProgram('advertise'), 'eth0']);
  };
  const untilAdvertised = async (...links: string[]): Promise<unknown> =>
    until(`default routes by ${links.join(' ')}`, async () => (await advertised()).join() === links.join());

  test('stay when the agent starts, and come with the next advertisement', async () => {
    await advertise(world());
    await untilAdvertised('eth0');
    await startAgent(host);
    assert.deepEqual(await advertised(), ['eth0']);
    await host.run(['ip', '-6', 'route', 'flush', 'proto', 'ra']);
    await advertise(world());
    await untilAdvertised('eth0');
  });

  test('come through links that the node gets later', async () => {
    await startAgent(host);
    const router = host.addPod('late');
    await connect('late0', router, '198.18.0', '2001:db8:18:');
    await advertise(router);
    await untilAdvertised('late0');
  });

  test('stay away where the administrator wants none', async () => {
    write('net/ipv6/conf/eth0/accept_ra', '0');
    await startAgent(host);
    assert.equal(read('net/ipv6/conf/eth0/accept_ra'), '0');
  });

  test('stay away from a node that was a router', async () => {
    write(forwarding[6], '1');
    await startAgent(host);
    assert.equal(read('net/ipv6/conf/eth0/accept_ra'), '1');
  });
});
