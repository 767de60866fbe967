/**
 * Dies at every point of apply and of remove that the engine offers, and lets another engine finish with nothing but
 * the list, as the agent does after a restart. The host must be as it was before.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertSameSnapshot, type PrivateHost, type Snapshot, takeSnapshot } from '@podwire/testkit';
import type { FaultPoints, Owned } from '@podwire/engine';
import { crashAt, ignoringCrash, pointsOf } from './crashes.js';
import { call, createEngineHost, endpointOf, type EngineHost, node } from './fixture.js';

let bench: EngineHost;
let host: PrivateHost;
let before_: Snapshot;

before(async () => {
  bench = await createEngineHost('crash');
  host = bench.host;
  await bench.engine.apply(node, call());
  before_ = await takeSnapshot(host.namespace);
});
after(async () => bench.close());

async function finish(owned: Owned): Promise<void> {
  const successor = bench.restart();
  await successor.remove(owned, call());
  await successor.settle();
  assertSameSnapshot(before_, await takeSnapshot(host.namespace));
}

test('a crash at any point of apply leaves nothing that the list does not take away', async () => {
  const owned = endpointOf(host.addPod(), 1);
  const apply = async (faults: FaultPoints) => bench.restart({ faults, single: true }).apply(owned, call());
  const points = await pointsOf(apply);
  await finish(owned);
  assert.ok(points.length > owned.resources.length, `only ${points.length} points`);
  for (const point of points) {
    await ignoringCrash(apply(crashAt(point)));
    await finish(owned);
  }
});

test('a crash at any point of remove can be finished', async () => {
  const owned = endpointOf(host.addPod(), 2);
  const remove = async (faults: FaultPoints) => {
    const engine = bench.restart({ faults, single: true });
    await engine.remove(owned, call());
    await engine.settle();
  };
  await bench.engine.apply(owned, call());
  const points = await pointsOf(remove);
  assert.deepEqual(points.slice(-2), ['deferred:begin', 'deferred:end']);
  for (const point of points) {
    await bench.engine.apply(owned, call());
    await ignoringCrash(remove(crashAt(point)));
    await finish(owned);
  }
});
