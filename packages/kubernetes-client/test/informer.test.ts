import { systemClock } from '@podwire/platform';
import { expect, onTestFinished, test } from 'vitest';
import { isAboutAnother, KubernetesClient, KubernetesError } from '../src/client.js';
import { type ApiObject, runInformer } from '../src/informer.js';
import { FakeApiServer } from '../src/testing/fake-api-server.js';

async function follow(server: FakeApiServer) {
  const client = new KubernetesClient({ server: await server.start(), verify: true });
  const stop = new AbortController();
  const versions: string[] = [];
  const seen: { readonly kept: readonly string[]; readonly uid: string | undefined }[] = [];
  const read = ({ metadata: { uid, resourceVersion } }: ApiObject): string => {
    versions.push(resourceVersion);
    return uid;
  };
  const onChange = (objects: ReadonlyMap<string, string>, uid?: string): void =>
    void seen.push({ kept: [...objects.values()], uid });
  const options = { client, path: '/api/v1/pods', clock: systemClock, random: () => 0, read, onChange };
  const running = runInformer({ ...options, onTrouble: () => undefined }, stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
    await client.close();
    server.close();
  });
  return { seen, versions };
}

test('an object is read once for each of its versions, and named when it changes or goes', async () => {
  const server = new FakeApiServer();
  for (const name of ['a', 'b', 'c']) server.put(name);
  const { seen, versions } = await follow(server);
  await server.until(({ query }) => query['watch'] === 'true');
  server.put('b');
  server.remove('a');
  await expect
    .poll(() => seen)
    .toEqual([
      { kept: ['uid-a', 'uid-b', 'uid-c'], uid: undefined },
      { kept: ['uid-a', 'uid-b', 'uid-c'], uid: 'uid-b' },
      { kept: ['uid-b', 'uid-c'], uid: 'uid-a' },
    ]);
  expect(versions).toEqual(['101', '102', '103', '104']);
});

test.each([
  [new KubernetesError(404, 'NotFound', 'pods "web" not found'), true],
  [
    new KubernetesError(409, 'Conflict', 'Precondition failed: UID in precondition: a, UID in object: b'),
    true,
  ],
  [new KubernetesError(409, 'Conflict', 'the object has been modified; please apply your changes'), false],
  [new KubernetesError(422, 'Invalid', 'Pod "web" is invalid: metadata.uid: Invalid value'), true],
  [new KubernetesError(422, 'Invalid', 'Pod "web" is invalid: spec: Forbidden'), false],
  [new KubernetesError(503, '', 'HTTP status 503'), false],
  [new Error('ECONNREFUSED'), false],
])('%s is about another object: %s', (error, expected) => {
  expect(isAboutAnother(error)).toBe(expected);
});
