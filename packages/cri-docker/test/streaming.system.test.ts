/** Programs and ports of pods through the streams of the interface, and what is written about them. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { Duplex, PassThrough } from 'node:stream';
import { after, before, test } from 'node:test';
import { ContainerConfig, ContainerEventType, type ContainerEventResponse } from '@podwire/cri';
import { createSandboxService, type SandboxService } from '@podwire/cri-docker';
import { openExec, type StreamCall, type TerminalSize } from '@podwire/cri-streaming';
import { eventually } from '@podwire/testkit';
import { busyboxImage, pauseImage } from '@podwire/testkit/containerd';
import { createSandboxHost, podConfig, type SandboxHost } from './support/harness.js';

let machine: SandboxHost;
/** A second one beside that of the machine: its handlers are called as the streaming server calls them. */
let service: SandboxService;
let sandboxId = '';
let containerId = '';
let logFile = '';

before(async () => {
  machine = await createSandboxHost({ name: 'str' });
  const logDirectory = path.join(machine.host.directory, 'logs');
  const config = podConfig('shell', { logDirectory });
  logFile = path.join(logDirectory, 'main.log');
  ({ podSandboxId: sandboxId } = await machine.cri.runPodSandbox({ config, runtimeHandler: '' }));
  containerId = await start(
    'main',
    ['/bin/sh', '-c', 'while read line; do echo "got $line"; done; sleep 1000'],
    true,
  );
  service = await createSandboxService({
    docker: machine.docker.socket,
    root: machine.root, // else the pods were none of its business
    network: fakeNetwork(),
    sandboxImage: pauseImage,
    netnsDirectory: machine.netnsDirectory,
  });
});
after(async () => {
  await service.close();
  await machine.close();
});

/** Knows every sandbox, so that the second service leaves them alone. */
function fakeNetwork(): Parameters<typeof createSandboxService>[0]['network'] {
  const status = { ready: true, reason: '', message: '' };
  return {
    setUp: () => Promise.reject(new Error('not here')),
    tearDown: () => Promise.resolve(),
    addresses: () => Promise.resolve(['192.0.2.1']),
    status: () => status,
    explain: () => Promise.resolve({ directory: '', files: [], lookedAt: 0, status }),
    setPodCidrs: () => undefined,
    collectGarbage: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

async function start(name: string, command: string[], stdin = false, tty = false): Promise<string> {
  const config = ContainerConfig.fromPartial({
    metadata: { name },
    image: { image: busyboxImage },
    ...{ command, stdin, tty },
    logPath: `${name}.log`,
  });
  const logDirectory = path.join(machine.host.directory, 'logs');
  const created = await machine.cri.createContainer({
    podSandboxId: sandboxId,
    config,
    sandboxConfig: podConfig('shell', { logDirectory }),
  });
  await machine.cri.startContainer(created);
  return created.containerId;
}

interface TestCall extends StreamCall {
  readonly stdin: PassThrough;
  readonly text: () => string;
  readonly errors: () => string;
  readonly abort: AbortController;
}

function openCall(tty = false, sizes: readonly TerminalSize[] = []): TestCall {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const abort = new AbortController();
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  stdout.on('data', (chunk: Buffer) => out.push(chunk));
  stderr.on('data', (chunk: Buffer) => err.push(chunk));
  return {
    ...{ stdin, stdout, tty, abort, signal: abort.signal },
    ...(tty ? {} : { stderr }),
    sizes: (async function* () {
      for (const size of sizes) yield await Promise.resolve(size);
    })(),
    text: () => Buffer.concat(out).toString(),
    errors: () => Buffer.concat(err).toString(),
  };
}

test('exec has its input, both outputs apart and the exit code', async () => {
  const call = openCall();
  call.stdin.end('line one\n');
  const code = await service.streamingHandlers.exec(
    containerId,
    ['/bin/sh', '-c', 'cat; echo oops >&2; exit 4'],
    call,
  );
  assert.equal(code, 4);
  assert.equal(call.text(), 'line one\n');
  assert.equal(call.errors(), 'oops\n');
});

for (const transport of ['spdy', 'websocket'] as const) {
  test(`exec by the URL that is answered, over ${transport}`, async () => {
    const { stdout, stderr, text, errors } = openCall();
    const script = 'echo out; echo err >&2; exit 9';
    const { url } = await service.exec({
      ...{ containerId, cmd: ['/bin/sh', '-c', script], tty: false },
      ...{ stdin: false, stdout: true, stderr: true },
    });
    const streams = { stdout: stdout!, stderr: stderr!, transports: [transport] };
    assert.equal(await openExec(() => Promise.resolve(url), streams), 9);
    assert.deepEqual([text(), errors()], ['out\n', 'err\n']);
  });
}

test('exec says why a program does not start, and how a signal ended it', async () => {
  const exec = (...argv: string[]) => service.streamingHandlers.exec(containerId, argv, openCall());
  // The words by which `podwire exec` knows what happened, and ends with 127 or 126.
  await assert.rejects(exec('nosuch'), /exec: "nosuch": executable file not found/);
  await assert.rejects(exec('/etc'), /exec: "\/etc": (permission denied|is a directory)/);
  assert.equal(await exec('/bin/sh', '-c', 'kill -9 $$'), 137);
});

test('exec with a terminal has the size that the client’s has', async () => {
  const call = openCall(true, [{ width: 132, height: 43 }]);
  const script = 'while [ "$(/bin/busybox stty size)" != "43 132" ]; do sleep 0.05; done; echo sized';
  const code = await service.streamingHandlers.exec(containerId, ['/bin/sh', '-c', script], call);
  assert.equal(code, 0);
  assert.match(call.text(), /sized\r\n/);
});

test('a client that goes takes its program with it', async () => {
  const call = openCall();
  const work = service.streamingHandlers.exec(
    containerId,
    ['/bin/sh', '-c', 'echo up; exec sleep 987'],
    call,
  );
  await eventually('up', () => call.text() === 'up\n');
  call.abort.abort(new Error('gone'));
  await assert.rejects(work);
  await eventually('the program has ended', async () => {
    const { stdout } = await machine.cri.execSync({ containerId, cmd: ['/bin/busybox', 'ps'], timeout: 10n });
    return !Buffer.from(stdout).toString().includes('sleep 987');
  });
});

test('attach joins the container’s own program', async () => {
  const call = openCall();
  const work = service.streamingHandlers.attach(containerId, call);
  await eventually('it answers', () => {
    call.stdin.write('hello\n');
    return call.text().includes('got hello\n');
  });
  call.abort.abort();
  await work.catch(() => undefined);
  assert.match(fs.readFileSync(logFile, 'utf8'), /^\S+Z stdout F got hello$/m);
});

test('port-forward reaches what listens on localhost of the sandbox, and reports when nothing does', async () => {
  await start('server', ['/bin/nc', '-l', '-p', '7000', '-e', '/bin/cat']);
  const [toServer, fromServer] = [new PassThrough(), new PassThrough()];
  const both = Duplex.from({ readable: toServer, writable: fromServer });
  const chunks: Buffer[] = [];
  fromServer.on('data', (chunk: Buffer) => chunks.push(chunk));
  const { signal } = new AbortController();
  await eventually('it listens', async () => {
    const { stdout } = await machine.cri.execSync({
      containerId,
      cmd: ['/bin/cat', '/proc/net/tcp', '/proc/net/tcp6'],
      timeout: 10n,
    });
    return Buffer.from(stdout).toString().includes(':1B58 ');
  });
  const work = service.streamingHandlers.portForward(sandboxId, 7000, both, signal);
  toServer.end('through\n');
  await work;
  assert.equal(Buffer.concat(chunks).toString(), 'through\n');
  await assert.rejects(
    service.streamingHandlers.portForward(sandboxId, 7001, new PassThrough(), signal),
    /port 7001 of the sandbox: nothing listens/,
  );
});

test('a log goes on after a restart of the service, whole and without repetition', async () => {
  const id = await start('counter', [
    '/bin/sh',
    '-c',
    'i=0; while [ $i -lt 400 ]; do echo "line $i"; i=$((i+1)); sleep 0.01; done',
  ]);
  const file = path.join(machine.host.directory, 'logs', 'counter.log');
  await eventually('some lines', () => fs.readFileSync(file, 'utf8').split('\n').length > 40);
  await machine.service.kill9();
  // Half a line, as a crash leaves it.
  fs.appendFileSync(file, '2026-01-01T00:00:00.0');
  await new Promise((resolve) => setTimeout(resolve, 300));
  await machine.service.start();
  await eventually('all lines', () => fs.readFileSync(file, 'utf8').includes('line 399'));
  const lines = fs.readFileSync(file, 'utf8').trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => line.replace(/^\S+ stdout F /, '')),
    Array.from({ length: 400 }, (_, index) => `line ${index}`),
  );
  await machine.cri.removeContainer({ containerId: id });
});

test('a long line comes in parts, and a terminal’s output as one stream', async () => {
  const long = await start('long', [
    '/bin/sh',
    '-c',
    'head -c 40000 /dev/zero | tr "\\0" x; echo; echo end'
      .replaceAll('head', 'busybox head')
      .replaceAll('tr ', 'busybox tr '),
  ]);
  const file = path.join(machine.host.directory, 'logs', 'long.log');
  await eventually('end', () => fs.readFileSync(file, 'utf8').includes(' F end'));
  const parts = fs.readFileSync(file, 'utf8').trimEnd().split('\n').slice(0, -1);
  assert.deepEqual(
    parts.map((line) => line.split(' ')[2]),
    ['P', 'P', 'F'],
  );
  assert.equal(parts.map((line) => line.split(' ').slice(3).join(' ')).join(''), 'x'.repeat(40000));
  await start('tty', ['/bin/sh', '-c', 'echo out; echo err >&2'], false, true);
  const other = path.join(machine.host.directory, 'logs', 'tty.log');
  await eventually('err', () => fs.existsSync(other) && fs.readFileSync(other, 'utf8').includes('err'));
  assert.match(fs.readFileSync(other, 'utf8'), /^\S+Z stdout F out\r?\n\S+Z stdout F err\r?\n$/);
  await machine.cri.removeContainer({ containerId: long });
});

test('events say what becomes of a container', async () => {
  const abort = new AbortController();
  const events: ContainerEventResponse[] = [];
  const reading = (async () => {
    for await (const event of machine.cri.getContainerEvents({}, { signal: abort.signal }))
      events.push(event);
  })();
  // The stream has begun when the first thing that happens comes through.
  let id = '';
  await eventually('the stream runs', async () => {
    id = await start(`event${events.length}${Math.floor(performance.now())}`, ['/bin/sh', '-c', 'exit 5']);
    return events.length > 0;
  });
  await machine.cri.stopContainer({ containerId: id, timeout: 1n });
  await machine.cri.removeContainer({ containerId: id });
  const own = (): ContainerEventResponse[] => events.filter((event) => event.containerId === id);
  await eventually('deleted', () =>
    own().some((event) => event.containerEventType === ContainerEventType.CONTAINER_DELETED_EVENT),
  );
  const stopped = own().find(
    (event) => event.containerEventType === ContainerEventType.CONTAINER_STOPPED_EVENT,
  );
  assert.equal(stopped?.podSandboxStatus?.id, sandboxId);
  assert.ok((stopped?.createdAt ?? 0n) > 1_700_000_000_000_000_000n);
  abort.abort();
  await reading.catch(() => undefined);
});

test('statistics of the sandbox have its interfaces and containers', async () => {
  const { stats } = await machine.cri.podSandboxStats({ podSandboxId: sandboxId });
  assert.equal(stats?.linux?.network?.defaultInterface?.name, 'eth0');
  assert.ok((stats.linux.memory?.workingSetBytes?.value ?? 0n) > 0n);
  assert.ok(stats.linux.containers.some(({ attributes }) => attributes?.id === containerId));
});

test('resources of a running container are changed', async () => {
  await machine.cri.updateContainerResources({
    containerId,
    linux: {
      cpuPeriod: 100_000n,
      cpuQuota: 50_000n,
      cpuShares: 512n,
      memoryLimitInBytes: 64n << 20n,
      oomScoreAdj: 0n,
      cpusetCpus: '',
      cpusetMems: '',
      hugepageLimits: [],
      unified: {},
      memorySwapLimitInBytes: 0n,
    },
    annotations: {},
  });
  const found = await machine.docker.inspect(containerId);
  assert.equal(found?.HostConfig['CpuShares'], 512);
  assert.equal(found?.HostConfig['Memory'], 64 << 20);
});
