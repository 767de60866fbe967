/** containerd 1.6 with `podwire-cni` in its bin_dir, over CRI as the kubelet speaks it. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import {
  type Agent,
  createPrivateHost,
  installPlugin,
  openTestNamespace,
  pings,
  pour,
  type PrivateHost,
  serveSink,
  type Snapshot,
  startAgent,
  startPing,
  takeSnapshot,
  type TestNamespace,
  untilSameSnapshot,
  worldAddresses,
} from '@podwire/testkit';
import {
  busyboxImage,
  type Containerd,
  type SandboxSpec,
  startContainerd,
} from '@podwire/testkit/containerd';

let host: PrivateHost;
let world: TestNamespace;
let agent: Agent;
let containerd: Containerd;
let untouched: Snapshot;

before(async () => {
  host = await createPrivateHost({ name: 'cpw', world: true });
  world = host.world ?? assert.fail('a world');
  agent = await startAgent(host);
  containerd = await startContainerd(host, await installPlugin(host, agent.socket));
  const fresh = await snapshot();
  await removePod(await runPod({ name: 'first' }));
  // The first pod makes the node claim a block of addresses, which stays its own with its blackhole route, and containerd
  // makes its directories.
  await untilSameSnapshot(fresh, snapshot, { ignore: [/^routes\/blackhole /, /^files\/.*cri\/\w+$/] });
  untouched = await snapshot();
});
afterEach(() => containerd.removeSandboxes());
after(() => host.close());

/** Network, processes (shims), endpoint records and what containerd keeps of its sandboxes. */
async function snapshot(): Promise<Snapshot> {
  const files = [
    `${agent.stateDirectory}/endpoints`,
    `${containerd.stateDirectory}/io.containerd.grpc.v1.cri`,
  ];
  return takeSnapshot(host.namespace, { files, processes: true });
}

interface Pod {
  readonly id: string;
  readonly container: string;
  readonly ipv4: string;
  readonly ipv6: string;
  readonly namespace: TestNamespace;
}

/** A sandbox with a container in which a web server listens: httpd goes into the background when it does. */
async function runPod(spec: SandboxSpec): Promise<Pod> {
  const { cri } = containerd;
  const id = await cri.runSandbox(spec);
  const waiting = { name: 'web', image: busyboxImage, command: ['sleep', '100000'] };
  const container = await cri.runContainer(id, waiting, spec);
  await cri.exec(container, ['sh', '-c', 'echo "I am $HOSTNAME" > /www/index.html && httpd -p 80 -h /www']);
  const { addresses, netns } = await cri.sandboxStatus(id);
  const [ipv4 = '', ipv6 = ''] = addresses;
  return { id, container, ipv4, ipv6, namespace: openTestNamespace(netns) };
}

async function removePod(pod: Pod): Promise<void> {
  pod.namespace.delete();
  await containerd.cri.stopSandbox(pod.id);
  await containerd.cri.removeSandbox(pod.id);
}

async function fetchFrom(pod: Pod, url: string): Promise<string> {
  const { stdout, stderr } = await containerd.cri.exec(pod.container, ['wget', '-qO-', url]);
  return stdout + stderr;
}

const fetchOutside = async (namespace: TestNamespace, url: string): Promise<string> =>
  namespace.run(['busybox', 'wget', '-qO-', url]);

test('the network is ready, since the plugin and its configuration are there', async () => {
  const conditions = await containerd.cri.conditions();
  assert.deepEqual(conditions.map(({ type, status }) => `${type} ${status}`).sort(), [
    'NetworkReady true',
    'RuntimeReady true',
  ]);
});

test('pods serve HTTP to each other, to the host, and to the world on a host port', async () => {
  const server = await runPod({ name: 'server', portMappings: [{ containerPort: 80, hostPort: 8080 }] });
  const client = await runPod({ name: 'client' });
  assert.match(server.ipv4, /^10\.244\./);
  assert.match(server.ipv6, /^fd00:244:/);
  for (const address of [server.ipv4, `[${server.ipv6}]`]) {
    assert.equal(await fetchFrom(client, `http://${address}/`), 'I am server\n');
    assert.equal(await fetchOutside(host.namespace, `http://${address}/`), 'I am server\n');
  }
  const { ipv4, ipv6 } = worldAddresses.host;
  for (const address of [ipv4, `[${ipv6}]`]) {
    assert.equal(
      await fetchOutside(world, `http://${address}:8080/`),
      'I am server\n',
      `${address} from the world`,
    );
    assert.equal(
      await fetchFrom(client, `http://${address}:8080/`),
      'I am server\n',
      `${address} from a pod`,
    );
    assert.equal(
      await fetchFrom(server, `http://${address}:8080/`),
      'I am server\n',
      `${address} from itself`,
    );
  }
  assert.equal(await fetchOutside(host.namespace, 'http://127.0.0.1:8080/'), 'I am server\n');
  assert.equal(await pings(client.namespace, worldAddresses.beyond.ipv4), true, 'out to the world');

  await removePod(server);
  await removePod(client);
  await untilSameSnapshot(untouched, snapshot);
});

test("the pod's rates follow its annotations", async () => {
  const annotations = {
    'kubernetes.io/ingress-bandwidth': '16M',
    'kubernetes.io/egress-bandwidth': '8M',
  };
  const pod = await runPod({ name: 'shaped', annotations });
  const into = await serveSink(pod.namespace, pod.ipv4);
  const outOf = await serveSink(world, worldAddresses.world.ipv4);
  const megabyte = 1_000_000;
  const ingress = await pour(host.namespace, pod.ipv4, into.port, 2 * megabyte);
  const egress = await pour(pod.namespace, worldAddresses.world.ipv4, outOf.port, megabyte);
  // A busy machine makes transfers slower, never faster. The burst may go through at once.
  assert.ok(ingress.rate < 20e6, `into the pod: ${ingress.rate} bit/s`);
  assert.ok(egress.rate < 10e6, `out of the pod: ${egress.rate} bit/s`);
  await into.close();
  await outOf.close();
  await removePod(pod);
  await untilSameSnapshot(untouched, snapshot);
});

test('a restart of containerd disturbs no pod, and pods from before can be removed', async () => {
  const server = await runPod({ name: 'before', portMappings: [{ containerPort: 80, hostPort: 8081 }] });
  const ping = startPing(world, worldAddresses.host.ipv4);
  await ping.waitForAnswers(2);
  await containerd.restart();
  assert.deepEqual(
    (await containerd.cri.listSandboxes()).map(({ name, ready }) => ({ name, ready })),
    [{ name: 'before', ready: true }],
  );
  assert.equal(await fetchOutside(world, `http://${worldAddresses.host.ipv4}:8081/`), 'I am before\n');
  assert.deepEqual((await ping.stop()).lost, []);
  await removePod(server);
  await untilSameSnapshot(untouched, snapshot);
});

test('the agent is killed and started again under traffic, and no ping is lost', async () => {
  const server = await runPod({ name: 'server', portMappings: [{ containerPort: 80, hostPort: 8082 }] });
  const client = await runPod({ name: 'client' });
  const streams = [
    startPing(client.namespace, server.ipv4),
    startPing(client.namespace, server.ipv6),
    startPing(host.namespace, server.ipv4),
    startPing(server.namespace, worldAddresses.beyond.ipv4),
  ];
  const during = await snapshot();
  for (let round = 0; round < 3; round += 1) {
    await Promise.all(streams.map((stream) => stream.waitForAnswers(4)));
    await agent.kill9();
    await Promise.all(streams.map((stream) => stream.waitForAnswers(4)));
    assert.equal(await fetchOutside(world, `http://${worldAddresses.host.ipv4}:8082/`), 'I am server\n');
    await agent.start();
  }
  await Promise.all(streams.map((stream) => stream.waitForAnswers(4)));
  for (const stream of streams) {
    const report = await stream.stop();
    assert.deepEqual(report.lost, []);
    assert.ok(report.received >= 7 * 4);
  }
  await untilSameSnapshot(during, snapshot, { ignore: ['processes'] });
  await removePod(server);
  await removePod(client);
  await untilSameSnapshot(untouched, snapshot);
});

test('without an agent a sandbox can neither be run nor removed, and with it again both', async () => {
  const pod = await runPod({ name: 'waiting' });
  await agent.kill9();
  await assert.rejects(containerd.cri.runSandbox({ name: 'early' }), /podwire|try again/i);
  await assert.rejects(containerd.cri.stopSandbox(pod.id), /podwire|try again/i);
  await agent.start();
  // As the kubelet does: the failed one keeps its name until it is collected, so the next try has another number.
  const early = await runPod({ name: 'early', attempt: 1 });
  // containerd has stopped its processes already; the namespace keeps its network until DEL has worked.
  assert.equal(await pings(early.namespace, pod.ipv4), true);
  const listed = (await containerd.cri.listSandboxes()).map(({ name, ready }) => `${name} ${ready}`);
  assert.deepEqual(listed.sort(), ['early false', 'early true', 'waiting false']);
  early.namespace.delete();
  pod.namespace.delete();
  await containerd.removeSandboxes();
  await untilSameSnapshot(untouched, snapshot);
});

test('twenty sandboxes at once get twenty addresses', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `crowd-${index}`);
  const ids = await Promise.all(names.map((name) => containerd.cri.runSandbox({ name })));
  const statuses = await Promise.all(ids.map((id) => containerd.cri.sandboxStatus(id)));
  assert.equal(new Set(statuses.flatMap(({ addresses }) => addresses)).size, 40);
  await Promise.all(ids.map((id) => containerd.cri.stopSandbox(id)));
  await Promise.all(ids.map((id) => containerd.cri.removeSandbox(id)));
  await untilSameSnapshot(untouched, snapshot);
});

test('the JavaScript twin of the plugin does the same', async () => {
  await installPlugin(host, agent.socket, 'js');
  const server = await runPod({ name: 'twin', portMappings: [{ containerPort: 80, hostPort: 8083 }] });
  const { ipv4 } = worldAddresses.host;
  assert.equal(await fetchOutside(world, `http://${ipv4}:8083/`), 'I am twin\n');
  await removePod(server);
  await untilSameSnapshot(untouched, snapshot);
});
