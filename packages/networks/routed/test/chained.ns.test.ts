import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { ask, assertBlocked, pings, serveEcho, worldAddresses } from '@podwire/testkit';
import { createWiredHost, type WiredHost, type WiredPod } from './wired-host.js';

/** Debian's containernetworking-plugins. */
const pluginDirectory = '/usr/lib/cni';

suite("other people's plugins behind the routed model", () => {
  let host: WiredHost;
  let pod: WiredPod;
  let peer: WiredPod;

  before(async () => {
    host = await createWiredHost('chained');
    [pod, peer] = [await host.addPod(), await host.addPod()];
    await serveEcho(pod.namespace, 'tcp', pod.ipv4, 80);
    await serveEcho(pod.namespace, 'tcp', pod.ipv6, 80);
  });
  after(() => host.close());

  /** Runs a plugin's ADD on top of the result that the plan foresees, and returns its result. */
  async function add(type: string, configuration: object): Promise<{ readonly routes?: unknown }> {
    const { plan, namespace, ipv4, ipv6 } = pod;
    const prevResult = {
      cniVersion: '1.0.0',
      interfaces: plan.links.map(({ side, name, mac }) => ({
        ...{ name, mac },
        ...(side === 'pod' ? { sandbox: namespace.path } : {}),
      })),
      ips: [
        { address: `${ipv4}/32`, interface: 1 },
        { address: `${ipv6}/128`, interface: 1 },
      ],
      routes: plan.routes,
    };
    const input = { cniVersion: '1.0.0', name: 'chain', type, ...configuration, prevResult };
    const env = {
      PATH: process.env['PATH'],
      CNI_COMMAND: 'ADD',
      CNI_CONTAINERID: `chained-${process.pid}`,
      CNI_NETNS: namespace.path,
      CNI_IFNAME: 'eth0',
      CNI_PATH: pluginDirectory,
    };
    const output = await host.namespace.run([`${pluginDirectory}/${type}`], {
      input: JSON.stringify(input),
      env,
    });
    return JSON.parse(output) as { readonly routes?: unknown };
  }

  test('portmap forwards a port to the pod', async () => {
    const portMappings = [{ hostPort: 7070, containerPort: 80, protocol: 'tcp' }];
    const result = await add('portmap', { snat: true, runtimeConfig: { portMappings } });
    assert.deepEqual(result.routes, pod.plan.routes);
    for (const address of Object.values(worldAddresses.host)) {
      assert.equal((await ask(host.world, 'tcp', address, 7070)).local.port, 80);
    }
  });

  test('bandwidth finds the host side and puts its queue there', async () => {
    const rates = {
      ingressRate: 1_000_000,
      ingressBurst: 80_000,
      egressRate: 1_000_000,
      egressBurst: 80_000,
    };
    await add('bandwidth', { runtimeConfig: { bandwidth: rates } });
    const queues = await host.namespace.run(['tc', 'qdisc', 'show', 'dev', pod.plan.links[0]!.name]);
    assert.match(queues, /qdisc tbf .* rate 1Mbit/);
    assert.ok(await pings(peer.namespace, pod.ipv4));
  });

  test('firewall lets the pod through a host that forwards nothing', async () => {
    await host.namespace.run(['iptables', '-P', 'FORWARD', 'DROP']);
    const way = [{ namespace: host.namespace, address: worldAddresses.host.ipv4 }];
    await assertBlocked(pod.namespace, host.world, worldAddresses.beyond.ipv4, way);
    await add('firewall', { backend: 'iptables' });
    assert.ok(await pings(pod.namespace, worldAddresses.beyond.ipv4));
  });

  test('tuning gives the pod another MAC, and it stays reachable', async () => {
    await add('tuning', { mac: '02:00:00:00:aa:aa', dataDir: host.directory });
    for (const address of [worldAddresses.beyond.ipv4, worldAddresses.host.ipv6]) {
      assert.ok(await pings(pod.namespace, address), address);
    }
  });
});
