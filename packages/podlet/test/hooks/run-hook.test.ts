import { CriError, ExecSyncResponse } from '@podwire/cri';
import { describe, expect, test } from 'vitest';
import { createRunHook } from '../../src/hooks/index.js';
import type { ContainerPort, ProbeAction } from '@podwire/pod-spec';
import { closedPort, loopbackServers } from '../probes/servers.js';
import { createTestClock } from '@podwire/platform/testing';
import { makePod } from '../runtime-config/make-pod.js';

const servers = loopbackServers();
const live = new AbortController().signal;
type ExecSync = Parameters<typeof createRunHook>[0]['runtime']['execSync'];
const noRuntime: ExecSync = () => Promise.reject(new Error('not to be asked'));

function setUp(execSync: ExecSync = noRuntime) {
  const clock = createTestClock();
  const runHook = createRunHook({ runtime: { execSync }, clock, limit: 30_000 });
  const target = { pod: makePod(), containerId: 'id', address: '127.0.0.1' };
  const run = (
    action: ProbeAction,
    signal = live,
    ports: ContainerPort[] = [],
    more: { limit?: number } = {},
  ) => runHook(action, { ...target, container: { name: 'main', ports }, ...more }, signal);
  return { clock, run };
}

const exec = { exec: { command: ['/bin/drain'] } };
const answer =
  (exitCode: number, stderr = '') =>
  () =>
    Promise.resolve(ExecSyncResponse.fromPartial({ exitCode, stderr: Buffer.from(stderr) }));

describe('programs', () => {
  test('run in the container, with a limit', async () => {
    const requests: object[] = [];
    const { run } = setUp((request) => {
      requests.push(request);
      return answer(0)();
    });
    await run(exec);
    expect(requests).toEqual([{ containerId: 'id', cmd: ['/bin/drain'], timeout: 30n }]);
  });

  test('have the time that their caller grants them, also when it is longer than usual', async () => {
    const requests: object[] = [];
    const { clock, run } = setUp((request, options) => {
      requests.push({ timeout: request.timeout, timeoutMs: options?.timeoutMs });
      return new Promise((resolve) => {
        void clock.sleep(1_800_000, live).then(() => resolve(ExecSyncResponse.fromPartial({ exitCode: 0 })));
      });
    });
    const drained = run(exec, live, [], { limit: 3_600_000 });
    await clock.advance(1_800_000);
    await drained;
    expect(requests).toEqual([{ timeout: 3600n, timeoutMs: 3_602_000 }]);
  });

  test.each([
    ['another exit code', answer(2, 'no such thing\n'), 'exit code 2: no such thing'],
    ['a runtime that is away', () => Promise.reject(new CriError('UNAVAILABLE', 'gone')), 'gone'],
    [
      'a program that was ended',
      () => Promise.reject(new CriError('DEADLINE_EXCEEDED', 'x')),
      'not ended within 30 s',
    ],
  ])('%s is a failure', async (_, execSync, message) => {
    await expect(setUp(execSync).run(exec)).rejects.toThrow(message);
  });

  test('a runtime that never answers is given up', async () => {
    const { clock, run } = setUp(() => new Promise(() => undefined));
    const failed = expect(run(exec)).rejects.toThrow('no answer within 32 s');
    await clock.advance(32_000);
    await failed;
    expect(clock.sleepers()).toBe(0);
  });

  test('the caller’s limit counts, too', async () => {
    const abort = new AbortController();
    const { clock, run } = setUp(() => new Promise(() => undefined));
    const failed = expect(run(exec, abort.signal)).rejects.toThrow('grace is over');
    await clock.advance(1000);
    abort.abort(new Error('grace is over'));
    await failed;
    expect(clock.sleepers()).toBe(0);
  });
});

describe('over the network', () => {
  const get = (port: number | string): ProbeAction => ({
    httpGet: { path: '/stop', port, scheme: 'HTTP', httpHeaders: [] },
  });

  test('a request that is heard is enough, whatever the answer', async () => {
    const seen: (string | undefined)[] = [];
    const { port } = await servers.http(({ url }, response) => {
      seen.push(url);
      response.writeHead(500).end();
    });
    const ports: ContainerPort[] = [{ name: 'admin', containerPort: port, protocol: 'TCP' }];
    await setUp().run(get(port));
    await setUp().run(get('admin'), live, ports);
    expect(seen).toEqual(['/stop', '/stop']);
  });

  test('a connection', async () => {
    const { port } = await servers.tcp();
    await setUp().run({ tcpSocket: { port } });
  });

  test.each([
    ['no listener', async () => get(await closedPort()), 'ECONNREFUSED'],
    ['no listener for TCP', async () => ({ tcpSocket: { port: await closedPort() } }), 'ECONNREFUSED'],
    ['no such port', () => Promise.resolve(get('admin')), 'container main has no port admin'],
    ['no action', () => Promise.resolve({}), 'no action'],
  ])('%s is a failure', async (_, action, message) => {
    await expect(setUp().run(await action())).rejects.toThrow(message);
  });
});
