import { keysBelow, type PodFacts, podFactsKind } from '@podwire/cluster-state';
import { createTestClock } from '@podwire/platform/testing';
import { encodeObject } from '@podwire/store';
import { createMemoryServer } from '@podwire/store/memory';
import { expect, test } from 'vitest';
import type { PolicyCluster } from '../../src/policy/contract.js';
import { followCluster } from '../../src/policy/inputs/follow-cluster.js';
import type { PolicyInputs } from '../../src/policy/inputs/inputs.js';
import { createLogged } from '../fakes/logged.js';

const keys = keysBelow('/podwire');

/** No node says anything about itself. */
const noNodes = { synced: Promise.resolve(), nodes: new Map(), onChange: () => () => undefined };

test('a pod of this node that is deleted from the store is noticed; one of another node is none of its', async () => {
  const clock = createTestClock();
  const store = createMemoryServer({ clock }).connect();
  const put = async (node: string, name: string): Promise<string> => {
    const facts: PodFacts = { namespace: 'shop', name, node, labels: {}, addresses: [], ports: [] };
    const key = keys.podFacts(node, 'shop', name);
    await store.put(key, encodeObject(podFactsKind, facts));
    return key;
  };
  const written = [await put('n1', 'a'), await put('n2', 'b')];
  const lost: string[] = [];
  const follower = followCluster({
    cluster: { store, keys, cache: noNodes } as unknown as PolicyCluster,
    nodeName: 'n1',
    inputs: {
      noteRemote: () => ({ inputs: [], links: [], released: [], taken: [] }),
    } as unknown as PolicyInputs,
    push: () => undefined,
    noteLost: (pod) => void lost.push(pod),
    refreshNode: () => undefined,
    log: createLogged().log,
  });
  await follower.synced;
  expect(lost).toEqual([]);
  for (const key of written) await store.delete(key);
  await expect.poll(() => lost).toEqual(['shop/a']);
  await follower.close();
});
