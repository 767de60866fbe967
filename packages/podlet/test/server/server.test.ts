import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { PodSandboxStatsResponse } from '@podwire/cri';
import { openLocalApi } from '@podwire/local-api';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { PodEventRecord, PodView, Snapshot, SourceProblem } from '../../src/contract.js';
import { type PodChange, type PodletApi } from '../../src/server/api.js';
import { startPodletServer } from '../../src/server/server.js';
import { watchPods } from '../../src/server/watch.js';
import { HeldPods } from '../../src/sources/held-pods.js';
import { SourceSet } from '../../src/sources/source-set.js';
import { makePod } from '../runtime-config/make-pod.js';

const event: PodEventRecord = {
  ...{ namespace: 'shop', name: 'web', uid: 'uid-web', type: 'Normal', reason: 'Started' },
  ...{ message: 'Started container main', at: 1, lastAt: 2, count: 2 },
};

const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };

function view(name: string, more: Partial<PodView> = {}): PodView {
  const container = {
    name: 'main',
    state: running,
    lastState: {},
    ready: true,
    started: true,
    restartCount: 0,
  };
  return {
    namespace: 'shop',
    name,
    uid: `uid-${name}`,
    source: 'file',
    stage: 'running',
    status: {
      phase: 'Running',
      conditions: [],
      podIPs: [],
      initContainerStatuses: [],
      containerStatuses: [{ ...container, image: 'i', imageID: 'i', containerID: 'fake://c1' }],
    },
    containers: [],
    events: [],
    ...more,
  };
}

function statsOf(id: string): PodSandboxStatsResponse {
  if (id === 'lost') throw new Error('it is not there');
  const link = (name: string) => ({ name, rxBytes: { value: 10n }, txBytes: { value: 1n } });
  return PodSandboxStatsResponse.fromPartial({
    stats: {
      linux: {
        process: { processCount: { value: 3n } },
        network: { defaultInterface: link('eth0'), interfaces: [link('lo')] },
        containers: [
          { attributes: { id: 'c0', metadata: { name: 'main' } } },
          {
            attributes: { id: 'c1', metadata: { name: 'main' } },
            cpu: { timestamp: 2_000_000_000n, usageCoreNanoSeconds: { value: 500_000_000n } },
            memory: { workingSetBytes: { value: 4096n } },
          },
        ],
      },
    },
  });
}

async function serve(pods: PodView[] = [view('web')], kinds: readonly string[] = []) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podlet-server-'));
  const socket = path.join(directory, 'podlet.sock');
  const listeners = new Set<(change: PodChange) => void>();
  const asked: object[] = [];
  const answer = (kind: string) => (request: object) => {
    asked.push({ kind, ...request });
    return Promise.resolve({ url: `http://127.0.0.1:1/${kind}/x` });
  };
  const problems: SourceProblem[] = [];
  const opened: string[] = [];
  const createSet = (name: 'file' | 'http') =>
    new SourceSet(name, [], (origin) => {
      opened.push(origin);
      const say = (emit: (snapshot: Snapshot) => void): void =>
        void setTimeout(() => emit({ pods: [], problems: [] }), 5);
      return { name, run: (emit) => Promise.resolve(say(emit)) };
    });
  const file = createSet('file');
  const http = kinds.includes('http') ? { http: createSet('http') } : {};
  const held = new HeldPods(
    [],
    () => undefined,
    () => 0,
  );
  const stop = new AbortController();
  const reading = Promise.all(
    [file, ...Object.values(http)].map((set) => set.run(() => undefined, stop.signal)),
  );
  const api: PodletApi = {
    node: 'n1',
    version: '0',
    startedAt: 0,
    runtimeName: 'fake 1',
    runtime: {
      podSandboxStats: ({ podSandboxId }) => Promise.resolve(statsOf(podSandboxId)),
      exec: answer('exec'),
      attach: answer('attach'),
      portForward: answer('portforward'),
    },
    sources: { file, ...http },
    pods: () => pods,
    problems: () => problems,
    manifest: (uid) => (uid === 'uid-web' ? makePod() : undefined),
    events: () => [event],
    subscribeEvents: (listener) => {
      listener(event);
      return () => undefined;
    },
    subscribe: (listener) => {
      listener({ kind: 'all', pods, problems });
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    spans: (uid) => [{ traceId: 't', spanId: uid, name: 'x', startedAt: 0, duration: 1, attributes: {} }],
    restart: (uid, names) => asked.push({ kind: 'restart', uid, names }),
    held,
    shutDown: () => asked.push({ kind: 'shutdown' }),
  };
  const peer = { pid: 1, uid: 0, gid: 0 };
  const server = await startPodletServer(api, {
    socket,
    peerCredentials: () => ({ ...peer, uid: process.getuid!() }),
    onBroken: () => undefined,
  });
  onTestFinished(async () => {
    await server.stop();
    stop.abort();
    await reading;
    fs.rmSync(directory, { recursive: true });
  });
  const client = openLocalApi({ socket, peer: { name: 'pod agent', unreachable: 'PODLET_UNREACHABLE' } });
  return { client, asked, opened, listeners, problems, held };
}

test('pods by name; of two of one name the one that stays', async () => {
  const old = view('web', { uid: 'old', stage: 'terminating' });
  const { client } = await serve([old, view('web')]);
  expect(await client.get('/v1/pods/shop/web')).toMatchObject({ uid: 'uid-web' });
  expect(await client.get('/v1/trace/shop/web')).toMatchObject({ spans: [{ spanId: 'uid-web' }] });
  await expect(client.get('/v1/pods/shop/none')).rejects.toMatchObject({
    failure: { code: 'POD_UNKNOWN' },
    status: 404,
  });
});

test('sources are added and removed, and only once', async () => {
  const { client, opened } = await serve();
  expect(await client.post('/v1/sources', { files: ['/a', '/b'] })).toMatchObject({ changed: ['/a', '/b'] });
  expect(await client.post('/v1/sources', { files: ['/a'] })).toMatchObject({ changed: [] });
  expect(await client.delete('/v1/sources', { files: ['/a', '/c'] })).toEqual({
    changed: ['/a'],
    files: ['/b'],
    urls: [],
  });
  expect(opened).toEqual(['/a', '/b']);
  await expect(client.post('/v1/sources', { urls: ['https://example.org'] })).rejects.toMatchObject({
    status: 400,
  });
  await expect(client.post('/v1/sources', { fils: ['/a'] })).rejects.toThrow(/fils/);
});

test('URLs are shown without user and password, and removed by what is shown', async () => {
  const { client, opened } = await serve([], ['http']);
  const url = 'https://user:secret@example.org/pods';
  const shown = 'https://example.org/pods';
  expect(await client.post('/v1/sources', { urls: [url] })).toMatchObject({
    changed: [shown],
    urls: [shown],
  });
  expect(opened).toEqual([url]);
  for (const path of ['/v1/sources', '/v1/status'])
    expect(JSON.stringify(await client.get(path))).not.toContain('secret');
  expect(await client.delete('/v1/sources', { urls: [shown] })).toMatchObject({ changed: [shown], urls: [] });
});

test('exec is asked of the runtime for the right container, without stderr on a terminal', async () => {
  const { client, asked } = await serve();
  const body = { namespace: 'shop', name: 'web', argv: ['sh'], tty: true, stdin: true };
  expect(await client.post('/v1/exec', body)).toEqual({ url: 'http://127.0.0.1:1/exec/x' });
  expect(asked).toEqual([
    { kind: 'exec', containerId: 'c1', cmd: ['sh'], tty: true, stdin: true, stdout: true, stderr: false },
  ]);
  const wrong = client.post('/v1/exec', { ...body, container: 'side' });
  await expect(wrong).rejects.toThrow('pod shop/web has no container side; it has main');
});

test('what does not run cannot be entered', async () => {
  const { client } = await serve([view('web', { status: { ...view('web').status, containerStatuses: [] } })]);
  const attach = client.post('/v1/attach', { namespace: 'shop', name: 'web' });
  await expect(attach).rejects.toMatchObject({ failure: { code: 'POD_UNKNOWN' } });
  const forward = client.post('/v1/port-forward', { namespace: 'shop', name: 'web' });
  await expect(forward).rejects.toMatchObject({ failure: { code: 'POD_NOT_RUNNING' }, status: 409 });
});

test('a watcher gets everything, then each change, and is forgotten when it leaves', async () => {
  const { client, listeners } = await serve();
  const stop = new AbortController();
  const kinds: string[] = [];
  const watching = (async () => {
    for await (const change of client.lines<PodChange>('/v1/watch', stop.signal)) {
      kinds.push(change.kind);
      if (change.kind === 'all') for (const tell of listeners) tell({ kind: 'pod', pod: view('b') });
      else stop.abort();
    }
  })();
  await expect(watching).rejects.toMatchObject({ name: 'AbortError' });
  expect(kinds).toEqual(['all', 'pod']);
  await expect.poll(() => listeners.size).toBe(0);
});

test('events of all pods, once and one after the other; a pod with what its manifest asks for', async () => {
  const { client } = await serve();
  expect(await client.get('/v1/events')).toEqual({ events: [event] });
  const stop = new AbortController();
  const watching = (async () => {
    for await (const next of client.lines<PodEventRecord>('/v1/events/watch', stop.signal)) {
      expect(next).toEqual(event);
      stop.abort();
    }
  })();
  await expect(watching).rejects.toMatchObject({ name: 'AbortError' });
  expect(await client.get('/v1/describe/shop/web')).toMatchObject({
    ...{ pod: { name: 'web' }, node: 'n1', runtime: 'fake 1', labels: {} },
    spec: { containers: [{ name: 'main', image: 'busybox' }] },
  });
  await expect(client.get('/v1/describe/shop/none')).rejects.toMatchObject({
    failure: { code: 'POD_UNKNOWN' },
  });
});

test('a watcher that does not read is forgotten at once, not when it comes back', async () => {
  const listeners = new Set<(change: PodChange) => void>();
  const subscribe: PodletApi['subscribe'] = (listener) => {
    listener({ kind: 'all', pods: [], problems: [] });
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const changes = watchPods({ subscribe }, new AbortController().signal)[Symbol.asyncIterator]();
  await changes.next();
  const change: PodChange = { kind: 'pod', pod: view('web') };
  for (let count = 0; count < 10_001; count += 1) for (const tell of listeners) tell(change);
  expect(listeners.size).toBe(0);
  expect(await changes.next()).toMatchObject({ done: true });
});

test('who adds a place is answered when it has spoken', async () => {
  const spoken: string[] = [];
  let speak = (): void => undefined;
  const set = new SourceSet('file', [], () => ({
    name: 'file',
    run: (emit) => Promise.resolve((speak = () => emit({ pods: [], problems: [] }))).then(() => undefined),
  }));
  const stop = new AbortController();
  const done = set.run(() => spoken.push('emitted'), stop.signal);
  set.add('/a');
  const known = set.known('/a').then(() => spoken.push('known'));
  expect(spoken).toEqual(['emitted']);
  speak();
  await known;
  expect(spoken).toEqual(['emitted', 'emitted', 'known']);
  await set.known('/a');
  await set.known('/nowhere');
  set.add('/b');
  const removed = set.known('/b');
  set.remove('/b');
  await removed;
  stop.abort();
  await done;
});

test('places are one source: all that is known, and incomplete until each has spoken', async () => {
  const emits = new Map<string, (snapshot: Snapshot) => void>();
  const set = new SourceSet('file', ['/a', '/b'], (origin) => ({
    name: 'file',
    run: (emit) => {
      emits.set(origin, emit);
      return Promise.resolve();
    },
  }));
  const seen: Snapshot[] = [];
  const stop = new AbortController();
  const done = set.run((snapshot) => seen.push(snapshot), stop.signal);
  emits.get('/a')!({ pods: [], problems: [], causedAt: 5 });
  expect(seen.at(-1)).toMatchObject({ pods: [], problems: [], causedAt: 5, incomplete: true });
  emits.get('/b')!({ pods: [], problems: [{ source: 'file', origin: '/b', message: 'm' }] });
  expect(seen.at(-1)).toMatchObject({ problems: [{ origin: '/b' }] });
  expect(seen.at(-1)).not.toHaveProperty('incomplete');
  set.remove('/b');
  expect(seen.at(-1)!.problems).toEqual([]);
  emits.get('/b')!({ pods: [], problems: [{ source: 'file', origin: '/b', message: 'late' }] });
  expect(seen.at(-1)!.problems).toEqual([]);
  stop.abort();
  await done;
});

describe('pods by name', () => {
  const target = { namespace: 'shop', name: 'web' };

  test('stop and restart: held, let go, or its containers started anew', async () => {
    const { client, asked, held } = await serve();
    await client.post('/v1/pods/stop', target);
    expect(held.all()).toMatchObject([{ kind: 'stopped', ...target }]);
    await client.post('/v1/pods/restart', target);
    expect(held.all()).toEqual([]);
    expect(await client.post('/v1/pods/restart', target)).toMatchObject({ pod: { uid: 'uid-web' } });
    expect(asked).toMatchObject([{ kind: 'restart', uid: 'uid-web' }]);
    await expect(client.post('/v1/pods/restart', { ...target, container: 'none' })).rejects.toMatchObject({
      failure: { code: 'POD_UNKNOWN' },
    });
  });

  test('rm drops a manifest with its last pod, and leaves one that has others', async () => {
    const origin = '/pods/two.yaml';
    const { client, held } = await serve([view('web', { origin }), view('api', { origin })]);
    await client.post('/v1/sources', { files: [origin] });
    expect(await client.post('/v1/pods/remove', target)).not.toHaveProperty('dropped');
    expect(await client.get('/v1/sources')).toMatchObject({ files: [origin] });
    const last = await client.post('/v1/pods/remove', { ...target, name: 'api' });
    expect(last).toMatchObject({ dropped: origin });
    expect(await client.get('/v1/sources')).toMatchObject({ files: [] });
    expect(held.all().map(({ name, kind }) => `${name} ${kind}`)).toEqual(['web removed', 'api removed']);
  });

  test('a manifest that is given again has all of its pods again; other manifests are left alone', async () => {
    const [one, two] = [{ origin: '/pods/one.yaml' }, { origin: '/pods/two.yaml' }];
    const { client, held } = await serve([view('web', one), view('api', two)]);
    await client.post('/v1/pods/stop', target);
    await client.post('/v1/pods/remove', { ...target, name: 'api' });
    await client.post('/v1/sources', { files: ['/pods/one.yaml'] });
    expect(held.all()).toMatchObject([{ name: 'api' }]);
    await client.delete('/v1/sources', { files: ['/pods'] });
    expect(held.all()).toEqual([]);
  });

  test('a manifest that is given again is answered when its stopped pods have begun anew', async () => {
    const origin = '/pods/one.yaml';
    const old = view('web', { origin });
    const pods = [{ ...old, status: { ...old.status, phase: 'Failed' as const, reason: 'Stopped' } }];
    const { client, listeners, problems } = await serve(pods);
    await client.post('/v1/pods/stop', target);
    const answered = client.post('/v1/sources', { files: [origin] });
    await vi.waitFor(() => expect(listeners.size).toBe(1));
    pods.pop();
    for (const tell of listeners) tell({ kind: 'problems', problems });
    await answered;
    expect(listeners.size).toBe(0);
  });

  test.each(['stop', 'remove', 'restart'])(
    '%s refuses a pod of an API server, and says what to do',
    async (verb) => {
      const { client, held } = await serve([view('web', { source: 'api' })]);
      const refused = client.post(`/v1/pods/${verb}`, target);
      await expect(refused).rejects.toMatchObject({
        failure: {
          code: 'REQUEST_INVALID',
          message: expect.stringContaining('kubectl delete pod web -n shop') as string,
        },
      });
      expect(held.all()).toEqual([]);
    },
  );
});

test('stats: what each pod with a sandbox uses, or why it is not known', async () => {
  const { containerStatuses: containers } = view('web').status;
  const pods = [
    view('web', { sandboxId: 's1', containers }),
    view('new'),
    view('old', { sandboxId: 'lost' }),
  ];
  const { client } = await serve(pods);
  const web = {
    ...{ namespace: 'shop', name: 'web', processes: 3, rxBytes: 20, txBytes: 2 },
    containers: [{ name: 'main', at: 2, cpuSeconds: 0.5, memoryBytes: 4096 }],
  };
  const old = { namespace: 'shop', name: 'old', containers: [], problem: 'it is not there' };
  expect(await client.get('/v1/stats')).toEqual({ pods: [web, old] });
  expect(await client.get('/v1/stats/shop/web')).toEqual({ pods: [web] });
});
