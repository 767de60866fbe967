import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createProcessExec, createRuntime, parseNetwork, type RuntimeOptions } from '../../src/index.js';

let directory: string;
beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'cni-run-'));
});
afterEach(() => fs.rmSync(directory, { recursive: true }));

const at = (...names: string[]) => path.join(directory, ...names);

/** Writes what it gets to `<command>.<plugin>.env` and `.stdin`, then goes on with the script. */
function recordingPlugin(name: string, script = ''): void {
  const record = `${directory}/$CNI_COMMAND.${name}`;
  fs.writeFileSync(
    at(name),
    `#!/bin/sh
env | grep -E '^(CNI_|TRACE|KEPT)' | sort >${record}.env
cat >${record}.stdin
${script}
case $CNI_COMMAND in
ADD) echo '{"cniVersion":"1.1.0","interfaces":[{"name":"${name}"}]}' ;;
VERSION) echo '{"cniVersion":"1.1.0","supportedVersions":["1.0.0","1.1.0"]}' ;;
esac
`,
    { mode: 0o755 },
  );
}

const runtimeOf = (options: Partial<RuntimeOptions> = {}) =>
  createRuntime({
    pluginPath: [at('nothing-here'), directory],
    cacheDir: at('cache'),
    durable: false,
    env: { PATH: '/usr/bin:/bin', KEPT: 'yes', CNI_NETNS: 'must not leak', CNI_COMMAND: 'must not leak' },
    ...options,
  });

const network = parseNetwork(
  JSON.stringify({
    cniVersion: '1.1.0',
    name: 'net',
    plugins: [
      { type: 'alpha', key: 1 },
      { type: 'beta', capabilities: { portMappings: true } },
    ],
  }),
);
const pod = {
  containerId: 'pod',
  interfaceName: 'eth0',
  netns: '/run/netns/pod',
  args: [
    ['IgnoreUnknown', '1'],
    ['K8S_POD_NAME', 'web'],
  ],
  capabilityArgs: { portMappings: [{ hostPort: 80 }] },
} as const;

const environment = (command: string, attachment = true) =>
  [
    attachment ? 'CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAME=web' : 'CNI_ARGS=',
    `CNI_COMMAND=${command}`,
    `CNI_CONTAINERID=${attachment ? 'pod' : ''}`,
    `CNI_IFNAME=${attachment ? 'eth0' : ''}`,
    `CNI_NETNS=${attachment ? '/run/netns/pod' : ''}`,
    `CNI_PATH=${at('nothing-here')}:${directory}`,
    'KEPT=yes',
    'TRACEPARENT=00-ab-cd-01',
  ].join('\n') + '\n';

test('every command: environment and standard input as the specification has them', async () => {
  recordingPlugin('alpha');
  recordingPlugin('beta');
  const runtime = runtimeOf();
  const options = { env: { TRACEPARENT: '00-ab-cd-01' } };
  await runtime.add(network, pod, options);
  await runtime.check(network, pod, options);
  await runtime.del(network, pod, options);
  await runtime.gc(network, [{ containerId: 'pod', interfaceName: 'eth0' }], options);
  await runtime.status(network, options);
  expect(await runtime.validate(network, options)).toEqual(['portMappings']);

  const envOf = (name: string) => fs.readFileSync(at(`${name}.env`), 'utf8');
  const stdinOf = (name: string) => JSON.parse(fs.readFileSync(at(`${name}.stdin`), 'utf8')) as unknown;
  for (const command of ['ADD', 'CHECK', 'DEL']) {
    expect(envOf(`${command}.alpha`)).toBe(environment(command));
    expect(envOf(`${command}.beta`)).toBe(environment(command));
  }
  for (const command of ['GC', 'STATUS']) expect(envOf(`${command}.beta`)).toBe(environment(command, false));

  const alpha = { type: 'alpha', key: 1, cniVersion: '1.1.0', name: 'net' };
  const beta = { type: 'beta', cniVersion: '1.1.0', name: 'net' };
  const runtimeConfig = { portMappings: [{ hostPort: 80 }] };
  const [first, last] = ['alpha', 'beta'].map((name) => ({ cniVersion: '1.1.0', interfaces: [{ name }] }));
  const list = [{ containerID: 'pod', ifname: 'eth0' }];
  const valid = { 'cni.dev/valid-attachments': list, 'cni.dev/attachments': list };
  expect(stdinOf('ADD.alpha')).toEqual(alpha);
  expect(stdinOf('ADD.beta')).toEqual({ ...beta, runtimeConfig, prevResult: first });
  for (const command of ['CHECK', 'DEL']) {
    expect(stdinOf(`${command}.alpha`)).toEqual({ ...alpha, prevResult: last });
    expect(stdinOf(`${command}.beta`)).toEqual({ ...beta, runtimeConfig, prevResult: last });
  }
  expect(stdinOf('GC.alpha')).toEqual({ ...alpha, ...valid });
  expect(stdinOf('GC.beta')).toEqual({ ...beta, ...valid });
  expect(stdinOf('STATUS.beta')).toEqual(beta);
  expect(stdinOf('VERSION.beta')).toEqual({ cniVersion: '1.1.0' });
});

describe('a plugin that hangs with a child that holds a lock', () => {
  test('is ended as a group when the deadline passes, DEL follows, and the lock is free', async () => {
    recordingPlugin('alpha');
    recordingPlugin(
      'beta',
      `if [ $CNI_COMMAND = ADD ]; then
  echo delegating >&2
  (flock -x 9; exec sleep 600) 9>${at('lock')} &
  wait
else
  flock -n ${at('lock')} true && echo free >${at('seen-by-del')}
fi`,
    );
    const runtime = runtimeOf({ rollback: true, exec: createProcessExec({ killGraceMs: 5000 }) });
    await expect(runtime.add(network, pod, { timeoutMs: 400 })).rejects.toMatchObject({
      code: 11,
      plugin: 'beta',
      exitSignal: 'SIGTERM',
      stderr: 'delegating\n',
      message: 'plugin beta failed to ADD: it was ended, since the deadline of 400 ms has passed',
    });
    expect(fs.readFileSync(at('seen-by-del'), 'utf8')).toBe('free\n');
    expect(fs.existsSync(at('DEL.alpha.env'))).toBe(true);
    execFileSync('flock', ['-n', at('lock'), 'true']);
    expect(fs.existsSync(at('cache/results/net-pod-eth0'))).toBe(false);
  });
});

describe('a cache that others left', () => {
  const file = () => at('cache/results/net-pod-eth0');
  const put = (content: string) => {
    fs.mkdirSync(path.dirname(file()), { recursive: true });
    fs.writeFileSync(file(), content);
  };
  const prevResult = () =>
    (JSON.parse(fs.readFileSync(at('DEL.alpha.stdin'), 'utf8')) as { prevResult?: unknown }).prevResult;
  beforeEach(() => {
    recordingPlugin('alpha');
    recordingPlugin('beta');
  });

  test('of zero bytes, after a power loss: DEL works and takes the file away', async () => {
    put('');
    await runtimeOf().del(network, pod);
    expect(prevResult()).toBeUndefined();
    expect(fs.existsSync(file())).toBe(false);
  });
  test('cut anywhere: DEL works', async () => {
    await runtimeOf().add(network, pod);
    const whole = fs.readFileSync(file(), 'utf8');
    for (const size of [1, Math.floor(whole.length / 2), whole.length - 1]) {
      put(whole.slice(0, size));
      await runtimeOf().del(network, pod);
      expect(fs.existsSync(file())).toBe(false);
    }
  });
  test('a bare result of an old library: DEL hands it on in the version of the configuration', async () => {
    put('{"cniVersion":"0.2.0","ip4":{"ip":"10.0.0.2/24"}}');
    await runtimeOf().del(network, pod);
    expect(prevResult()).toEqual({ cniVersion: '1.1.0', ips: [{ address: '10.0.0.2/24' }] });
  });
});

test('a plugin killed by a signal says so, with what it had written', async () => {
  recordingPlugin('alpha', 'echo "out of memory" >&2; kill -9 $$');
  await expect(runtimeOf().add(network, pod)).rejects.toMatchObject({ code: 5 });
  recordingPlugin('beta');
  await expect(runtimeOf().add(network, pod)).rejects.toMatchObject({
    code: 999,
    exitSignal: 'SIGKILL',
    message: 'plugin alpha failed to ADD: killed by SIGKILL: out of memory',
  });
});
