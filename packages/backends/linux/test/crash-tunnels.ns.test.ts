/**
 * Dies at every point of applying, removing and reconciling peers and the tunnel, and lets another engine finish with nothing but
 * what is wanted, as the agent does after a restart. The host must be what it would be without the crash.
 */
import { createLinuxBackends, openKernel } from '../src/index.js';
import { createEngine, type Engine, type FaultPoints, type Owned } from '@podwire/engine';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  createPrivateHost,
  type PrivateHost,
  type Snapshot,
  takeSnapshot,
  untilSameSnapshot,
} from '@podwire/testkit';
import { call } from './call.js';
import { crashAt, ignoringCrash, pointsOf } from './crashes.js';
import { peerOf } from './tunnel-resources.js';
import { makeUnderlay, nodeOf } from './tunnels.js';

let host: PrivateHost;
const engines: Engine[] = [];
const peers = [peerOf(2), peerOf(3)];

const start = (faults?: FaultPoints): Engine => {
  const options = faults === undefined ? {} : { faults, single: true };
  const engine = createEngine({ backends: createLinuxBackends(openKernel(host.namespace)), ...options });
  engines.push(engine);
  return engine;
};

before(async () => {
  host = await createPrivateHost({ name: 'crash-vx' });
  const kernel = openKernel(host.namespace);
  makeUnderlay(kernel.host.route);
  kernel.close();
  await host.namespace.ip('route add 10.77.0.0/24 dev eth0', 'route add 10.9.2.64/26 dev eth0');
});
after(async () => {
  await Promise.allSettled(engines.map(async (engine) => engine.close()));
  await host.close();
});

/** Another engine makes the host what `desired` says. */
async function finish(desired: readonly Owned[]): Promise<void> {
  const successor = start();
  const changes = await successor.reconcile(desired, call());
  assert.deepEqual(
    changes.filter(({ action }) => action === 'failed'),
    [],
  );
  await successor.settle();
  assert.deepEqual(await successor.reconcile(desired, call()), []);
}

const picture = async (): Promise<Snapshot> => takeSnapshot(host.namespace);

/** The fingerprint of a table counts how often it was made. */
const ignored = { ignore: [/structure_seal/] };

/** Dies at each point on the way from one state to another; the successor goes on, or back. */
async function dieEverywhere(
  from: readonly Owned[],
  to: readonly Owned[],
  work: (engine: Engine) => Promise<unknown>,
): Promise<number> {
  await finish(to);
  const end = await picture();
  await finish(from);
  const begin = await picture();
  const points = await pointsOf(async (faults) => work(start(faults)));
  await finish(to);
  await untilSameSnapshot(end, picture, ignored);
  for (const point of points) {
    for (const [desired, expected] of [
      [to, end],
      [from, begin],
    ] as const) {
      await finish(from);
      await ignoringCrash(work(start(crashAt(point))));
      await finish(desired);
      await untilSameSnapshot(expected, picture, ignored);
    }
  }
  return points.length;
}

const some = [nodeOf(), peers[0]!];
const all = [nodeOf(), ...peers];

test('a crash at any point of applying a peer', async () => {
  const count = await dieEverywhere(some, all, async (engine) => engine.apply(peers[1]!, call()));
  assert.ok(count > peers[1]!.resources.length, `only ${count} points`);
});

test('a crash at any point of removing a peer', async () => {
  const count = await dieEverywhere(all, some, async (engine) => engine.remove(peers[1]!, call()));
  assert.ok(count > peers[1]!.resources.length, `only ${count} points`);
});

test('a crash at any point of bringing everything up by reconcile, and of taking it down', async () => {
  const nothing: Owned[] = [];
  const up = await dieEverywhere(nothing, all, async (engine) => engine.reconcile(all, call()));
  assert.ok(up > all.flatMap(({ resources }) => resources).length, `only ${up} points`);
  await dieEverywhere(all, nothing, async (engine) => engine.reconcile(nothing, call()));
});

test('a crash at any point of making the tunnel anew', async () => {
  const other = [nodeOf({ id: 4097 }), ...peers];
  const count = await dieEverywhere(all, other, async (engine) => engine.reconcile(other, call()));
  assert.ok(count > 10, `only ${count} points`);
});
