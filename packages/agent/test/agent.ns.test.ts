/** The real agent on a host of its own: what it does to the kernel, what it leaves alone, what survives it. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import {
  type Agent,
  assertSameSnapshot,
  createPrivateHost,
  type PrivateHost,
  reaches,
  serveEcho,
  type Snapshot,
  startAgent,
  takeSnapshot,
  type TestNamespace,
} from '@podwire/testkit';
import { askApi, callPlugin, type ClientAnswer, encodeCall } from './fakes/plugin-client.js';

const entry = [process.execPath, path.join(import.meta.dirname, 'faulty-agent.js')];
const traffic = {
  runtimeConfig: {
    portMappings: [
      { hostPort: 8080, containerPort: 80, protocol: 'tcp' },
      { hostPort: 5353, containerPort: 53, protocol: 'udp' },
    ],
    bandwidth: {
      ingressRate: 100_000_000,
      ingressBurst: 10_000_000,
      egressRate: 100_000_000,
      egressBurst: 10_000_000,
    },
  },
};

const bandwidth = { runtimeConfig: { bandwidth: traffic.runtimeConfig.bandwidth } };

/** A change that a test makes behind the agent's back stays until a reconcile. */
const config = { coolDown: '0s', watchDrift: false };

let host: PrivateHost;
let agent: Agent;
let diskFull: string;
/** With an agent that has never served a pod, stopped. */
let untouched: Snapshot;

before(async () => {
  host = await createPrivateHost({ name: 'agent', world: { mtu: 1400 } });
  diskFull = path.join(host.directory, 'disk-full');
  agent = await startAgent(host, { entry, env: { FAULT_DISK_FULL: diskFull }, config });
  await agent.stop();
  untouched = await takeSnapshot(host.namespace, { files: [agent.stateDirectory] });
  await agent.start();
});
after(async () => host.close());

const call = async (command: string, pod: TestNamespace, config: object = {}): Promise<ClientAnswer> => {
  const request = { command, id: pod.name, netns: pod.path, config: { ...config } };
  const answer = await callPlugin(agent.socket, request);
  assert.ok(answer, 'the agent died');
  return answer;
};
const add = async (pod: TestNamespace, config: object = {}): Promise<ClientAnswer['json']> => {
  const { ok, json } = await call('ADD', pod, config);
  assert.ok(ok, JSON.stringify(json));
  return json;
};
const addressesOf = (json: ClientAnswer['json']): string[] =>
  (json['ips'] as { address: string }[]).map(({ address }) => address.split('/')[0]!);

async function assertReached(from: TestNamespace, pod: TestNamespace, address: string): Promise<void> {
  const server = await serveEcho(pod, 'udp', address, 0);
  try {
    assert.ok(await reaches(from, 'udp', address, server.port), `${pod.name} does not answer at ${address}`);
  } finally {
    await server.close();
  }
}

/** Stopping deletes what is on its way out, so afterwards the host holds still. */
async function assertUntouched(): Promise<void> {
  await agent.stop();
  // Blocks that were claimed keep their route as long as the agent lives; the next one prunes it.
  await agent.start();
  await agent.stop();
  assertSameSnapshot(untouched, await takeSnapshot(host.namespace, { files: [agent.stateDirectory] }));
  await agent.start();
}

test('ADD and DEL go on beside reconciles, and nothing of theirs is repaired or pruned', async () => {
  const pods = Array.from({ length: 12 }, () => host.addPod());
  const reconcile = (): Promise<Record<string, unknown>> => askApi(agent.apiSocket, '/v1/reconcile', {});
  let isDone = false;
  const live = async (pod: TestNamespace): Promise<void> => {
    for (let life = 0; life < 5; life++) {
      const json = await add(pod, bandwidth);
      assert.ok((await call('CHECK', pod, { prevResult: json })).ok);
      assert.ok((await call('DEL', pod)).ok);
    }
    await add(pod);
  };
  const reports: Record<string, unknown>[] = [];
  const reconciling = async (): Promise<void> => {
    while (!isDone) reports.push(await reconcile());
  };
  const both = reconciling();
  await Promise.all(pods.map(live)).finally(() => (isDone = true));
  await both;
  reports.push(await reconcile());
  for (const { changes, removed, failures } of reports)
    assert.deepEqual({ changes, removed, failures }, { changes: [], removed: [], failures: [] });
  for (const pod of pods) assert.ok((await call('DEL', pod)).ok);
  for (const pod of pods) host.removePod(pod);
  await assertUntouched();
});

describe('one pod', () => {
  afterEach(assertUntouched);

  test('is wired as the answer says, checked, and taken away without a trace', async () => {
    const pod = host.addPod();
    const json = await add(pod, traffic);
    const [ipv4, ipv6] = addressesOf(json);
    const [hostSide, podSide] = json['interfaces'] as {
      name: string;
      mac: string;
      mtu: number;
      sandbox?: string;
    }[];
    const links = JSON.parse(await pod.run(['ip', '-json', 'link'])) as {
      ifname: string;
      address: string;
      mtu: number;
    }[];
    assert.deepEqual(
      links.filter(({ ifname }) => ifname === 'eth0').map(({ address, mtu }) => ({ address, mtu })),
      [{ address: podSide?.mac, mtu: 1400 }],
    );
    assert.equal(podSide?.sandbox, pod.path);
    assert.match(await host.run(['ip', 'route', 'get', ipv4!]), new RegExp(`dev ${hostSide?.name} `));
    for (const address of [ipv4!, ipv6!]) await assertReached(host.namespace, pod, address);
    assert.ok((await call('CHECK', pod, { prevResult: json })).ok);
    assert.deepEqual(await call('DEL', pod), { ok: true, json: {} });
    assert.equal((await call('CHECK', pod, { prevResult: json })).json.code, 3);
    // The empty link itself may live some milliseconds longer, under another name and down.
    await assert.rejects(pod.run(['ip', 'link', 'show', 'eth0']), /does not exist/);
    assert.equal(await pod.run(['ip', '-4', 'address', 'show', 'up', 'scope', 'global']), '');
    host.removePod(pod);
  });

  test('CHECK and explain report what another program has changed, and reconcile repairs it', async () => {
    const pod = host.addPod();
    const json = await add(pod, traffic);
    const [ipv4] = addressesOf(json);
    await host.run(['ip', 'route', 'del', `${ipv4}/32`]);
    await pod.ip('route del default');
    const { json: drifted } = await call('CHECK', pod, { prevResult: json });
    assert.equal(drifted.code, 101);
    assert.match(drifted.msg ?? '', /route missing.*route missing/);
    const explained = await askApi(agent.apiSocket, `/v1/explain/${pod.name}`);
    const adrift = (explained['resources'] as { state: string }[]).filter(({ state }) => state !== 'ok');
    assert.equal(adrift.length, 2);
    const report = await askApi(agent.apiSocket, '/v1/reconcile', {});
    assert.equal((report['changes'] as unknown[]).length, 2);
    assert.ok((await call('CHECK', pod, { prevResult: json })).ok);
    await call('DEL', pod);
    host.removePod(pod);
  });

  test('whose namespace goes before its DEL', async () => {
    const pod = host.addPod();
    await add(pod, traffic);
    host.removePod(pod);
    assert.ok((await call('DEL', pod)).ok);
  });

  test('whose namespace goes and whose DEL never comes', async () => {
    const pod = host.addPod();
    await add(pod, traffic);
    host.removePod(pod);
    const report = await askApi(agent.apiSocket, '/v1/reconcile', {});
    assert.deepEqual(report['removed'], [`podwire,${pod.name},eth0`]);
    assert.deepEqual(report['failures'], []);
  });

  test('that cannot be wired leaves nothing', async () => {
    const pod = host.addPod();
    await pod.ip('link add eth0 type veth peer name other');
    const before = await takeSnapshot(pod);
    const { ok, json } = await call('ADD', pod, traffic);
    assert.equal(ok, false);
    assert.equal(json.code, 104);
    assert.match(json.msg ?? '', /EEXIST/);
    assertSameSnapshot(before, await takeSnapshot(pod));
    assert.ok((await call('DEL', pod)).ok);
    host.removePod(pod);
  });

  test('while the disk is full: an ADD fails cleanly, a DEL works', async () => {
    const [first, second] = [host.addPod(), host.addPod()];
    await add(first, traffic);
    fs.writeFileSync(diskFull, '');
    const { json } = await call('ADD', second);
    assert.equal(json.code, 5);
    assert.match(json.msg ?? '', /ENOSPC/);
    assert.ok((await call('DEL', first)).ok);
    fs.rmSync(diskFull);
    host.removePod(first);
    host.removePod(second);
  });

  test('whose plugin is killed before the answer is removed again', async () => {
    const pod = host.addPod();
    const socket = net.connect(agent.socket);
    // The agent reads the whole request, and the client is gone when it answers.
    socket.end(encodeCall({ command: 'ADD', id: pod.name, netns: pod.path, config: traffic }), () =>
      socket.destroy(),
    );
    await new Promise((resolve) => socket.once('close', resolve));
    // Its own DEL waits for the ADD, if that is still running.
    assert.ok((await call('DEL', pod)).ok);
    assert.deepEqual((await askApi(agent.apiSocket, '/v1/endpoints'))['endpoints'], []);
    host.removePod(pod);
  });
});

describe('many pods', () => {
  afterEach(assertUntouched);

  test('side by side, then all at once away by GC', async () => {
    const pods = Array.from({ length: 12 }, () => host.addPod());
    const answers = await Promise.all(pods.map((pod) => add(pod)));
    assert.equal(new Set(answers.flatMap(addressesOf)).size, 24);
    const keep = pods[0]!;
    const valid = { 'cni.dev/valid-attachments': [{ containerID: keep.name, ifname: 'eth0' }] };
    assert.ok((await call('GC', keep, valid)).ok);
    const { endpoints } = await askApi(agent.apiSocket, '/v1/endpoints');
    assert.deepEqual(
      (endpoints as { containerId: string }[]).map(({ containerId }) => containerId),
      [keep.name],
    );
    assert.ok((await call('DEL', keep)).ok);
    pods.forEach((pod) => host.removePod(pod));
  });
});

describe('an agent that ends', () => {
  for (const how of ['stop', 'kill9'] as const) {
    test(`by ${how} leaves the network alone, and the next one takes it over`, async () => {
      const [first, second] = [host.addPod(), host.addPod()];
      const json = await add(first, traffic);
      const [address] = addressesOf(await add(second));
      const before = await takeSnapshot(host.namespace);
      await agent[how]();
      assertSameSnapshot(before, await takeSnapshot(host.namespace));
      await assertReached(first, second, address!);
      await agent.start();
      assertSameSnapshot(before, await takeSnapshot(host.namespace));
      assert.ok((await call('CHECK', first, { prevResult: json })).ok);
      assert.deepEqual(await add(first, traffic), json);
      assert.ok((await call('DEL', first)).ok);
      assert.ok((await call('DEL', second)).ok);
      host.removePod(first);
      host.removePod(second);
      await assertUntouched();
    });
  }

  test('is followed by one that starts, whatever has become of the records', async () => {
    const spoil: readonly ((file: string) => void)[] = [
      (file) => fs.writeFileSync(file, 'null'),
      (file) => fs.writeFileSync(file, JSON.stringify({ ...readRecord(file), resources: null })),
      (file) => fs.writeFileSync(file, JSON.stringify({ ...readRecord(file), namespace: null })),
      (file) =>
        fs.writeFileSync(file, JSON.stringify({ ...readRecord(file), resources: [{ kind: 'flow' }] })),
      (file) => fs.truncateSync(file, 300),
      (file) => fs.truncateSync(file, 0),
    ];
    const readRecord = (file: string): object => JSON.parse(fs.readFileSync(file, 'utf8')) as object;
    const records = path.join(agent.stateDirectory, 'endpoints');
    const keep = host.addPod();
    const json = await add(keep, traffic);
    const pods = spoil.map(() => host.addPod());
    const taken: string[] = [];
    for (const pod of pods) taken.push(...addressesOf(await add(pod)));
    await agent.kill9();
    const files = pods.map(({ name }) => fs.readdirSync(records).find((file) => file.includes(`,${name},`))!);
    spoil.forEach((work, index) => work(path.join(records, files[index]!)));

    await agent.start();
    assert.ok((await call('CHECK', keep, { prevResult: json })).ok);
    await assertReached(host.namespace, keep, addressesOf(json)[0]!);
    const { recordProblems } = (await askApi(agent.apiSocket, '/v1/status')) as { recordProblems: string[] };
    assert.deepEqual(recordProblems.map((text) => text.split(':')[0]).sort(), files.toSorted());
    const other = host.addPod();
    const given = addressesOf(await add(other));
    assert.deepEqual(
      given.filter((address) => taken.includes(address)),
      [],
    );
    for (const pod of [...pods, other, keep]) assert.ok((await call('DEL', pod)).ok);
    assert.deepEqual((await askApi(agent.apiSocket, '/v1/status'))['recordProblems'], []);
    assert.deepEqual(fs.readdirSync(records), []);
    for (const pod of [...pods, other, keep]) host.removePod(pod);
    await assertUntouched();
  });

  test('while a namespace goes is followed by one that cleans up', async () => {
    const pod = host.addPod();
    await add(pod, traffic);
    await agent.kill9();
    host.removePod(pod);
    await agent.start();
    assert.deepEqual((await askApi(agent.apiSocket, '/v1/endpoints'))['endpoints'], []);
    await assertUntouched();
  });
});

describe('an agent that is not alone', () => {
  const refused = async (config: Record<string, unknown>, name: string, reason: RegExp): Promise<void> => {
    await assert.rejects(startAgent(host, { entry, name, config }), reason);
  };

  test('in its network namespace does not start', async () => {
    await refused({}, 'second', /another agent \(process \d+\) serves this network namespace/);
  });

  test('in its state directory does not start', async () => {
    await refused({ stateDir: agent.stateDirectory }, 'third', /another agent uses/);
  });
});
