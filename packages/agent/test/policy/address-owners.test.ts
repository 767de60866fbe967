import { createTestClock } from '@podwire/platform/testing';
import { expect, test } from 'vitest';
import { AddressOwners } from '../../src/policy/force/address-owners.js';
import { createLogged } from '../fakes/logged.js';

const live = new AbortController().signal;

/** A connection tracking table that can be slow, and fail. */
function createNode() {
  const clock = createTestClock();
  const { log, messages } = createLogged();
  const node = { clock, messages, walks: [] as string[][], failures: 0, slow: false, end: () => {} };
  const owners = new AddressOwners({
    ...{ clock, log },
    cuts: {
      async forget(addresses) {
        node.walks.push([...addresses]);
        if (node.failures-- > 0) throw new Error('EBUSY');
        if (node.slow) await new Promise<void>((resolve) => (node.end = resolve));
      },
    },
  });
  const isSettled = async (addresses: readonly string[]): Promise<boolean> => {
    let is = false;
    void owners.settled(addresses, live).then(() => (is = true));
    await clock.settle();
    return is;
  };
  return { node, owners, isSettled };
}

test('walks through the table once for all pods that go within a quarter of a second', async () => {
  const { node, owners } = createNode();
  owners.release(['10.0.0.1', 'fd00::1']);
  await node.clock.advance(200);
  owners.release(['10.0.0.2']);
  expect(node.walks).toEqual([]);
  await node.clock.advance(50);
  expect(node.walks).toEqual([['10.0.0.1', 'fd00::1', '10.0.0.2']]);
  await node.clock.advance(10_000);
  expect(node.walks).toHaveLength(1);
});

test('an address that waits is settled at once when a pod is about to get it', async () => {
  const { node, owners, isSettled } = createNode();
  owners.release(['10.0.0.1', '10.0.0.2']);
  await node.clock.settle();
  expect(await isSettled(['10.0.0.3'])).toBe(true);
  expect(node.walks).toEqual([]);
  expect(await isSettled(['10.0.0.2'])).toBe(true);
  expect(node.walks).toEqual([['10.0.0.1', '10.0.0.2']]);
});

test('an address that another pod has already does not wait', async () => {
  const { node, owners } = createNode();
  owners.release(['10.0.0.1', '10.0.0.2']);
  owners.take(['10.0.0.9']);
  await node.clock.settle();
  expect(node.walks).toEqual([]);
  owners.take(['10.0.0.1']);
  await node.clock.settle();
  expect(node.walks).toEqual([['10.0.0.1', '10.0.0.2']]);
});

test('an address that goes while the table is walked through is for the next walk', async () => {
  const { node, owners, isSettled } = createNode();
  node.slow = true;
  owners.release(['10.0.0.1']);
  await node.clock.advance(250);
  owners.release(['10.0.0.2']);
  expect(await isSettled(['10.0.0.1'])).toBe(false);
  node.end();
  expect(await isSettled(['10.0.0.1'])).toBe(true);
  expect(await isSettled(['10.0.0.2'])).toBe(false);
  expect(node.walks).toEqual([['10.0.0.1'], ['10.0.0.2']]);
  node.end();
  expect(await isSettled(['10.0.0.2'])).toBe(true);
});

test('a walk that has failed is repeated, and its addresses are not settled until then', async () => {
  const { node, owners, isSettled } = createNode();
  node.failures = 1;
  owners.release(['10.0.0.1']);
  await node.clock.advance(250);
  expect(node.messages).toEqual(['warn: connections of earlier owners of addresses could not be deleted']);
  await node.clock.advance(10_000);
  expect(node.walks).toEqual([['10.0.0.1'], ['10.0.0.1']]);
  expect(await isSettled(['10.0.0.1'])).toBe(true);
});

test('an agent that stops leaves no address waiting', async () => {
  const { node, owners } = createNode();
  owners.release(['10.0.0.1']);
  await owners.stop();
  expect(node.walks).toEqual([['10.0.0.1']]);
  await owners.stop();
  expect(node.walks).toHaveLength(1);
});
