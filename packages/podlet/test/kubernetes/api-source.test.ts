import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Snapshot } from '../../src/contract.js';
import { createApiSource } from '../../src/kubernetes/api-source.js';
import { KubernetesClient } from '@podwire/kubernetes-client';
import { FakeApiServer } from '@podwire/kubernetes-client/testing';

const clock = {
  now: () => 0,
  elapsed: () => 0,
  /** Pauses are not waited for; a turn of the loop lets others in. */
  sleep: (_milliseconds: number, signal: AbortSignal) => delay(1, undefined, { signal }),
};

async function follow(server: FakeApiServer, { pauses = [] as number[], watchSilence = 60_000 } = {}) {
  onTestFinished(() => server.close());
  const client = new KubernetesClient(
    { server: await server.start(), verify: true, token: () => Promise.resolve('secret') },
    { watchSilence },
  );
  const seen: Snapshot[] = [];
  let wake = (): void => undefined;
  const stop = new AbortController();
  const noting: typeof clock = {
    ...clock,
    sleep: (milliseconds, signal) => {
      pauses.push(milliseconds);
      return clock.sleep(milliseconds, signal);
    },
  };
  const source = createApiSource({ client, node: 'n1', clock: noting, random: () => 0 });
  const emit = (snapshot: Snapshot): void => {
    seen.push(snapshot);
    wake();
  };
  const done = source.run(emit, stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await done;
    await client.close();
  });
  const names = (): string[] => (seen.at(-1)?.pods ?? []).map(({ metadata }) => metadata.name).sort();
  const until = async (fits: () => boolean): Promise<void> => {
    while (!fits()) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { seen, names, until };
}

const isWatch = ({ query }: { query: Record<string, string> }): boolean => query['watch'] === 'true';

test('a list in pages is one snapshot, and each event another whole one', async () => {
  const server = new FakeApiServer();
  for (const name of ['a', 'b', 'c', 'd', 'e']) server.put(name);
  const { seen, names, until } = await follow(server);
  await until(() => seen.length > 0);
  expect(names()).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(seen[0]).not.toHaveProperty('incomplete');
  expect(server.asked[0]).toMatchObject({
    query: { fieldSelector: 'spec.nodeName=n1', limit: '500' },
    authorization: 'Bearer secret',
  });
  await server.until(isWatch);
  server.put('f');
  await until(() => names().includes('f'));
  server.remove('a');
  await until(() => !names().includes('a'));
  expect(names()).toEqual(['b', 'c', 'd', 'e', 'f']);
});

test('a broken watch goes on where the last bookmark was, without listing again', async () => {
  const server = new FakeApiServer();
  server.put('a');
  const { names, until } = await follow(server);
  await server.until(isWatch);
  server.bookmark(777);
  server.put('b', { metadata: { uid: 'uid-b', name: 'b', namespace: 'shop', resourceVersion: '778' } });
  await until(() => names().includes('b'));
  server.breakWatches();
  await server.until(isWatch, 2);
  expect(server.asked.filter(isWatch).at(-1)!.query['resourceVersion']).toBe('778');
  expect(server.asked.filter((asked) => !isWatch(asked))).toHaveLength(1);
});

test.each(['at once', 'under way'])(
  'a version that the server has forgotten: list again (410 %s)',
  async (when) => {
    const server = new FakeApiServer();
    server.put('a');
    const { seen, names, until } = await follow(server);
    await server.until(isWatch);
    server.pods.clear();
    server.put('z', { metadata: { uid: 'uid-z', name: 'z', namespace: 'shop', resourceVersion: '500' } });
    await until(() => names().includes('z'));
    if (when === 'at once') {
      server.oldest = 10_000;
      server.breakWatches();
      await server.until((asked) => !isWatch(asked), 2);
      server.oldest = 0;
    } else server.sendError(410);
    await until(() => names().join() === 'z');
    expect(seen.at(-1)!.problems).toEqual([]);
  },
);

test('a server that never answered leaves us ignorant; one that goes away changes nothing but a problem', async () => {
  const server = new FakeApiServer();
  server.failures.push(500, 503);
  server.put('a');
  const { seen, names, until } = await follow(server);
  await until(() => names().includes('a'));
  expect(seen[0]).toMatchObject({
    incomplete: true,
    pods: [],
    problems: [{ source: 'api', message: 'no 500' }],
  });
  expect(seen.at(-1)!.problems).toEqual([]);
  await server.until(isWatch);
  server.failures.push(500);
  server.breakWatches();
  await until(() => seen.at(-1)!.problems.length > 0);
  expect(names()).toEqual(['a']);
  expect(seen.at(-1)).not.toHaveProperty('incomplete');
  await until(() => seen.at(-1)!.problems.length === 0);
});

describe('a server that was listed and then', () => {
  const growing = [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000];

  test('refuses to be watched is asked more and more seldom, and the problem stays until it does not', async () => {
    const server = new FakeApiServer();
    server.put('a');
    const pauses: number[] = [];
    const { seen, until } = await follow(server, { pauses });
    await server.until(isWatch);
    server.failures.push(...growing.slice(1).map(() => 503));
    server.breakWatches();
    await server.until(isWatch, growing.length + 1);
    await until(() => seen.at(-1)!.problems.length === 0);
    expect(pauses).toEqual(growing);
    const told = seen.map(({ problems }) => problems.length);
    expect(told.lastIndexOf(1) - told.indexOf(1)).toBeLessThan(2);
    expect(seen.at(-1)).not.toHaveProperty('incomplete');
  });

  test('ends each watch at once, without a word, is no reason for a storm', async () => {
    const server = new FakeApiServer();
    server.put('a');
    server.endsWatches = true;
    const pauses: number[] = [];
    const { seen } = await follow(server, { pauses });
    await server.until(isWatch, growing.length + 1);
    expect(pauses.slice(0, growing.length)).toEqual(growing);
    expect(seen.flatMap(({ problems }) => problems).map(({ message }) => message)).toContain(
      'the API server ends each watch at once',
    );
  });

  test('says nothing any more, not even a bookmark, is watched anew', async () => {
    const server = new FakeApiServer();
    server.put('a');
    const { seen, until } = await follow(server, { watchSilence: 100 });
    const silent = 'the API server has said nothing for 0.1 s';
    await until(() => seen.some(({ problems }) => problems[0]?.message.startsWith(silent) === true));
    await server.until(isWatch, 2);
  });
});

test('what a newer server knows is passed by', async () => {
  const server = new FakeApiServer();
  server.put('a', {
    spec: {
      containers: [{ name: 'c', image: 'i', futureField: 1 }],
      futureSpec: {},
      serviceAccountName: 'x',
    },
  });
  const { seen, until } = await follow(server);
  await until(() => seen.length > 0);
  expect(seen[0]).toMatchObject({
    problems: [],
    pods: [{ metadata: { name: 'a' }, spec: { restartPolicy: 'Always' } }],
  });
});

test('a list that is refused as too old is told, and asked for again after a pause', async () => {
  const server = new FakeApiServer();
  server.put('web');
  server.failures.push(410);
  const { seen, names, until } = await follow(server);
  await until(() => names().length === 1);
  expect(seen[0]).toMatchObject({ incomplete: true, problems: [{ message: 'no 410' }] });
  expect(seen.at(-1)?.problems).toEqual([]);
});
