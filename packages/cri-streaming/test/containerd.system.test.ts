/** The streaming client against the streaming server of containerd 1.6, which is the kubelet's, over both of its protocols. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { connectCri, type CriConnection } from '@podwire/cri';
import * as cri from '@podwire/cri';
import type { Transport } from '@podwire/cri-streaming';
import { createPrivateHost, type PrivateHost } from '@podwire/testkit';
import { busyboxImage, startContainerd } from '@podwire/testkit/containerd';
import type { CommandJob, CommandResult, ForwardJob, Outcome } from './inside.js';

let host: PrivateHost;
let runtime: CriConnection;
let sandbox: string;
let container: string;
const spec = { name: 'stream' };

before(async () => {
  host = await createPrivateHost({ name: 'strm' });
  const confDir = path.join(host.directory, 'net.d');
  fs.mkdirSync(confDir);
  fs.writeFileSync(path.join(confDir, '10-debian.conflist'), JSON.stringify(bridgeNetwork(host.directory)));
  const containerd = await startContainerd(host, { binDir: '/usr/lib/cni', confDir });
  runtime = await connectCri({ socket: containerd.socket });
  host.defer(() => runtime.close());
  sandbox = await containerd.cri.runSandbox(spec);
  const waiting = { name: 'main', image: busyboxImage, command: ['sleep', '100000'] };
  container = await containerd.cri.runContainer(sandbox, waiting, spec);
});
after(() => host.close());

const bridgeNetwork = (directory: string): object => ({
  cniVersion: '0.4.0',
  name: 'debian',
  plugins: [
    {
      type: 'bridge',
      bridge: 'cni0',
      isGateway: true,
      ipam: {
        type: 'host-local',
        dataDir: path.join(directory, 'host-local'),
        ranges: [[{ subnet: '10.88.0.0/24' }]],
      },
    },
  ],
});

/** containerd's streaming server listens on the private host's loopback. */
async function inside<T>(job: CommandJob | ForwardJob): Promise<T> {
  const program = path.join(import.meta.dirname, 'inside.js');
  const output = await host.run([process.execPath, program, JSON.stringify(job)]);
  return JSON.parse(output) as T;
}

async function exec(
  cmd: readonly string[],
  job: Omit<CommandJob, 'kind' | 'url'>,
): Promise<Outcome<CommandResult>> {
  const { url } = await runtime.exec(
    cri.ExecRequest.fromPartial({
      containerId: container,
      cmd,
      tty: job.tty === true,
      stdin: job.stdin !== undefined,
      stdout: true,
      stderr: job.stderr === true,
    }),
  );
  return inside({ kind: 'exec', url, ...job });
}

const both: readonly Transport[] = ['websocket', 'spdy'];

for (const transport of both) {
  test(`exec over ${transport}: output, errors and the exit code`, async () => {
    const result = await exec(['sh', '-c', 'echo out; echo err >&2; exit 3'], {
      stderr: true,
      transports: [transport],
    });
    assert.ok('exitCode' in result, JSON.stringify(result));
    assert.deepEqual([result.exitCode, result.stdout, result.stderr], [3, 'out\n', 'err\n']);
  });

  test(`exec over ${transport}: a program that cannot be found`, async () => {
    const result = await exec(['/no/such/program'], { stderr: true, transports: [transport] });
    assert.ok('error' in result);
    // The words by which `podwire exec` knows what happened, and ends with 127 or 126.
    assert.match(result.error, /exec: "\/no\/such\/program": stat .*: no such file or directory/);
    const directory = await exec(['/etc'], { stderr: true, transports: [transport] });
    assert.ok('error' in directory);
    assert.match(directory.error, /exec: "\/etc": (permission denied|is a directory)/);
  });

  test(`exec over ${transport}: the terminal has the client's size`, async () => {
    const script =
      'until [ "$(busybox stty size 2>&1)" = "43 132" ]; do busybox usleep 10000; done; echo done; exit 5';
    const result = await exec(['sh', '-c', script], {
      tty: true,
      transports: [transport],
      // Without stdin, containerd ends a terminal's output at once over WebSocket.
      stdin: '',
      keepOpen: true,
      sizes: [{ width: 132, height: 43 }],
    });
    assert.ok('exitCode' in result, JSON.stringify(result));
    assert.deepEqual([result.exitCode, result.stdout], [5, 'done\r\n']);
  });

  test(`port-forward over ${transport}`, async () => {
    const serve = ['sh', '-c', 'echo page > /www/index.html; httpd -p 80 -h /www'];
    await exec(serve, { stderr: true });
    const { url } = await runtime.portForward(
      cri.PortForwardRequest.fromPartial({ podSandboxId: sandbox, port: [80] }),
    );
    const times = transport === 'spdy' ? 20 : 1;
    const request = 'GET / HTTP/1.0\r\n\r\n';
    const answers = await inside<Outcome<string[]>>({
      kind: 'forward',
      url,
      transport,
      port: 80,
      request,
      times,
    });
    assert.ok(Array.isArray(answers), JSON.stringify(answers));
    assert.equal(answers.length, times);
    for (const answer of answers) assert.match(answer, /^HTTP\/1\.[01] 200 OK[^]*\r\n\r\npage\n$/);
  });

  test(`port-forward over ${transport}: nothing listens`, async () => {
    const { url } = await runtime.portForward(
      cri.PortForwardRequest.fromPartial({ podSandboxId: sandbox, port: [81] }),
    );
    const outcome = await inside<Outcome<string[]>>({
      kind: 'forward',
      url,
      transport,
      port: 81,
      request: '',
    });
    assert.ok('error' in outcome, JSON.stringify(outcome));
    assert.match(outcome.error, /connection refused/);
  });
}

test('exec with input: 20 MiB there and back, and the end of the input reaches the program', async () => {
  const result = await exec(['cat'], { stdin: 20 << 20, stderr: true });
  assert.ok('exitCode' in result, JSON.stringify(result));
  assert.equal(result.exitCode, 0);
  assert.equal(result.digests[0], result.digests[1]);
});

test('exec with input over WebSocket: all arrives, where the program knows its end', async () => {
  const result = await exec(['sh', '-c', 'read line; echo "got $line"'], {
    stdin: 'a line\n',
    keepOpen: true,
    transports: ['websocket'],
  });
  assert.ok('exitCode' in result, JSON.stringify(result));
  assert.deepEqual([result.exitCode, result.stdout], [0, 'got a line\n']);
});

test('attach: the program reads what is typed and ends', async () => {
  const config = cri.ContainerConfig.fromPartial({
    metadata: { name: 'attached' },
    image: { image: busyboxImage },
    command: ['sh', '-c', 'read line; echo "got $line"'],
    stdin: true,
    stdinOnce: true,
  });
  const sandboxConfig = cri.PodSandboxConfig.fromPartial({
    metadata: { name: spec.name, namespace: 'default', uid: 'uid-stream' },
    linux: {},
  });
  const { containerId } = await runtime.createContainer(
    cri.CreateContainerRequest.fromPartial({ podSandboxId: sandbox, config, sandboxConfig }),
  );
  await runtime.startContainer(cri.StartContainerRequest.fromPartial({ containerId }));
  const { url } = await runtime.attach(
    cri.AttachRequest.fromPartial({ containerId, stdin: true, stdout: true, stderr: true }),
  );
  const result = await inside<Outcome<CommandResult>>({
    kind: 'attach',
    url,
    stdin: 'a line\n',
    stderr: true,
  });
  assert.ok('exitCode' in result, JSON.stringify(result));
  assert.equal(result.stdout, 'got a line\n');
});
