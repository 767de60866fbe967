/** Faults between the service, the engine and the plugins: each row leaves nothing behind. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { type CriError, PodSandboxState } from '@podwire/cri';
import { pauseImage } from '@podwire/testkit/containerd';
import {
  createSandboxHost,
  podConfig,
  recordedCalls,
  type SandboxHost,
  writeNetwork,
} from './support/harness.js';
import { type Interposer, startInterposer } from './support/interposer.js';

let machine: SandboxHost;
let between: Interposer;
const recorder = { type: 'recorder' };
before(async () => {
  machine = await createSandboxHost({
    name: 'flt',
    after: [recorder],
    dockerSocket: async (docker, host) => (between = await startInterposer(host, docker.socket)).socket,
  });
});
after(() => machine.close());
afterEach(async () => {
  between.rule = () => undefined;
  await useNetwork([recorder]);
  for (const { id } of (await machine.cri.listPodSandbox({ filter: undefined })).items) {
    await machine.cri.removePodSandbox({ podSandboxId: id });
  }
  for (const { id } of await machine.docker.containers())
    await machine.docker.call('DELETE', `/containers/${id}?force=1`);
  assert.deepEqual(machine.leases(), []);
  assert.deepEqual(machine.pinned(), []);
  assert.deepEqual(await machine.links(), []);
});

/** Writes the network anew, and waits until it was looked at since. */
async function useNetwork(plugins: readonly object[]): Promise<void> {
  writeNetwork(machine.host, { after: plugins });
  const written = fs.statSync(path.join(machine.host.directory, 'net.d', '10-test.conflist')).mtimeMs;
  for (let attempt = 0; attempt < 500; attempt += 1) {
    const { info } = await machine.cri.status({ verbose: true });
    const { lookedAt } = JSON.parse(info['network'] ?? '{}') as { lookedAt: number };
    if (lookedAt > written) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the network is not taken up');
}

const run = async (name: string, more: Parameters<typeof podConfig>[1] = {}): Promise<string> =>
  (await machine.cri.runPodSandbox({ config: podConfig(name, more), runtimeHandler: '' })).podSandboxId;

async function failure(work: Promise<unknown>): Promise<CriError> {
  try {
    await work;
  } catch (error) {
    return error as CriError;
  }
  return assert.fail('it went well');
}

test('the steps go to the engine in their order, the checkpoint is there before the start', async () => {
  between.seen.length = 0;
  let checkpoints: string[] | undefined;
  between.rule = (method, target) => {
    if (method === 'POST' && target.endsWith('/start'))
      checkpoints = fs.readdirSync(path.join(machine.root, 'sandbox'));
    return undefined;
  };
  const id = await run('order', { dnsConfig: { servers: ['10.1.1.1'] } });
  assert.deepEqual(checkpoints, [id]);
  const calls = between.seen.map((call) => call.replaceAll(id, 'ID')).filter((call) => call !== 'GET /info');
  assert.deepEqual(calls.slice(0, 3), [
    `GET /images/${pauseImage.replace(':', '%3A')}/json`,
    'POST /containers/create',
    'POST /containers/ID/start',
  ]);
});

test('a plugin that fails second in the chain: nothing is left, and the message says who', async () => {
  await useNetwork([{ ...recorder, failOn: 'ADD' }]);
  const error = await failure(run('second'));
  assert.match(error.message, /failed to set up the network of pod second/);
  assert.match(error.message, /not now, says the test/);
  assert.deepEqual(machine.leases(), []);
  assert.deepEqual(await machine.links(), []);
  assert.deepEqual(machine.pinned(), []);
  const [container] = await machine.docker.containers();
  assert.equal(container?.state, 'exited');
  const { items } = await machine.cri.listPodSandbox({ filter: undefined });
  assert.equal(items[0]?.state, PodSandboxState.SANDBOX_NOTREADY);
  const { status } = await machine.cri.podSandboxStatus({ podSandboxId: items[0].id, verbose: false });
  assert.equal(status?.network?.ip, '');
});

test('a cleanup that fails as well: both are said, and Stop does it again', async () => {
  await useNetwork([{ ...recorder, failOn: 'ADD' }]);
  between.rule = (method, target) =>
    method === 'POST' && target.includes('/stop')
      ? { status: 500, body: { message: 'no stop today' } }
      : undefined;
  const error = await failure(run('both'));
  assert.match(error.message, /not now, says the test/);
  assert.match(error.message, /no stop today/);
  between.rule = () => undefined;
  const [{ id } = { id: '' }] = await machine.docker.containers();
  await machine.cri.stopPodSandbox({ podSandboxId: id });
  assert.equal((await machine.docker.inspect(id))?.State.Running, false);
});

test('a name that is taken by a leftover: it is removed, and creating is tried once more', async () => {
  const leftover = await machine.docker.call(
    'POST',
    '/containers/create?name=k8s_POD_taken_default_uid-taken_0',
    {
      Image: pauseImage,
    },
  );
  const { Id } = JSON.parse(leftover.body) as { Id: string };
  const id = await run('taken');
  assert.notEqual(id, Id);
  assert.equal(await machine.docker.inspect(Id), undefined);
  assert.equal((await machine.docker.inspect(id))?.Name, '/k8s_POD_taken_default_uid-taken_0');
});

test('a name that Docker calls taken without a container: another name is used', async () => {
  await machine.docker.call('POST', '/containers/create?name=k8s_POD_ghost_default_uid-ghost_0', {
    Image: pauseImage,
  });
  between.rule = (method, target) =>
    method === 'DELETE' && !target.includes('force=true')
      ? { status: 404, body: { message: 'No such container: ghost' } }
      : undefined;
  const id = await run('ghost');
  assert.match(
    (await machine.docker.inspect(id))?.Name ?? '',
    /^\/k8s_POD_ghost_default_uid-ghost_0_[0-9a-f]{8}$/,
  );
  const { status } = await machine.cri.podSandboxStatus({ podSandboxId: id, verbose: false });
  assert.deepEqual(status?.metadata, { name: 'ghost', namespace: 'default', uid: 'uid-ghost', attempt: 0 });
});

test('a name that a foreign running container has: it stays, and the engine’s error is returned', async () => {
  const name = 'k8s_POD_other_default_uid-other_0';
  const other = await machine.docker.call('POST', `/containers/create?name=${name}`, {
    Image: pauseImage,
    HostConfig: { NetworkMode: 'none' },
  });
  const { Id } = JSON.parse(other.body) as { Id: string };
  await machine.docker.call('POST', `/containers/${Id}/start`);
  const error = await failure(run('other'));
  assert.match(error.message, /already in use by container/);
  assert.equal((await machine.docker.inspect(Id))?.State.Running, true);
});

test('the same sandbox asked for again, while it is made and afterwards, is one sandbox', async () => {
  const ids = await Promise.all([run('twice'), run('twice'), run('twice')]);
  assert.equal(new Set(ids).size, 1);
  assert.equal(await run('twice'), ids[0]);
  assert.equal(recordedCalls(machine).filter((call) => call === `ADD ${ids[0]} true`).length, 1);
});

test('a caller that gives up, and asks again, gets the sandbox that was made meanwhile', async () => {
  const hold = path.join(machine.host.directory, 'hold');
  fs.writeFileSync(hold, '');
  await useNetwork([{ ...recorder, holdAt: { ADD: hold } }]);
  const config = podConfig('patient');
  const error = await failure(machine.cri.runPodSandbox({ config, runtimeHandler: '' }, { timeoutMs: 700 }));
  assert.equal(error.code, 'DEADLINE_EXCEEDED');
  const second = machine.cri.runPodSandbox({ config, runtimeHandler: '' });
  fs.rmSync(hold);
  const { podSandboxId } = await second;
  const containers = await machine.docker.containers();
  assert.deepEqual(
    containers.map(({ id }) => id),
    [podSandboxId],
  );
});

test('twenty Stops at once are one DEL, with the namespace still there and the sandbox still running', async () => {
  const podSandboxId = await run('twenty');
  await Promise.all(Array.from({ length: 20 }, () => machine.cri.stopPodSandbox({ podSandboxId })));
  await machine.cri.stopPodSandbox({ podSandboxId });
  const calls = recordedCalls(machine).filter((call) => call.startsWith(`DEL ${podSandboxId}`));
  assert.deepEqual(calls, [`DEL ${podSandboxId} true`]);
});

test('the beginning of an id is enough to stop and remove', async () => {
  const id = await run('short');
  const podSandboxId = id.slice(0, 13);
  await machine.cri.stopPodSandbox({ podSandboxId });
  assert.equal((await machine.docker.inspect(id))?.State.Running, false);
  await machine.cri.removePodSandbox({ podSandboxId });
  assert.equal(await machine.docker.inspect(id), undefined);
  await machine.cri.removePodSandbox({ podSandboxId });
});

test('a Stop while the sandbox is still made ends the making, and takes it back', async () => {
  const hold = path.join(machine.host.directory, 'hold');
  fs.writeFileSync(hold, '');
  await useNetwork([{ ...recorder, holdAt: { ADD: hold } }]);
  const running = failure(run('hasty'));
  const id = await untilHeld('ADD');
  await machine.cri.stopPodSandbox({ podSandboxId: id });
  fs.rmSync(hold, { force: true });
  assert.equal((await running).code, 'ABORTED');
  assert.deepEqual(machine.leases(), []);
  assert.equal((await machine.docker.inspect(id))?.State.Running, false);
});

test('SIGKILL while a plugin runs: the next start takes the address back', async () => {
  const hold = path.join(machine.host.directory, 'hold');
  fs.writeFileSync(hold, '');
  await useNetwork([{ ...recorder, holdAt: { ADD: hold } }]);
  const running = failure(run('torn'));
  await untilHeld('ADD');
  assert.equal(machine.leases().length, 1);
  await machine.service.kill9();
  await running;
  fs.rmSync(hold);
  await machine.service.start();
  assert.deepEqual(machine.leases(), []);
  assert.deepEqual(await machine.docker.containers(), []);
});

async function untilHeld(command: string): Promise<string> {
  const before = recordedCalls(machine).filter((call) => call.startsWith(command)).length;
  for (let attempt = 0; attempt < 500; attempt += 1) {
    const calls = recordedCalls(machine).filter((call) => call.startsWith(command));
    const last = calls.at(-1)?.split(' ')[1];
    const listed = await machine.docker.containers();
    if (last !== undefined && listed.some(({ id, state }) => id === last && state === 'running')) return last;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`no ${command} after ${before}`);
}

test('a resolv.conf keeps its inode; one that has vanished is an error, and nothing is left', async () => {
  let inode = 0;
  between.rule = async (method, target) => {
    const [, id] = /^\/containers\/([0-9a-f]{64})\/start/.exec(target) ?? [];
    if (method !== 'POST' || id === undefined) return undefined;
    await machine.docker.call('POST', `/containers/${id}/start`);
    inode = fs.statSync((await machine.docker.inspect(id))!.ResolvConfPath).ino;
    return { status: 204, body: {} };
  };
  const id = await run('inode', { dnsConfig: { searches: ['only.search'] } });
  const { ResolvConfPath } = (await machine.docker.inspect(id))!;
  assert.equal(fs.readFileSync(ResolvConfPath, 'utf8'), 'search only.search\n');
  assert.equal(fs.statSync(ResolvConfPath).ino, inode);

  between.rule = async (method, target) => {
    const [, started] = /^\/containers\/([0-9a-f]{64})\/start/.exec(target) ?? [];
    if (method !== 'POST' || started === undefined) return undefined;
    await machine.docker.call('POST', `/containers/${started}/start`);
    fs.rmSync((await machine.docker.inspect(started))!.ResolvConfPath);
    return { status: 204, body: {} };
  };
  const error = await failure(run('vanished', { dnsConfig: { servers: ['10.1.1.1'] } }));
  assert.match(error.message, /resolv\.conf/);
  assert.equal(machine.leases().length, 1);
});

test('without an engine the runtime is not ready, and says why', async () => {
  between.rule = () => ({ status: 503, body: { message: 'the engine is away' } });
  const { status } = await machine.cri.status({ verbose: false });
  const conditions = status?.conditions.map(({ type, status: is, reason }) => [type, is, reason]);
  assert.deepEqual(conditions, [
    ['RuntimeReady', false, 'DockerDaemonNotReady'],
    ['NetworkReady', true, ''],
  ]);
  assert.match(status?.conditions[0]?.message ?? '', /the engine is away/);
});
