/** Sandboxes and containers over time: calls that cross, things that die, processes that come back. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, before, describe, test } from 'node:test';
import { type ContainerEventResponse, ContainerState, PodSandboxState } from '@podwire/cri';
import { createNativeRuntime, type NativeRuntimeOptions, type EmbeddedRuntime } from '@podwire/cri-native';
import { createFakePodNetwork, type FakePodNetwork } from '@podwire/pod-network/fake';
import { createTracer, type Span } from '@podwire/tracing';
import {
  buildPauseProgram,
  containerConfig,
  createDirectories,
  pauseProgram,
  inside,
  leftovers,
  type Place,
  runContainer,
  runSandbox,
  sandboxConfig,
  untilExited,
  untilShimGone,
} from './fixture.js';

interface World {
  readonly place: Place;
  readonly network: FakePodNetwork;
  readonly open: (options?: Partial<NativeRuntimeOptions>) => Promise<EmbeddedRuntime>;
}

const worlds: {
  readonly place: Place;
  readonly runtimes: EmbeddedRuntime[];
  readonly open: World['open'];
}[] = [];

function makeWorld(): World {
  const place = createDirectories();
  const network = createFakePodNetwork();
  const runtimes: EmbeddedRuntime[] = [];
  const open = async (options: Partial<NativeRuntimeOptions> = {}): Promise<EmbeddedRuntime> => {
    const { state: directory, netns: netnsDirectory } = place;
    const all = { directory, netnsDirectory, network, pauseProgram, ...options };
    const runtime = await createNativeRuntime(all);
    runtimes.push(runtime);
    return runtime;
  };
  worlds.push({ place, runtimes, open });
  return { place, network, open };
}

before(buildPauseProgram);

/** Whatever a test did: all can be removed, and then nothing is left. */
afterEach(async () => {
  for (const { place, runtimes, open } of worlds.splice(0)) {
    for (const runtime of runtimes) await runtime.close();
    const last = await open();
    for (const { id } of (await last.listPodSandbox({})).items)
      await last.removePodSandbox({ podSandboxId: id });
    const left = leftovers(place);
    await last.close();
    fs.rmSync(place.directory, { recursive: true });
    assert.deepEqual(left, []);
  }
});

const sleep = ['/bin/busybox', 'sleep', '1000'];

const stateOf = async (runtime: EmbeddedRuntime, podSandboxId: string) =>
  (await runtime.podSandboxStatus({ podSandboxId, verbose: false })).status?.state;

const containerOf = async (runtime: EmbeddedRuntime, containerId: string) => {
  const { status } = await runtime.containerStatus({ containerId, verbose: false });
  return status ?? assert.fail('no status');
};

const verboseOf = async (runtime: EmbeddedRuntime, podSandboxId: string) =>
  (await runtime.podSandboxStatus({ podSandboxId, verbose: true })).info;

/** The next event that is like this. */
async function untilEvent(
  runtime: EmbeddedRuntime,
  matches: (event: ContainerEventResponse) => boolean,
  cause: () => unknown,
): Promise<ContainerEventResponse> {
  const events = runtime.getContainerEvents({});
  cause();
  for await (const event of events) if (matches(event)) return event;
  return assert.fail('the events ended');
}

/** One that is dead may still wait for its parent to look. */
function isAlive(pid: string | undefined): boolean {
  try {
    return !/State:\s+[ZX]/.test(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

describe('making a sandbox', () => {
  test('twenty calls for one pod at once make one sandbox', async () => {
    const { open, place, network } = makeWorld();
    const runtime = await open();
    const config = sandboxConfig(place);
    const ids = await Promise.all(Array.from({ length: 20 }, () => runSandbox(runtime, config)));
    assert.equal(new Set(ids).size, 1);
    assert.equal(network.calls.filter(({ verb }) => verb === 'setUp').length, 1);
    await assert.rejects(runSandbox(runtime, config), { code: 'ALREADY_EXISTS' });
  });

  test('the network gets what it needs: a pinned namespace, ports of the host, DNS', async () => {
    const { open, place, network } = makeWorld();
    const runtime = await open();
    const dnsConfig = { servers: ['10.0.0.10'], searches: ['a.b'], options: ['ndots:5'] };
    const annotations = { 'kubernetes.io/ingress-bandwidth': '1M' };
    const portMappings = [
      { containerPort: 80, hostPort: 8080, protocol: 1, hostIp: '127.0.0.1' },
      { containerPort: 81, hostPort: 0, protocol: 0, hostIp: '' },
    ] as const;
    const id = await runSandbox(runtime, sandboxConfig(place, { dnsConfig, annotations, portMappings }));
    const pod = network.calls[0]?.pod;
    assert.deepEqual(
      { ...pod, name: '', uid: '' },
      {
        ...{ namespace: 'default', name: '', uid: '', sandboxId: id, annotations, dns: dnsConfig },
        netns: path.join(place.netns, `podwire-${id}`),
        portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'udp', hostIP: '127.0.0.1' }],
      },
    );
    const container = await runContainer(runtime, id, containerConfig(sleep));
    assert.equal(
      await inside(runtime, container, 'cat /etc/resolv.conf'),
      'nameserver 10.0.0.10\nsearch a.b\noptions ndots:5\n',
    );
  });

  test('a network that fails leaves nothing behind, and the next try works', async () => {
    const { open, place, network } = makeWorld();
    const runtime = await open();
    network.fail('setUp', 'out of addresses');
    const config = sandboxConfig(place);
    await assert.rejects(runSandbox(runtime, config), /out of addresses/);
    assert.deepEqual(leftovers(place), []);
    assert.equal((await runtime.listPodSandbox({})).items.length, 0);
    await runSandbox(runtime, config);
  });

  test('a network that fails twice leaves a sandbox that is not ready, and stopping it tries again', async () => {
    const { open, place, network } = makeWorld();
    const runtime = await open();
    network.fail('setUp', 'no');
    network.fail('tearDown', 'not this either');
    await assert.rejects(runSandbox(runtime, sandboxConfig(place)), /no/);
    const [left] = (await runtime.listPodSandbox({})).items;
    assert.equal(left?.state, PodSandboxState.SANDBOX_NOTREADY);
    await runtime.removePodSandbox({ podSandboxId: left?.id ?? '' });
    assert.deepEqual(leftovers(place), []);
  });

  test('a caller who gives up has it taken back, unless another one waits too', async () => {
    const { open, place, network } = makeWorld();
    const runtime = await open();
    const run = (config: ReturnType<typeof sandboxConfig>, signal: AbortSignal) =>
      runtime.runPodSandbox({ config, runtimeHandler: '' }, { signal });
    const release = network.hold('setUp');
    const [alone, first, second] = [new AbortController(), new AbortController(), new AbortController()];
    const shared = sandboxConfig(place);
    const calls = [
      run(sandboxConfig(place), alone.signal),
      run(shared, first.signal),
      run(shared, second.signal),
    ] as const;
    const refused = [assert.rejects(calls[0]), assert.rejects(calls[1])];
    while (network.calls.length < 2) await new Promise(setImmediate);
    alone.abort();
    first.abort();
    await Promise.all(refused);
    release();
    const { podSandboxId } = await calls[2];
    assert.deepEqual(
      (await runtime.listPodSandbox({})).items.map(({ id }) => id),
      [podSandboxId],
    );
  });

  test('closing takes back what is being made', async () => {
    const { open, place, network } = makeWorld();
    const runtime = await open();
    const release = network.hold('setUp');
    const refused = assert.rejects(runSandbox(runtime, sandboxConfig(place)));
    while (network.calls.length < 1) await new Promise(setImmediate);
    await runtime.close();
    await refused;
    release();
    assert.deepEqual(leftovers(place), []);
  });

  test('one span for it, with its parts, below the caller’s', async () => {
    const { open, place, network } = makeWorld();
    const all: Span[] = [];
    const runtime = await open({ tracer: createTracer({ onEnd: (span) => all.push(span) }) });
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    await runtime.runPodSandbox({ config: sandboxConfig(place), runtimeHandler: '' }, { traceparent });
    const run = all.find(({ name }) => name === 'RunPodSandbox');
    assert.equal(run?.parentId, 'b'.repeat(16));
    assert.equal(all.find(({ name }) => name === 'start pause process')?.parentId, run?.spanId);
    assert.equal(network.calls[0]?.options.parent?.spanId, run?.spanId);
  });
});

describe('stopping', () => {
  test('twenty Stops at once are one effective tear-down, after the containers and before the pause process', async () => {
    const { open, place, network } = makeWorld();
    const runtime = await open();
    const podSandboxId = await runSandbox(runtime, sandboxConfig(place));
    const container = await runContainer(runtime, podSandboxId, containerConfig(sleep));
    const release = network.hold('tearDown');
    const stops = Array.from({ length: 20 }, () => runtime.stopPodSandbox({ podSandboxId }));
    while (network.calls.length < 2) await new Promise(setImmediate);
    assert.equal((await containerOf(runtime, container)).state, ContainerState.CONTAINER_EXITED);
    assert.equal(fs.existsSync(path.join(place.netns, `podwire-${podSandboxId}`)), true);
    assert.equal(await stateOf(runtime, podSandboxId), PodSandboxState.SANDBOX_NOTREADY);
    release();
    await Promise.all(stops);
    await runtime.stopPodSandbox({ podSandboxId });
    assert.equal(network.calls.filter(({ verb }) => verb === 'tearDown').length, 1);
    assert.deepEqual(fs.readdirSync(place.netns), []);
  });

  test('a Stop whose tear-down fails says so, keeps the namespace, and is done the next time', async () => {
    const { open, place, network } = makeWorld();
    const runtime = await open();
    const podSandboxId = await runSandbox(runtime, sandboxConfig(place));
    network.fail('tearDown', 'the plugin is gone');
    await assert.rejects(runtime.stopPodSandbox({ podSandboxId }), /the plugin is gone/);
    assert.equal(fs.readdirSync(place.netns).length, 1);
    assert.equal(await stateOf(runtime, podSandboxId), PodSandboxState.SANDBOX_NOTREADY);
    await runtime.stopPodSandbox({ podSandboxId });
    assert.deepEqual(fs.readdirSync(place.netns), []);
  });

  test('a Stop that comes while a container is started ends that too', async () => {
    const { open, place } = makeWorld();
    const runtime = await open();
    const podSandboxId = await runSandbox(runtime, sandboxConfig(place));
    const config = containerConfig(sleep);
    const { containerId } = await runtime.createContainer({ podSandboxId, config, sandboxConfig: undefined });
    const started = runtime.startContainer({ containerId });
    await Promise.all([runtime.stopPodSandbox({ podSandboxId }), started]);
    assert.equal((await containerOf(runtime, containerId)).exitCode, 137);
  });
});

describe('what dies', () => {
  test('a pauseProgram that is killed makes the sandbox not ready, which is told at once', async () => {
    const { open, place } = makeWorld();
    const runtime = await open();
    const podSandboxId = await runSandbox(runtime, sandboxConfig(place));
    const pid = Number((await verboseOf(runtime, podSandboxId))['holder']);
    const event = await untilEvent(
      runtime,
      ({ containerId, containerEventType }) => containerId === podSandboxId && containerEventType === 2,
      () => process.kill(pid, 'SIGKILL'),
    );
    assert.equal(event.podSandboxStatus?.state, PodSandboxState.SANDBOX_NOTREADY);
    const config = containerConfig(sleep);
    await assert.rejects(
      runtime.createContainer({ podSandboxId, config, sandboxConfig: undefined }),
      /not ready/,
    );
  });

  test('a shim that is killed takes its program with it; how that ended is not known', async () => {
    const { open, place } = makeWorld();
    const runtime = await open();
    const id = await runContainer(
      runtime,
      await runSandbox(runtime, sandboxConfig(place)),
      containerConfig(sleep),
    );
    const { info } = await runtime.containerStatus({ containerId: id, verbose: true });
    const stat = fs.readFileSync(`/proc/${info['pid']}/stat`, 'utf8');
    const shim = Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ')[0]);
    process.kill(shim, 'SIGKILL');
    const { exitCode, reason } = await untilExited(runtime, id);
    assert.deepEqual({ exitCode, reason }, { exitCode: 255, reason: 'Unknown' });
    await runtime.removeContainer({ containerId: id });
    assert.equal(isAlive(info['pid']), false);
  });

  test('a shim that stands still does not keep its container alive', async () => {
    const { open, place } = makeWorld();
    const runtime = await open();
    const id = await runContainer(
      runtime,
      await runSandbox(runtime, sandboxConfig(place)),
      containerConfig(sleep),
    );
    const { info } = await runtime.containerStatus({ containerId: id, verbose: true });
    const stat = fs.readFileSync(`/proc/${info['pid']}/stat`, 'utf8');
    const shim = Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ')[0]);
    process.kill(shim, 'SIGSTOP');
    const stopped = runtime.stopContainer({ containerId: id, timeout: 0n });
    // It is let go when the program is dead, which it cannot have done.
    while (isAlive(info['pid'])) await new Promise((resolve) => setTimeout(resolve, 20));
    process.kill(shim, 'SIGCONT');
    await stopped;
    assert.equal((await containerOf(runtime, id)).exitCode, 137);
  });
});

describe('a process that comes back', () => {
  test('finds what ran running, what ended meanwhile ended, and what was new new', async () => {
    const { open, place } = makeWorld();
    const first = await open();
    const podSandboxId = await runSandbox(first, sandboxConfig(place));
    const fifo = path.join(place.directory, 'fifo');
    const mounts = [{ hostPath: place.directory, containerPath: '/place' }];
    const runs = await runContainer(first, podSandboxId, containerConfig(sleep));
    const script = 'mkfifo /place/fifo; echo x > /place/fifo; exit 6';
    const ends = await runContainer(
      first,
      podSandboxId,
      containerConfig(['/bin/busybox', 'sh', '-c', script], { mounts }),
    );
    const config = containerConfig(sleep);
    const created = (await first.createContainer({ podSandboxId, config, sandboxConfig: undefined }))
      .containerId;
    const before = await containerOf(first, runs);
    await inside(first, runs, `until test -p ${fifo}; do sleep 0.01; done`).catch(() => undefined);
    await first.close();
    await assert.rejects(first.listContainers({}), { code: 'UNAVAILABLE' });
    while (!fs.existsSync(fifo)) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(await fs.promises.readFile(fifo, 'utf8'), 'x\n');
    await untilShimGone(place, ends);

    const second = await open();
    assert.equal(await stateOf(second, podSandboxId), PodSandboxState.SANDBOX_READY);
    assert.deepEqual(await containerOf(second, runs), before);
    assert.equal((await containerOf(second, ends)).exitCode, 6);
    assert.equal((await containerOf(second, created)).state, ContainerState.CONTAINER_CREATED);
    await second.startContainer({ containerId: created });
    assert.equal(
      (await second.podSandboxStatus({ podSandboxId, verbose: false })).status?.network?.ip,
      '10.88.0.2',
    );
    await second.stopContainer({ containerId: runs, timeout: 0n });
    assert.equal((await containerOf(second, runs)).exitCode, 137);
  });

  test('after a reboot: not ready, ended in an unknown way, and removable', async () => {
    const { open, place, network } = makeWorld();
    const bootIdFile = path.join(place.directory, 'boot_id');
    fs.writeFileSync(bootIdFile, 'boot-1');
    const first = await open({ bootIdFile });
    const podSandboxId = await runSandbox(first, sandboxConfig(place));
    const container = await runContainer(first, podSandboxId, containerConfig(sleep));
    const pids = [
      (await verboseOf(first, podSandboxId))['holder'],
      (await first.containerStatus({ containerId: container, verbose: true })).info['pid'],
    ];
    await first.close();
    for (const pid of pids) process.kill(Number(pid), 'SIGKILL');
    while (pids.some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 10));
    await untilShimGone(place, container);
    // The output of a shim before the power went is lost with it here, as if it had not got so far.
    const directory = path.join(place.state, 'containers', container);
    const state = fs.readFileSync(path.join(directory, 'state'), 'utf8');
    fs.writeFileSync(path.join(directory, 'state'), state.replace(/\nexit[^]*/, '\n'));
    fs.writeFileSync(bootIdFile, 'boot-2');

    const second = await open({ bootIdFile });
    assert.equal(await stateOf(second, podSandboxId), PodSandboxState.SANDBOX_NOTREADY);
    const { state: now, exitCode, reason } = await containerOf(second, container);
    assert.deepEqual([now, exitCode, reason], [ContainerState.CONTAINER_EXITED, 255, 'Unknown']);
    await second.removePodSandbox({ podSandboxId });
    const last = network.calls.at(-1);
    assert.equal(last?.verb, 'tearDown');
    assert.equal(last?.pod?.netns, undefined);
    assert.deepEqual(leftovers(place), []);
  });

  test('a garbage collection that hangs does not outlive the runtime', async () => {
    const { place, network, open } = makeWorld();
    const first = await open();
    await runSandbox(first, sandboxConfig(place));
    await first.close();
    const release = network.hold('collectGarbage');
    await (await open()).close();
    release();
    assert.equal(network.calls.find((call) => call.verb === 'collectGarbage')?.options.signal?.aborted, true);
  });

  test('does not get the directory while another one has it', async () => {
    const { open } = makeWorld();
    const first = await open();
    await assert.rejects(open(), { code: 'FAILED_PRECONDITION', message: /another process/ });
    await first.close();
    await (await open()).close();
  });
});

test('statistics are those of the processes', async () => {
  const { open, place } = makeWorld();
  const runtime = await open();
  const podSandboxId = await runSandbox(runtime, sandboxConfig(place));
  const script =
    'head -c 3000000 /dev/zero > /big; x=0; while [ $x -lt 60000 ]; do x=$((x+1)); done; sleep 1000; :';
  const id = await runContainer(runtime, podSandboxId, containerConfig(['/bin/busybox', 'sh', '-c', script]));
  await inside(runtime, id, 'until ps | grep -q "[s]leep 1000$"; do sleep 0.02; done');
  const { stats } = await runtime.containerStats({ containerId: id });
  assert.ok((stats?.cpu?.usageCoreNanoSeconds?.value ?? 0n) > 0n);
  assert.ok((stats?.memory?.rssBytes?.value ?? 0n) > 100_000n);
  assert.ok((stats?.writableLayer?.usedBytes?.value ?? 0n) >= 3_000_000n);
  const pod = (await runtime.podSandboxStats({ podSandboxId })).stats?.linux;
  assert.equal(pod?.process?.processCount?.value, 2n);
  assert.equal(pod?.network?.interfaces[0]?.name, 'lo');
});

test('the status says what it is for, and whether there is a network', async () => {
  const { open, network } = makeWorld();
  const runtime = await open();
  const conditions = async () => (await runtime.status({ verbose: false })).status?.conditions ?? [];
  assert.match(
    (await conditions())[0]?.message ?? '',
    /for trying Podwire out and for tests: no images, no limits/,
  );
  network.setProblem('no configuration');
  assert.deepEqual(
    (await conditions()).map(({ type, status }) => [type, status]),
    [
      ['RuntimeReady', true],
      ['NetworkReady', false],
    ],
  );
});
