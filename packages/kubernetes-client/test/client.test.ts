import { expect, onTestFinished, test } from 'vitest';
import { KubernetesClient } from '../src/client.js';
import { FakeApiServer } from '../src/testing/fake-api-server.js';

test.each(['', '/', '/k8s/clusters/c-1', '/k8s/clusters/c-1/'])(
  'a server may have a path of its own (%j)',
  async (base) => {
    const server = new FakeApiServer();
    const client = new KubernetesClient({ server: `${await server.start()}${base}`, verify: true });
    onTestFinished(async () => {
      await client.close();
      server.close();
    });
    await client.request('GET', '/api/v1/pods', { signal: new AbortController().signal });
    expect(server.asked.map(({ path }) => path)).toEqual([`${base.replace(/\/$/, '')}/api/v1/pods`]);
  },
);
