/** Logs, exec, attach and port-forward. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Duplex, PassThrough, Readable } from 'node:stream';
import { NamespaceMode } from '@podwire/cri';
import { openExec, type StreamCall, type TerminalSize } from '@podwire/cri-streaming';
import { createNativeRuntime, type EmbeddedRuntime } from '@podwire/cri-native';
import { bringLinkUp, inNamespace, openNamespace } from '@podwire/linux';
import { createFakePodNetwork } from '@podwire/pod-network/fake';
import {
  buildPauseProgram,
  closePlace,
  containerConfig,
  createDirectories,
  pauseProgram,
  inside,
  type Place,
  processesNaming,
  runContainer,
  runSandbox,
  sandboxConfig,
  untilExited,
  withDescriptorsLeft,
} from './fixture.js';

let place: Place;
let runtime: EmbeddedRuntime;
let sandbox: string;
let sleeper: string;

before(async () => {
  buildPauseProgram();
  place = createDirectories();
  const { state: directory, netns: netnsDirectory } = place;
  const network = createFakePodNetwork();
  runtime = await createNativeRuntime({ directory, netnsDirectory, network, pauseProgram });
  sandbox = await runSandbox(runtime, sandboxConfig(place));
  sleeper = await runContainer(runtime, sandbox, containerConfig(['/bin/busybox', 'sleep', '1000']));
});

after(() => closePlace(place, runtime, sandbox));

const shell = (script: string): string[] => ['/bin/busybox', 'sh', '-c', script];

async function* noSizes(): AsyncGenerator<TerminalSize> {
  /* none */
}

interface Heard extends StreamCall {
  readonly out: () => string;
  readonly err: () => string;
  /** Resolves when standard output, or what is named, matches: what was written last comes a turn later. */
  readonly until: (pattern: RegExp, of?: 'stdout' | 'stderr') => Promise<void>;
}

/** After that what a test waits for will not come: it fails with what came instead, and does not hang. */
const PATIENCE_MILLISECONDS = 30_000;
/** Of a suite, whatever it waits for. */
const limited = { timeout: 4 * PATIENCE_MILLISECONDS };

/** A client's end. */
function client(fields: Partial<StreamCall> = {}): Heard {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let [out, err] = ['', ''];
  stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const { signal } = new AbortController();
  const until = async (pattern: RegExp, of: 'stdout' | 'stderr' = 'stdout'): Promise<void> => {
    const enough = AbortSignal.timeout(PATIENCE_MILLISECONDS);
    const [stream, heard] = of === 'stdout' ? [stdout, () => out] : [stderr, () => err];
    try {
      while (!pattern.test(heard())) await once(stream, 'data', { signal: enough });
    } catch (cause) {
      throw new Error(`${String(pattern)} did not come, only ${JSON.stringify(heard())}`, { cause });
    }
  };
  return {
    tty: false,
    sizes: noSizes(),
    signal,
    stdout,
    stderr,
    ...fields,
    out: () => out,
    err: () => err,
    until,
  };
}

describe('logs', limited, () => {
  const logOf = (name: string): string[] =>
    fs.readFileSync(path.join(place.logs, name), 'utf8').trimEnd().split('\n');

  test('lines of both streams, lines that are too long in parts, and what has no end of line', async () => {
    const config = containerConfig(
      shell('echo one; echo two >&2; head -c 20000 /dev/zero | tr "\\0" x; echo; printf tail'),
    );
    await untilExited(runtime, await runContainer(runtime, sandbox, config));
    const lines = logOf(config.logPath).map((line) => {
      const [time, stream, tag, ...text] = line.split(' ');
      assert.match(time ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/);
      return `${stream} ${tag} ${text.join(' ').replace(/x+/, (xs) => String(xs.length))}`;
    });
    const own = lines.filter((line) => line.startsWith('stdout'));
    assert.deepEqual(own, ['stdout F one', 'stdout P 16384', 'stdout F 3616', 'stdout P tail']);
    assert.deepEqual(
      lines.filter((line) => line.startsWith('stderr')),
      ['stderr F two'],
    );
  });

  test('a log that was moved away goes on in a new file', async () => {
    const config = containerConfig(shell('while read line; do echo $line; done'), { stdin: true });
    const id = await runContainer(runtime, sandbox, config);
    const file = path.join(place.logs, config.logPath);
    const [input, caller] = [new PassThrough(), client()];
    const attached = runtime.streamingHandlers.attach(id, { ...caller, stdin: input });
    input.write('before\n');
    await caller.until(/before/);
    fs.renameSync(file, `${file}.1`);
    await runtime.reopenContainerLog({ containerId: id });
    input.write('after\n');
    await caller.until(/after/);
    input.end();
    await attached;
    assert.match(fs.readFileSync(`${file}.1`, 'utf8'), /F before\n$/);
    assert.match(fs.readFileSync(file, 'utf8'), /^[^\n]* F after\n$/);
  });

  test('a log that cannot be opened is told', async () => {
    const config = containerConfig(['/bin/busybox', 'sleep', '1000'], { logPath: 'gone/container.log' });
    const id = await runContainer(runtime, sandbox, config);
    fs.rmSync(path.join(place.logs, 'gone'), { recursive: true });
    await assert.rejects(runtime.reopenContainerLog({ containerId: id }), /ENOENT/);
    await runtime.removeContainer({ containerId: id });
    await assert.rejects(runtime.reopenContainerLog({ containerId: id }), /no container/);
  });
});

describe('exec', limited, () => {
  test('many bytes go in and come out while the other way is full too', async () => {
    const bytes = Buffer.alloc(3_000_000, 'abcdefg\n');
    const parts: Buffer[] = [];
    const stdout = new PassThrough();
    stdout.on('data', (part: Buffer) => parts.push(part));
    const call = { ...client(), stdin: Readable.from([bytes]), stdout };
    assert.equal(await runtime.streamingHandlers.exec(sleeper, shell('cat; exit 3'), call), 3);
    const enough = { signal: AbortSignal.timeout(PATIENCE_MILLISECONDS) };
    while (Buffer.concat(parts).length < bytes.length) await once(stdout, 'data', enough);
    assert.equal(Buffer.concat(parts).equals(bytes), true);
  });

  test('exit codes, signals and programs that are not there', async () => {
    const exec: typeof runtime.streamingHandlers.exec = (...call) => runtime.streamingHandlers.exec(...call);
    assert.equal(await exec(sleeper, shell('exit 42'), client()), 42);
    assert.equal(await exec(sleeper, shell('kill -9 $$'), client()), 137);
    const missing = /exec: "\/no\/such": executable file not found/;
    await assert.rejects(exec(sleeper, ['/no/such'], client()), missing);
    await assert.rejects(runtime.execSync({ containerId: sleeper, cmd: ['/no/such'], timeout: 5n }), missing);
    for (const program of ['/etc', '/etc/passwd'])
      await assert.rejects(exec(sleeper, [program], client()), /exec: "\/etc.*": permission denied/);
  });

  test('with a terminal: its size, as it changes, and no stderr of its own', async () => {
    const sizes = new PassThrough({ objectMode: true });
    const stdin = new PassThrough();
    const caller = client({ tty: true, sizes: sizes as AsyncIterable<TerminalSize>, stdin });
    sizes.write({ width: 91, height: 23 });
    const script = 'tty; trap "stty size" WINCH; echo ready >&2; while :; do sleep 0.05; done';
    const ended = runtime.streamingHandlers.exec(sleeper, shell(script), caller);
    await caller.until(/\/dev\/pts\/\d+\r\nready/);
    sizes.write({ width: 120, height: 40 });
    await caller.until(/40 120/);
    stdin.write('\u0003'); // the terminal makes a signal of it
    assert.equal(await ended, 130);
    assert.equal(caller.err(), '');
  });

  test('a timeout kills the program with its group, and says so', async () => {
    const mark = `${place.directory}/mark-timeout`;
    const cmd = shell(`: ${mark}; sleep 1000 & sleep 1000`);
    await assert.rejects(runtime.execSync({ containerId: sleeper, cmd, timeout: 1n }), {
      code: 'DEADLINE_EXCEEDED',
    });
    assert.deepEqual(processesNaming(mark), []);
    assert.doesNotMatch(await inside(runtime, sleeper, 'ps'), /sleep 1000 &/);
  });

  test('a client that goes away takes its program with it', async () => {
    const [gone, caller] = [new AbortController(), client()];
    const script = `: ${place.directory}/mark-gone; echo up; sleep 1000`;
    const call = { ...caller, signal: gone.signal };
    const ended = runtime.streamingHandlers.exec(sleeper, shell(script), call);
    await caller.until(/up/);
    gone.abort();
    assert.equal(await ended, 137);
    assert.deepEqual(processesNaming('mark-gone'), []);
  });

  test('a client that stands still and then goes away does not hold the end up', async () => {
    const [gone, stdout] = [new AbortController(), new PassThrough()];
    const call = { ...client(), stdout, signal: gone.signal };
    const ended = runtime.streamingHandlers.exec(sleeper, ['/bin/busybox', 'yes'], call);
    while (stdout.writableLength < stdout.writableHighWaterMark) await new Promise(setImmediate);
    gone.abort();
    assert.equal(await ended, 137);
  });

  test('goes with its container, also where that has no PID namespace of its own', async () => {
    const namespaceOptions = { pid: NamespaceMode.NODE };
    const fields = { linux: { securityContext: { namespaceOptions } } };
    const config = containerConfig(['/bin/busybox', 'sleep', '1000'], fields);
    const id = await runContainer(runtime, sandbox, config);
    const caller = client();
    const script = `: ${place.directory}/mark-orphan; echo up; sleep 1000`;
    const ended = runtime.streamingHandlers.exec(id, shell(script), caller);
    await caller.until(/up/);
    await runtime.removeContainer({ containerId: id });
    assert.equal(await ended, 137);
    assert.deepEqual(processesNaming('mark-orphan'), []);
  });

  test('without descriptors left it fails, and nothing else does', async () => {
    const files = (): string[] => fs.readdirSync(path.join(place.state, 'containers', sleeper));
    const before = files();
    const call = { ...client(), stdin: Readable.from(['x']) };
    const [one, two] = await withDescriptorsLeft(4, () =>
      Promise.allSettled([
        runtime.execSync({ containerId: sleeper, cmd: shell('true'), timeout: 5n }),
        runtime.streamingHandlers.exec(sleeper, shell('true'), call),
      ]),
    );
    for (const outcome of [one, two])
      assert.match(String((outcome as PromiseRejectedResult).reason), /EMFILE/);
    assert.deepEqual(files(), before);
  });

  test('a program that leaves one behind which holds the streams has ended all the same', async () => {
    const { exitCode } = await runtime.execSync({
      containerId: sleeper,
      cmd: shell('sleep 5 & exit 6'),
      timeout: 4n,
    });
    assert.equal(exitCode, 6);
  });

  test('a streaming server that could not be started is tried again', async () => {
    const request = { containerId: sleeper, cmd: shell('true'), tty: false, stdin: false };
    const ask = () => runtime.exec({ ...request, stdout: true, stderr: true });
    await assert.rejects(withDescriptorsLeft(0, ask), /EMFILE/);
    assert.match((await ask()).url, /^http:/);
  });

  test('over the streaming server', async () => {
    const request = { containerId: sleeper, cmd: shell('cat; echo err >&2; exit 9') };
    const { url } = await runtime.exec({ ...request, tty: false, stdin: true, stdout: true, stderr: true });
    const { stdout, stderr, until, out: heard, err } = client();
    const streams = { stdin: Readable.from(['through']), ...(stdout && stderr ? { stdout, stderr } : {}) };
    assert.equal(await openExec(url, streams), 9);
    await until(/through/);
    await until(/err/, 'stderr');
    assert.deepEqual([heard(), err()], ['through', 'err\n']);
  });
});

/** Stands still until the container's program has ended: meanwhile this process reads nothing of what it wrote. */
function blockUntilEnded(id: string): void {
  const file = path.join(place.state, 'containers', id, 'state');
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (let left = 20_000; !/^exit /m.test(fs.readFileSync(file, 'utf8')); left -= 1) {
    assert.ok(left > 0, 'the program does not end');
    Atomics.wait(clock, 0, 0, 1);
  }
  // For a shim that would just go then, as it once did, this is long enough to be gone.
  Atomics.wait(clock, 0, 0, 50);
}

describe('attach', limited, () => {
  test('output comes to all who are attached; input ends once for a program that wants it so', async () => {
    const config = containerConfig(shell('echo hello; cat; echo bye >&2'), { stdin: true, stdinOnce: true });
    const id = await runContainer(runtime, sandbox, config);
    const [one, two] = [client(), client()];
    const stdin = new PassThrough();
    const both = [
      runtime.streamingHandlers.attach(id, { ...one, stdin }),
      runtime.streamingHandlers.attach(id, two),
    ];
    stdin.write('to both\n');
    await Promise.all([one.until(/to both/), two.until(/to both/)]);
    stdin.end();
    await Promise.all(both);
    await one.until(/bye/, 'stderr');
    assert.equal((await untilExited(runtime, id)).exitCode, 0);
  });

  test('a program with a terminal, from the start to its end', async () => {
    const config = containerConfig(shell('tty; read line; echo "got $line"; stty size'), {
      stdin: true,
      tty: true,
    });
    const id = await runContainer(runtime, sandbox, config);
    const sizes = new PassThrough({ objectMode: true });
    sizes.write({ width: 77, height: 33 });
    const [stdin, caller] = [
      new PassThrough(),
      client({ tty: true, sizes: sizes as AsyncIterable<TerminalSize> }),
    ];
    const attached = runtime.streamingHandlers.attach(id, { ...caller, stdin });
    stdin.write('a line\n');
    await attached;
    await caller.until(/got a line\r\n33 77/);
    assert.match(fs.readFileSync(path.join(place.logs, config.logPath), 'utf8'), /stdout F \/dev\/pts\/0/);
  });

  test('who still sends after the end of the program hears all that it wrote', async () => {
    const script = 'while read line; do echo "$line"; [ "$line" = last ] && exit; done';
    const id = await runContainer(runtime, sandbox, containerConfig(shell(script), { stdin: true }));
    const [stdin, caller] = [new PassThrough(), client()];
    const attached = runtime.streamingHandlers.attach(id, { ...caller, stdin });
    stdin.write('first\n');
    await caller.until(/first/);
    stdin.write('last\n');
    await new Promise(setImmediate); // it is on its way now
    blockUntilEnded(id);
    stdin.write('late\n');
    await attached;
    await caller.until(/last/);
  });

  test('a program that does not read holds its client up, and nothing else', async () => {
    const config = containerConfig(['/bin/busybox', 'sleep', '1000'], { stdin: true });
    const id = await runContainer(runtime, sandbox, config);
    const stdin = new PassThrough();
    const attached = runtime.streamingHandlers.attach(id, { ...client(), stdin });
    const taken = once(stdin, 'drain'); // so it is attached
    stdin.write(Buffer.alloc(2_000_000));
    await taken;
    await runtime.reopenContainerLog({ containerId: id });
    await runtime.stopContainer({ containerId: id, timeout: 0n });
    await attached;
    stdin.destroy();
  });

  test('a client that is gone before it is served is let go', async () => {
    const call = { ...client(), signal: AbortSignal.abort(new Error('gone')) };
    await assert.rejects(runtime.streamingHandlers.attach(sleeper, call), /gone/);
    const gone = new AbortController();
    const late = runtime.streamingHandlers.attach(sleeper, { ...client(), signal: gone.signal });
    gone.abort(new Error('gone'));
    await assert.rejects(late, /gone/);
  });

  test('a client that leaves disturbs no other client', async () => {
    const config = containerConfig(shell('while :; do echo line; sleep 0.01; done'));
    const id = await runContainer(runtime, sandbox, config);
    const [leaves, stays, gone] = [client(), client(), new AbortController()];
    const first = runtime.streamingHandlers.attach(id, { ...leaves, signal: gone.signal });
    const second = runtime.streamingHandlers.attach(id, stays);
    await leaves.until(/line/);
    gone.abort();
    await first;
    const before = stays.out().length;
    while (stays.out().length < before + 100) await once(stays.stdout ?? new PassThrough(), 'data');
    await runtime.removeContainer({ containerId: id });
    await second;
  });
});

describe('port-forward', limited, () => {
  const loopbackUp = (): void => {
    const [file = ''] = fs.readdirSync(place.netns);
    const namespace = openNamespace(path.join(place.netns, file));
    inNamespace(namespace, () => bringLinkUp('lo'));
    namespace.close();
  };

  /** Both ends of a connection of this process. */
  async function pair(): Promise<{ near: net.Socket; far: Duplex; close: () => void }> {
    const server = net.createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const near = net.connect({ port: (server.address() as net.AddressInfo).port, allowHalfOpen: true });
    const [far] = (await once(server, 'connection')) as [net.Socket];
    return { near, far, close: () => server.close() };
  }

  for (const [family, address] of [
    ['IPv4', '127.0.0.1'],
    ['IPv6', '[::1]'],
  ] as const)
    test(`reaches a program that listens on localhost of the pod, ${family}`, async () => {
      loopbackUp();
      const command = ['/bin/busybox', 'httpd', '-f', '-p', `${address}:4321`, '-h', '/etc'];
      const id = await runContainer(runtime, sandbox, containerConfig(command));
      await inside(runtime, id, 'until netstat -ltn | grep -q :4321; do sleep 0.02; done');
      const { near, far, close } = await pair();
      const forwarded = runtime.streamingHandlers.portForward(
        sandbox,
        4321,
        far,
        new AbortController().signal,
      );
      near.write('GET /hostname HTTP/1.0\r\n\r\n');
      const parts = await near.toArray();
      assert.match(Buffer.concat(parts as Buffer[]).toString(), /^HTTP\/1\.. 200[^]*pod\d+\n$/);
      near.end();
      await forwarded;
      close();
      await runtime.removeContainer({ containerId: id });
    });

  test('a port without a listener is reported', async () => {
    const { near, far, close } = await pair();
    await assert.rejects(
      runtime.streamingHandlers.portForward(sandbox, 4999, far, new AbortController().signal),
      { code: 'UNAVAILABLE', message: /ECONNREFUSED/ },
    );
    near.destroy();
    far.destroy();
    close();
  });
});
