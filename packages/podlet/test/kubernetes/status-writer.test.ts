import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KubernetesClient } from '@podwire/kubernetes-client';
import { createEventWriter } from '../../src/kubernetes/event-writer.js';
import { createStatusWriter } from '../../src/kubernetes/status-writer.js';
import { type ContainerStatus, type Pod, type PodStatus, readApiPod } from '@podwire/pod-spec';
import { FakeApiServer } from '@podwire/kubernetes-client/testing';

const clock = {
  now: () => 0,
  elapsed: () => 0,
  sleep: (_milliseconds: number, signal: AbortSignal) => delay(1, undefined, { signal }),
};

/** Its pauses do not end. */
const endless: typeof clock = {
  ...clock,
  sleep: (_, signal) => delay(2 ** 30, undefined, { signal }),
};

async function open(more: { clock?: typeof clock; width?: number } = {}) {
  const server = new FakeApiServer();
  onTestFinished(() => server.close());
  const client = new KubernetesClient({ server: await server.start(), verify: true });
  const troubles: string[] = [];
  const refusals: string[] = [];
  const writer = createStatusWriter({
    client,
    clock,
    runtimeName: 'containerd',
    onTrouble: (message) => troubles.push(message),
    onRefusal: ({ metadata }, message) => refusals.push(`${metadata.name}: ${message ?? 'taken again'}`),
    ...more,
  });
  onTestFinished(async () => {
    await writer.close();
    await client.close();
  });
  const pod = (name: string, metadata: object = {}) => {
    const object = server.put(name);
    return readApiPod({ ...object, metadata: { ...object.metadata, ...metadata } }).pod;
  };
  return { server, writer, troubles, refusals, pod };
}

const status = (phase: PodStatus['phase']): PodStatus => ({
  phase,
  conditions: [],
  podIPs: [],
  initContainerStatuses: [],
  containerStatuses: [],
});

const isPatch = ({ method }: { method: string }): boolean => method === 'PATCH';

test('the status goes to the sub-resource with the uid, and what is absent is taken away', async () => {
  const { server, writer, pod } = await open();
  writer.statusChanged(pod('web'), status('Running'));
  await server.until(isPatch);
  expect(server.asked.find(isPatch)).toMatchObject({
    path: '/api/v1/namespaces/shop/pods/web/status',
    body: { metadata: { uid: 'uid-web' }, status: { phase: 'Running', podIP: null } },
  });
});

test('conditions of readiness gates are not written: others may have changed them meanwhile', async () => {
  const { server, writer, pod } = await open();
  const time = '2026-01-01T00:00:00Z';
  const conditions = [
    { type: 'Ready', status: 'True' as const, lastTransitionTime: time },
    { type: 'Initialized', status: 'False' as const, reason: 'R', message: 'm', lastTransitionTime: time },
    { type: 'example.com/gate', status: 'False' as const, lastTransitionTime: time },
  ];
  const plain = pod('web');
  const gated: Pod = { ...plain, spec: { ...plain.spec, readinessGates: [{ conditionType: 'x' }] } };
  writer.statusChanged(gated, { ...status('Running'), conditions });
  await server.until(isPatch, 2);
  const [first, second] = server.asked.filter(isPatch);
  expect(first).toMatchObject({ contentType: 'application/merge-patch+json' });
  expect((first!.body as { status: object }).status).not.toHaveProperty('conditions');
  expect(second).toMatchObject({ contentType: 'application/strategic-merge-patch+json' });
  expect(second!.body).toEqual({
    metadata: { uid: 'uid-web' },
    status: {
      conditions: [
        { type: 'Ready', status: 'True', lastTransitionTime: time, reason: null, message: null },
        conditions[1],
      ],
    },
  });
});

test('a new pod of the same name, whose uid cannot be changed, ends the matter', async () => {
  const { server, writer, troubles, pod } = await open();
  server.failures.push(422);
  server.words = 'Pod "web" is invalid: metadata.uid: Invalid value: "u": field is immutable';
  writer.statusChanged(pod('web'), status('Running'));
  await server.until(isPatch);
  writer.statusChanged(pod('other'), status('Running'));
  await server.until(isPatch, 2);
  expect(troubles).toEqual([]);
});

test('ids of containers have the runtime before them, once', async () => {
  const { server, writer, pod } = await open();
  const container = (name: string, containerID: string): ContainerStatus => ({
    name,
    state: { terminated: { exitCode: 0, reason: 'Completed', containerID } },
    lastState: {},
    ready: false,
    started: false,
    restartCount: 0,
    image: 'busybox',
    imageID: '',
    containerID,
  });
  const containerStatuses = [container('a', 'abc'), container('b', ''), container('c', 'containerd://def')];
  writer.statusChanged(pod('web'), { ...status('Running'), containerStatuses });
  await server.until(isPatch);
  const written = (server.asked.find(isPatch)?.body as { status: PodStatus }).status.containerStatuses;
  const ids = written.map(({ containerID, state }) => [containerID, state.terminated?.containerID]);
  expect(ids).toEqual([
    ['containerd://abc', 'containerd://abc'],
    ['', ''],
    ['containerd://def', 'containerd://def'],
  ]);
});

test('of many statuses the latest is written, after a failure too', async () => {
  const { server, writer, troubles, pod } = await open();
  const web = pod('web');
  server.failures.push(500);
  writer.statusChanged(web, status('Pending'));
  for (let i = 0; i < 50; i += 1) writer.statusChanged(web, status('Running'));
  const isRunning = (asked: { method: string; body?: unknown }): boolean =>
    isPatch(asked) && (asked.body as { status: PodStatus }).status.phase === 'Running';
  await server.until(isRunning);
  expect(server.asked.filter(isPatch).length).toBeLessThanOrEqual(4);
  expect(troubles[0]).toBe('the status of pod shop/web could not be written: no 500');
});

test('a pod whose status is refused keeps no other one waiting', async () => {
  const { server, writer, troubles, pod } = await open({ clock: endless, width: 1 });
  server.failures.push(422);
  writer.statusChanged(pod('bad'), status('Running'));
  writer.statusChanged(pod('good'), status('Running'));
  await server.until(({ path }) => path.endsWith('/good/status'));
  expect(troubles).toEqual(['the status of pod shop/bad could not be written: no 422']);
});

describe('a field that the server refuses', () => {
  const words =
    'Pod "web" is invalid: status.podIPs: Invalid value: []: may specify no more than one IP for each IP family';
  const statusesOf = (server: FakeApiServer) =>
    server.asked.filter(isPatch).map(({ body }) => Object.keys((body as { status: object }).status));

  test('is left out, and the rest is written', async () => {
    const { server, writer, pod, refusals, troubles } = await open();
    server.words = words;
    server.failures.push(422);
    writer.statusChanged(pod('web'), status('Running'));
    await server.until(() => statusesOf(server).length === 2);
    const [first = [], second = []] = statusesOf(server);
    expect(first.filter((name) => !second.includes(name))).toEqual(['podIPs', 'podIP']);
    await expect.poll(() => refusals).toEqual([`web: ${words}`, 'web: taken again']);
    expect(troubles).toHaveLength(1);
  });

  test('keeps no later status waiting', async () => {
    const { server, writer, pod } = await open({ clock: endless });
    server.words = words;
    server.failures.push(422);
    const web = pod('web');
    writer.statusChanged(web, status('Running'));
    await server.until(() => statusesOf(server).length === 2);
    writer.statusChanged(web, status('Failed'));
    await server.until(() => statusesOf(server).length === 3);
    expect(server.asked.filter(isPatch).at(-1)).toMatchObject({ body: { status: { phase: 'Failed' } } });
  });

  test('does not keep the object of a pod that is gone', async () => {
    const { server, writer, pod } = await open();
    server.words = words;
    server.failures.push(422);
    const going = pod('web', { deletionTimestamp: '2026-01-01T00:00:00Z' });
    writer.statusChanged(going, status('Failed'));
    writer.terminated(going);
    await server.until(({ method }) => method === 'DELETE');
  });
});

test('an object is deleted only when that was asked for, with its uid, after the last status', async () => {
  const { server, writer, pod } = await open();
  writer.terminated(pod('stays'));
  const going = pod('goes', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  writer.statusChanged(going, status('Succeeded'));
  writer.terminated(going);
  await server.until(({ method }) => method === 'DELETE');
  const methods = server.asked.map(({ method, path }) => `${method} ${path.split('/').slice(6).join('/')}`);
  expect(methods.filter((each) => each.includes('goes'))).toEqual(['PATCH goes/status', 'DELETE goes']);
  expect(methods.some((each) => each.startsWith('DELETE stays'))).toBe(false);
  expect(server.asked.at(-1)!.body).toEqual({ gracePeriodSeconds: 0, preconditions: { uid: 'uid-goes' } });
});

test.each([404, 409])('a pod that is another one by now needs nothing more (HTTP %d)', async (code) => {
  const { server, writer, troubles, pod } = await open();
  server.failures.push(code);
  writer.statusChanged(pod('web'), status('Running'));
  await server.until(isPatch);
  writer.statusChanged(pod('other'), status('Running'));
  await server.until(isPatch, 2);
  expect(troubles).toEqual([]);
});

test('a status that others were faster than is written all the same', async () => {
  const { server, writer, pod } = await open();
  server.failures.push(409);
  server.words =
    'Operation cannot be fulfilled on pods "web": the object has been modified; please try again';
  writer.statusChanged(pod('web'), status('Running'));
  await server.until(isPatch, 2);
});

test('events are written, and a server that refuses them has no other effect', async () => {
  const { server, pod } = await open();
  const client = new KubernetesClient({ server: await server.start(), verify: true });
  const events = createEventWriter({ client, node: 'n1', uniqueName: () => 'x' });
  onTestFinished(() => client.close());
  server.failures.push(403);
  const web = pod('web');
  const event = { type: 'Warning' as const, reason: 'BackOff', message: 'm', at: 0, lastAt: 1000, count: 2 };
  events.event(web, event);
  events.event(web, { ...event, reason: 'Failed' });
  await server.until(({ method }) => method === 'POST', 2);
  expect(server.asked.at(-1)).toMatchObject({
    path: '/api/v1/namespaces/shop/events',
    body: {
      metadata: { name: 'web.x', namespace: 'shop' },
      involvedObject: { uid: 'uid-web' },
      reason: 'Failed',
      lastTimestamp: '1970-01-01T00:00:01Z',
    },
  });
  await events.close();
});

test('the same event again is counted up, until the server has forgotten it', async () => {
  const { server, pod } = await open();
  const client = new KubernetesClient({ server: await server.start(), verify: true });
  let names = 0;
  const events = createEventWriter({ client, node: 'n1', uniqueName: () => String((names += 1)) });
  onTestFinished(() => client.close());
  const web = pod('web');
  const event = { type: 'Warning' as const, reason: 'BackOff', message: 'm', at: 0, lastAt: 0, count: 1 };
  events.event(web, event);
  await server.until(({ method }) => method === 'POST');
  events.event(web, { ...event, lastAt: 5000, count: 2 });
  await server.until(isPatch);
  expect(server.asked.find(isPatch)).toMatchObject({
    path: '/api/v1/namespaces/shop/events/web.1',
    body: { lastTimestamp: '1970-01-01T00:00:05Z', count: 2 },
  });
  server.failures.push(404);
  events.event(web, { ...event, lastAt: 6000, count: 3 });
  await server.until(({ method }) => method === 'POST', 2);
  expect(server.asked.at(-1)?.body).toMatchObject({ metadata: { name: 'web.2' }, count: 3 });
  await events.close();
});
