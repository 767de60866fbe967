import { keysBelow, type PolicyStatus } from '@podwire/cluster-state';
import { createTestClock } from '@podwire/platform/testing';
import type { LeaseId } from '@podwire/store';
import { createMemoryServer } from '@podwire/store/memory';
import { expect, test } from 'vitest';
import { StatusWriter } from '../../src/policy/publish/status-writer.js';
import { createLogged } from '../fakes/logged.js';

const keys = keysBelow('/podwire');
const key = keys.policyStatus('n1');
const statusAt = (revision: number): PolicyStatus => ({ node: 'n1', revision, problems: [] });

async function createNode() {
  const clock = createTestClock();
  const store = createMemoryServer({ clock }).connect();
  const { log, messages } = createLogged();
  const lease = await store.grantLease(10_000_000);
  const now: { status: PolicyStatus | undefined; lease: LeaseId | undefined } = {
    ...{ status: statusAt(7), lease: lease.id },
  };
  const writer = new StatusWriter({
    ...{ node: 'n1', store, keys, clock, log },
    read: () => now.status,
    leaseId: () => now.lease,
  });
  const note = async (): Promise<void> => {
    writer.note();
    await clock.settle();
  };
  return { clock, store, messages, lease, now, note };
}

test('the status is in the store, and goes with the lease of the node', async () => {
  const { store, lease, note } = await createNode();
  await note();
  expect((await store.get(key))?.value).toContain('"revision":7');
  await lease.revoke();
  expect(await store.get(key)).toBeUndefined();
});

test.each(['status', 'lease'] as const)('without a %s nothing is told', async (field) => {
  const { store, now, note } = await createNode();
  now[field] = undefined;
  await note();
  expect(await store.get(key)).toBeUndefined();
});

test('the same is not written twice; another one is, and the same with the next lease', async () => {
  const { store, lease, now, note } = await createNode();
  await note();
  const first = (await store.get(key))?.revision;
  await note();
  expect((await store.get(key))?.revision).toBe(first);
  now.status = statusAt(8);
  await note();
  expect((await store.get(key))?.value).toContain('"revision":8');
  await lease.revoke();
  now.lease = (await store.grantLease(10_000_000)).id;
  await note();
  expect(await store.get(key)).toMatchObject({ lease: now.lease });
});

test('a store that is away is told, and gets the newest status when it is back', async () => {
  const { clock, store, messages, now, note } = await createNode();
  store.cut();
  await note();
  expect(messages[0]).toBe('warn: the state of policy did not reach the store');
  now.status = statusAt(9);
  store.restore();
  await clock.advance(10_000);
  expect((await store.get(key))?.value).toContain('"revision":9');
});
