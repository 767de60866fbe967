import { expect, test } from 'vitest';
import { type KubernetesClient, KubernetesError } from '@podwire/kubernetes-client';
import { createConfigMapFinder } from '../../src/kubernetes/config-maps.js';

const { signal } = new AbortController();

function answering(answer: () => unknown): { client: KubernetesClient; asked: string[] } {
  const asked: string[] = [];
  const client = {
    request: (verb: string, path: string) => {
      asked.push(`${verb} ${path}`);
      return Promise.resolve().then(answer);
    },
  } as unknown as KubernetesClient;
  return { client, asked };
}

test('a ConfigMap of the API server is found by name, and parts that it lacks are empty', async () => {
  const { client, asked } = answering(() => ({ data: { colour: 'red' } }));
  const found = await createConfigMapFinder(client)('shop', 'settings', signal);
  expect(found).toEqual({ data: { colour: 'red' }, binaryData: {} });
  expect(asked).toEqual(['GET /api/v1/namespaces/shop/configmaps/settings']);
});

test('a missing ConfigMap is an answer; no response is an error', async () => {
  const missing = answering(() => {
    throw new KubernetesError(404, 'NotFound', 'configmaps "settings" not found');
  });
  expect(await createConfigMapFinder(missing.client)('shop', 'settings', signal)).toBeUndefined();
  const refused = answering(() => {
    throw new KubernetesError(403, 'Forbidden', 'not for you');
  });
  await expect(createConfigMapFinder(refused.client)('shop', 'settings', signal)).rejects.toThrow(
    'not for you',
  );
});
