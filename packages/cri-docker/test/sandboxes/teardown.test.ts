import { createFakePodNetwork } from '@podwire/pod-network/fake';
import { expect, test } from 'vitest';
import type { SandboxContext } from '../../src/context.js';
import { silentLog, noFaults } from '@podwire/platform';
import { teardownSandbox } from '../../src/sandboxes/teardown.js';

const id = 'a'.repeat(64);

test('a checkpoint that cannot be read keeps neither the network nor the process of a sandbox', async () => {
  const network = createFakePodNetwork();
  await network.setUp({
    ...{ namespace: 'default', name: 'web', uid: 'u', sandboxId: id, netns: '/nowhere' },
    ...{ annotations: {}, portMappings: [] },
  });
  const stopped: string[] = [];
  const context = {
    network,
    docker: { stopContainer: (each: string) => Promise.resolve(void stopped.push(each)) },
    checkpoints: { read: () => Promise.reject(new Error('EIO: cannot be read')) },
    networkReady: new Map([[id, false]]),
    settings: { netnsDirectory: '/nowhere/netns', cleanupTimeoutMs: 60_000 },
    log: silentLog,
    faults: noFaults,
  } as unknown as SandboxContext;
  await expect(teardownSandbox(context, id, { keepContainer: true })).rejects.toThrow('EIO');
  expect([...network.attached.keys()]).toEqual([]);
  expect(stopped).toEqual([id]);
});
