import { keysBelow } from '@podwire/cluster-state';
import { createTestClock } from '@podwire/platform/testing';
import type { LeaseId } from '@podwire/store';
import { createMemoryServer } from '@podwire/store/memory';
import { expect, test } from 'vitest';
import type { ClusterMember } from '../../src/cluster/contract.js';
import { tellSwitchedOff } from '../../src/policy/publish/switched-off.js';
import { createLogged } from '../fakes/logged.js';

const keys = keysBelow('/podwire');

test('a node whose policy is switched off says so with each lease, and with none before its first', async () => {
  const clock = createTestClock();
  const store = createMemoryServer({ clock }).connect();
  const listeners: (() => void)[] = [];
  const registration: { leaseId: LeaseId | undefined; onChange(listener: () => void): void } = {
    leaseId: undefined,
    onChange: (listener) => void listeners.push(listener),
  };
  const onObjectsInForce = (listener: () => void): void => void listeners.push(listener);
  const member = { keys, registration, onObjectsInForce, objectsInForce: 7 } as unknown as ClusterMember;
  const writer = tellSwitchedOff('n1', member, { store, clock }, createLogged().log);
  const read = async (): Promise<string | undefined> => {
    for (const listener of listeners) listener();
    await clock.settle();
    return (await store.get(keys.policyStatus('n1')))?.value;
  };
  expect(await read()).toBeUndefined();
  for (let life = 0; life < 2; life++) {
    const lease = await store.grantLease(10_000_000);
    registration.leaseId = lease.id;
    expect(await read()).toMatch(/"isOff":true.*"objects":7/);
    await lease.revoke();
  }
  await writer.stop();
});
