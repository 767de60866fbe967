import { beforeEach, describe, expect, test } from 'vitest';
import type { Changes, Hint, Place } from '@podwire/engine';
import { createTestClock } from '@podwire/platform/testing';
import { DriftWatch } from '../../src/drift/drift-watch.js';
import { OwnerIndex } from '../../src/drift/owner-index.js';
import { watchDrift } from '../../src/drift/watch-places.js';
import { createGate } from '../fakes/gates.js';
import { createReadyHarness, type Harness, keyOf } from '../fakes/harness.js';

let agent: Harness;
let owners: OwnerIndex;

beforeEach(async () => {
  agent = await createReadyHarness();
  for (const id of ['c1', 'c2']) await agent.call('ADD', { id });
  owners = new OwnerIndex(agent.context);
  agent.engine.calls.length = 0;
});

const ownerOf = (id: string): string => `endpoint:${keyOf(id)}`;

interface TestFeed extends Changes {
  readonly hints: Hint[];
  reads: number;
}

/** @param isEndless more hints come than are read */
function createFeed(hints: Hint[] = [], isEndless = false): TestFeed {
  return {
    hints,
    reads: 0,
    read() {
      this.reads++;
      return { hints: isEndless ? this.hints : this.hints.splice(0), more: isEndless };
    },
    close: () => undefined,
  };
}

function watch(place: Place, feed: Changes): DriftWatch {
  const { context, reconciler, drift } = agent;
  return new DriftWatch(place, [feed], {
    ...{ context, owners, reconciler, drift },
    ...{ clock: createTestClock(), deadline: 10_000 },
  });
}

const { signal } = new AbortController();

/** The first resource of the kind that the endpoint has. */
function resourceOf(id: string, kind: string) {
  const found = agent.context.endpoints
    .get(keyOf(id))!
    .resources.find((resource) => resource.kind === kind && (!('in' in resource) || resource.in === 'host'))!;
  const keyed = [...agent.engine.present].find(([, { resource }]) => resource === found)!;
  return { key: agent.engine.kinds.keyOf(found), identity: keyed[0], resource: found };
}

test('a hint leads to the repair of its owner, and of no other one', async () => {
  const { key, identity } = resourceOf('c1', 'route');
  agent.engine.present.delete(identity);
  await watch('host', createFeed([{ keys: [key], by: 'ip (process 7)' }])).look(signal);
  expect(agent.engine.present.has(identity)).toBe(true);
  expect(agent.engine.calls.filter((call) => call.startsWith('verify'))).toEqual([`verify ${ownerOf('c1')}`]);
  expect(agent.drift.view()).toMatchObject({ repaired: 1, checks: 1, last: [{ by: 'ip (process 7)' }] });
});

test('a hint that leads to no owner costs no look', async () => {
  await watch('host', createFeed([{ keys: ['route host/192.0.2.0/24 table 254 metric 0'] }])).look(signal);
  expect(agent.engine.calls).toEqual([]);
  expect(agent.drift.view()).toMatchObject({ checks: 0 });
});

test('an endpoint that has come since is found, and one that has gone is not', async () => {
  const gone = resourceOf('c2', 'route');
  await agent.call('ADD', { id: 'c3' });
  await agent.call('DEL', { id: 'c2' });
  const come = resourceOf('c3', 'route');
  agent.engine.calls.length = 0;
  await watch('host', createFeed([{ keys: [gone.key] }, { keys: [come.key] }])).look(signal);
  expect(agent.engine.calls).toEqual([`verify ${ownerOf('c3')}`]);
});

test('what has come with our mark and has no owner is left to a round', async () => {
  const identity = 'unknown route';
  agent.engine.present.set(identity, { owner: 'unknown', resource: resourceOf('c1', 'route').resource });
  await watch('host', createFeed([{ keys: ['route host/10.244.9.9/32'], marked: true }])).look(signal);
  expect(agent.engine.present.has(identity)).toBe(false);
});

describe('a pod in which something happens all the time', () => {
  const flood = (): TestFeed => {
    const { resource } = resourceOf('c1', 'veth');
    const name = (resource as { readonly host: { readonly name: string } }).host.name;
    return createFeed([{ keys: [`namespace behind ${name}`] }], true);
  };

  test('does not hold up the repair of the node', async () => {
    const [reached, gate] = [createGate(), createGate()];
    agent.engine.between = (point) => {
      if (point !== 'verify') return;
      agent.engine.between = () => undefined;
      reached.open();
      return gate.opened;
    };
    const inPods = watch('pod', flood()).look(signal);
    await reached.opened;
    const table = [...agent.engine.present].find(([, { owner }]) => owner === 'node')!;
    agent.engine.present.delete(table[0]);
    const hint = { keys: [agent.engine.kinds.keyOf(table[1].resource)] };
    const onNode = watch('host', createFeed([hint])).look(signal);
    await expect.poll(() => agent.engine.present.has(table[0])).toBe(true);
    gate.open();
    await onNode;
    await inPods;
  });

  test('is read up to a limit, and looked at less and less often', async () => {
    const feed = flood();
    const pods = watch('pod', feed);
    await pods.look(signal);
    const reads = feed.reads;
    expect(reads).toBeLessThan(10);
    for (let look = 0; look < 200; look++) await pods.look(signal);
    expect(feed.reads).toBe(201 * reads);
    expect(agent.drift.checks).toBeLessThan(30);
  });
});

test('hints of pods that were lost lead to pods, and to no round', async () => {
  await watch('pod', createFeed([{ keys: [], lost: true }])).look(signal);
  expect(agent.engine.calls).toEqual([`verify ${ownerOf('c1')}`, `verify ${ownerOf('c2')}`]);
  expect(agent.drift.view()).toMatchObject({ lost: 1, checks: 2 });
});

test('a place that cannot be listened to is reported, and the other one is watched', async () => {
  const stop = new AbortController();
  const { context, reconciler, drift } = agent;
  const refused = Object.assign(new Error('EPERM'), { code: 'EPERM' });
  const feeds = [
    { place: 'host', open: () => createFeed() },
    {
      place: 'pod',
      open() {
        throw refused;
      },
    },
  ];
  const done = watchDrift(feeds, {
    ...{ context, reconciler, drift, clock: createTestClock(), deadline: 1_000, signal: stop.signal },
  });
  expect(drift.view()).toMatchObject({ watching: true, pods: false });
  stop.abort();
  await done;
  expect(drift.view()).toMatchObject({ watching: false, pods: false });
});
