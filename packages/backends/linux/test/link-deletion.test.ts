import { createFakeSystem, type FakeSystem, nodeResources, podResources } from '../src/fake/index.js';
import { createLinuxBackends } from '../src/index.js';
import { createEngine, type Engine, type Owned } from '@podwire/engine';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { listLinks } from '@podwire/netlink';
import { call } from './call.js';

/** rtnetlink(7) */
const RTM_DELLINK = 17;

let system: FakeSystem;
let engine: Engine;
let complaints: string[];

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  system = createFakeSystem();
  complaints = [];
  const onError = (message: string) => void complaints.push(message);
  engine = createEngine({ backends: createLinuxBackends(system), now: () => Date.now(), onError });
  await engine.apply({ owner: 'node', resources: nodeResources }, call());
});

afterEach(() => vi.useRealTimers());

/** Two links each; 32 links are a group. */
async function removePods(count: number): Promise<void> {
  for (let n = 1; n <= count; n++) {
    const namespace = system.addPod(`/run/netns/pod${n}`);
    const owned: Owned = { owner: `endpoint:${n}`, resources: podResources(n), namespace };
    await engine.apply(owned, call());
    await engine.remove(owned, call());
  }
}

function refuseDeletions(count = Infinity): void {
  let refused = 0;
  system.netlink.intercept = ({ type }) =>
    type === RTM_DELLINK && refused++ < count ? { code: 'ENOBUFS' } : undefined;
}

/** Time passes, and the fake kernel gets its turns of the event loop in between. */
async function pass(milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 25) {
    await vi.advanceTimersByTimeAsync(25);
    for (let turn = 0; turn < 4; turn++) await setImmediate();
  }
}

/** All but `lo`. */
const links = (): number => listLinks(system.host.route).length - 1;

test('a group that cannot be deleted does not stop the groups after it', async () => {
  refuseDeletions(1);
  await removePods(20);
  expect(links()).toBe(40);
  await pass(5_000);
  expect(links()).toBe(0);
  expect(complaints).toEqual([expect.stringContaining('ENOBUFS')]);
});

test('what cannot be deleted is tried again, but not forty times a second', async () => {
  refuseDeletions();
  await removePods(1);
  await pass(10_000);
  expect(complaints.length).toBeGreaterThan(5);
  expect(complaints.length).toBeLessThan(15);
});

test('an engine that is closed has closed its kernel and tries nothing more, also when links cannot be deleted', async () => {
  refuseDeletions();
  await removePods(1);
  const close = vi.spyOn(system, 'close');
  await engine.close();
  expect(close).toHaveBeenCalledOnce();
  expect(complaints).toEqual([expect.stringContaining('ENOBUFS')]);
  expect(vi.getTimerCount()).toBe(0);
});
