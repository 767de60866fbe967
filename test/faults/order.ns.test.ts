/** Calls that come twice, cross each other, or come from another user. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { assertSameSnapshot, eventually, type Snapshot, type TestNamespace } from '@podwire/testkit';
import {
  type CniCall,
  networkName,
  pluginProgram,
  type RunningPlugin,
  startPlugin,
} from './support/calls.js';
import { createFaultHost, type FaultHost, tinyPools, untilStopped } from './support/fault-host.js';
import { assertPoolWhole } from './support/matrix.js';
import { addPod } from './support/subjects.js';

const maxConnections = 20;
let faults: FaultHost;
let pod: TestNamespace;
let other: TestNamespace;
let empty: Snapshot;
before(async () => {
  const config = { ...tinyPools, limits: { connections: maxConnections } };
  faults = await createFaultHost({ name: 'order', agent: { config } });
  pod = await addPod(faults.host, 'pod');
  other = await addPod(faults.host, 'other');
  await faults.succeed(add());
  await faults.succeed(del());
  await faults.settle();
  empty = await faults.snapshot(pod, other);
});
after(() => faults.close());

const portMappings = [{ hostPort: 8080, containerPort: 80, protocol: 'udp' }];
const add = (call: Partial<CniCall> = {}): CniCall => ({
  netns: pod.path,
  config: { runtimeConfig: { portMappings, bandwidth: { egressRate: 1_000_000 } } },
  ...call,
  command: 'ADD',
});
const del = (call: Partial<CniCall> = {}): CniCall => ({ netns: pod.path, ...call, command: 'DEL' });
const gc = (...ids: readonly string[]): CniCall => ({
  command: 'GC',
  config: { 'cni.dev/valid-attachments': ids.map((containerID) => ({ containerID, ifname: 'eth0' })) },
});
const keys = async (): Promise<string[]> => (await faults.api.endpoints()).map(({ key }) => key).sort();

async function assertEmpty(): Promise<void> {
  await faults.settle();
  assertSameSnapshot(empty, await faults.snapshot(pod, other));
  assert.deepEqual(await faults.api.leases(), []);
}

async function assertWhole(call: CniCall, prevResult: unknown): Promise<void> {
  await faults.succeed({ ...call, command: 'CHECK', config: { ...call.config, prevResult } });
}

/** Starts a call and returns when the agent has frozen in the middle of it. */
async function freezeIn(call: CniCall, point: string): Promise<RunningPlugin> {
  faults.injector.clear();
  faults.injector.inject({ point, skip: 0, signal: 'SIGSTOP' });
  const plugin = faults.start(call);
  await untilStopped(faults.agent);
  return plugin;
}

/** Starts a call of an agent that does not run, and returns when it waits in its queue. */
async function queue(call: CniCall, position: number): Promise<RunningPlugin> {
  const plugin = faults.start(call);
  await faults.untilQueued(position);
  return plugin;
}

const thaw = (): void => void process.kill(faults.agent.pid, 'SIGCONT');

describe('the same again', () => {
  afterEach(async () => {
    await faults.succeed(del());
    await assertEmpty();
  });

  test('ADD gives the same answer, also after a restart and from several at once', async () => {
    const first = await faults.succeed(add());
    const again = await Promise.all([1, 2, 3].map(() => faults.succeed(add())));
    for (const { body } of again) assert.equal(body, first.body);
    await faults.agent.kill9();
    await faults.restart();
    assert.equal((await faults.succeed(add())).body, first.body);
    assert.equal((await faults.api.leases()).length, 2);
    await assertWhole(add(), first.json);
  });

  test('several first ADDs at once make one endpoint', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => faults.succeed(add())));
    assert.equal(new Set(answers.map(({ body }) => body)).size, 1);
    assert.deepEqual(await keys(), [`${networkName},c1,eth0`]);
  });

  const differences: readonly [what: string, call: () => Partial<CniCall>, words: RegExp][] = [
    ['another namespace', () => ({ netns: other.path }), /is in another network namespace/],
    ['another address', () => ({ args: 'IP=10.66.0.6' }), /does not have the address 10\.66\.0\.6/],
    ['another MAC address', () => ({ args: 'MAC=02:00:00:00:00:99' }), /its MAC address is/],
    ['other host ports', () => ({ config: {} }), /its host ports are others/],
    [
      'other rates',
      () => ({ config: { runtimeConfig: { portMappings } } }),
      /its bandwidth limits are others/,
    ],
  ];
  for (const [what, call, words] of differences)
    test(`ADD with ${what} is refused, and what is there stays whole`, async () => {
      const { json } = await faults.succeed(add());
      const answer = await faults.call(add(call()));
      assert.equal(answer.json.code, 4, answer.body);
      assert.match(answer.json.msg ?? '', /^ENDPOINT_EXISTS: .* has an interface eth0 already, and/);
      assert.match(answer.json.msg ?? '', words);
      await assertWhole(add(), json);
    });

  test('DEL from several at once', async () => {
    await faults.succeed(add());
    await Promise.all([1, 2, 3, 4].map(() => faults.succeed(del())));
    assert.deepEqual(await keys(), []);
  });
});

describe('at the same time', () => {
  afterEach(assertEmpty);

  for (const point of ['file:write', 'apply:0:veth', 'add:applied', 'add:ready'])
    test(`DEL while ADD is at ${point} waits for it, then removes all of it`, async () => {
      const adding = await freezeIn(add(), point);
      const removing = await queue(del(), 1);
      thaw();
      assert.equal((await adding.answer).ok, true);
      assert.equal((await removing.answer).ok, true);
      assert.deepEqual(await keys(), []);
    });

  test('ADD while DEL is under way makes a new endpoint', async () => {
    await faults.succeed(add());
    const removing = await freezeIn(del(), 'remove-links:pod');
    const adding = await queue(add(), 1);
    thaw();
    assert.equal((await removing.answer).ok, true);
    const { ok, json } = await adding.answer;
    assert.ok(ok);
    await assertWhole(add(), json);
    await faults.succeed(del());
  });

  test('GC while ADD runs waits for it, and removes what its list does not have', async () => {
    const adding = await freezeIn(add(), 'apply:0:veth');
    const collecting = await queue(gc(), 1);
    thaw();
    assert.equal((await adding.answer).ok, true);
    assert.equal((await collecting.answer).ok, true);
    assert.deepEqual(await keys(), []);
    await faults.succeed(del());
  });

  test('GC while ADD runs leaves what its list has', async () => {
    const adding = await freezeIn(add(), 'apply:0:veth');
    const collecting = await queue(gc('c1'), 1);
    thaw();
    const { json } = await adding.answer;
    assert.equal((await collecting.answer).ok, true);
    await assertWhole(add(), json);
    await faults.succeed(del());
  });

  test('ADD while GC runs waits for it, and is not collected', async () => {
    await faults.succeed(add({ id: 'stale' }));
    const collecting = await freezeIn(gc(), 'gc:next');
    const config = {};
    const adding = await queue(add({ id: 'fresh', netns: other.path, config }), 1);
    thaw();
    assert.equal((await collecting.answer).ok, true);
    const { ok, json } = await adding.answer;
    assert.ok(ok);
    assert.deepEqual(await keys(), [`${networkName},fresh,eth0`]);
    await assertWhole(add({ id: 'fresh', netns: other.path, config }), json);
    await faults.succeed(del({ id: 'fresh', netns: other.path }));
  });

  test('more callers than the agent takes are told to try again later', async () => {
    const idle = await Promise.all(
      Array.from({ length: maxConnections }, () => connect(faults.agent.socket)),
    );
    const answer = await faults.call(add());
    assert.equal(answer.json.code, 11, answer.body);
    assert.match(answer.json.msg ?? '', /more than 20 requests at once/);
    for (const socket of idle) socket.destroy();
    // When the agent has heard that they are gone.
    await eventually('the agent takes a caller', async () => (await faults.call(add())).ok);
    await faults.succeed(del());
  });

  test('no address was lost', () => assertPoolWhole(faults, pod));
});

function connect(file: string): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(file);
    socket.once('error', reject);
    socket.once('connect', () => resolve(socket));
  });
}

describe('another user', () => {
  const otherUser = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] as const;
  const modeOf = (file: string): string => (fs.statSync(file).mode & 0o7777).toString(8);

  test('cannot even reach the sockets, records and directories', async () => {
    const { agent } = faults;
    await faults.succeed(add());
    const [record = ''] = fs.readdirSync(path.join(agent.stateDirectory, 'endpoints'));
    assert.deepEqual(
      {
        socket: modeOf(agent.socket),
        api: modeOf(agent.apiSocket),
        state: modeOf(agent.stateDirectory),
        records: modeOf(path.join(agent.stateDirectory, 'endpoints')),
        record: modeOf(path.join(agent.stateDirectory, 'endpoints', record)),
      },
      { socket: '600', api: '600', state: '700', records: '700', record: '600' },
    );
    await faults.succeed(del());
    await assertEmpty();
  });

  test('finds a directory that the agent has made for its socket closed', async () => {
    const { agent, host } = faults;
    const config = JSON.parse(fs.readFileSync(agent.configFile, 'utf8')) as Record<string, unknown>;
    const directory = path.join(host.directory, 'made', 'by-the-agent');
    await agent.stop();
    fs.writeFileSync(
      agent.configFile,
      JSON.stringify({ ...config, socket: path.join(directory, 'cni.sock') }),
    );
    await faults.restart();
    assert.deepEqual([modeOf(directory), modeOf(path.join(directory, 'cni.sock'))], ['700', '600']);
    await agent.stop();
    fs.writeFileSync(agent.configFile, JSON.stringify(config));
    await faults.restart();
  });

  test('is refused also where the modes let all users in', async () => {
    const { agent, host } = faults;
    // By relative names, since the temporary directory itself may be closed to others.
    const cwd = path.dirname(agent.socket);
    const program = './podwire-cni';
    fs.copyFileSync(pluginProgram, path.join(cwd, program));
    fs.chmodSync(path.join(cwd, program), 0o755);
    fs.chmodSync(cwd, 0o755);
    const ask = (socket: string, who: readonly string[]) =>
      startPlugin(host.namespace, socket, add(), { argv: [...who, program], cwd }).answer;

    const closed = await ask('cni.sock', otherUser);
    assert.equal(closed.json.code, 11, closed.body);
    assert.match(closed.body, /EACCES/);
    fs.chmodSync(agent.socket, 0o666);
    const open = await ask('cni.sock', otherUser);
    assert.equal(open.json.code, 106, open.body);
    assert.match(open.json.msg ?? '', /CALLER_REFUSED: user 65534 may not call the agent/);
    // To the plugin an HTTP server is a strange agent; the API does not say even that much to a stranger.
    fs.chmodSync(agent.apiSocket, 0o666);
    assert.match((await ask('api.sock', [])).body, /not that of a Podwire agent/);
    assert.match((await ask('api.sock', otherUser)).body, /closed the connection without an answer/);
    fs.chmodSync(cwd, 0o700);
    for (const socket of [agent.socket, agent.apiSocket]) fs.chmodSync(socket, 0o600);
    assert.deepEqual(await faults.api.leases(), []);
  });
});
