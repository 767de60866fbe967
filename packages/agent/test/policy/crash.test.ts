/** `kill -9` after every step of an ADD and a DEL: the agent that comes next finds its way, and nothing wrong stays. */
import { crashAt } from '@podwire/engine/compliance';
import { waitUntil } from '@podwire/platform';
import { describe, expect, test } from 'vitest';
import { hostLinks } from '../../src/endpoints/registry.js';
import { loadRecords } from '../../src/recovery.js';
import { createHarness, type Harness, type HarnessOptions, keyOf } from '../fakes/harness.js';
import { createPolicyWorld, linkElement } from '../fakes/policy-world.js';

async function start(options: HarnessOptions = {}): Promise<Harness> {
  const policy = createPolicyWorld();
  policy.tell([]);
  const harness = createHarness({ ...options, dependencies: { policy } });
  loadRecords(harness.context);
  harness.context.policy!.start();
  await harness.recover();
  const { policy: service } = harness.context;
  await waitUntil(
    () => service!.state.isApplied,
    (listener) => service!.onChange(listener),
    AbortSignal.timeout(500),
  );
  return harness;
}

const elements = ({ engine }: Harness): string[] =>
  [...engine.present.values()]
    .filter(({ owner }) => owner === 'policy')
    .map(({ resource }) => JSON.stringify(resource));

async function runSteps(harness: Harness): Promise<void> {
  await harness.call('ADD', { id: 'c1' });
  await harness.call('ADD', { id: 'c2' });
  await harness.call('DEL', { id: 'c1' });
}

async function listPoints(): Promise<string[]> {
  const recorder = crashAt(undefined);
  await runSteps(await start({ faults: recorder }));
  return [...new Set(recorder.seen)];
}

const points = await listPoints();

test('every step of policy is among them', () => {
  expect(points).toEqual(
    expect.arrayContaining([
      'policy:compiled',
      'policy:rendered',
      'policy:in-force',
      'add:selected',
      'teardown:unselected',
    ]),
  );
});

describe.each(points)('%s', (point) => {
  test('is no place to die at', async () => {
    const dying = await start({ faults: crashAt(point) }).catch(() => undefined);
    if (dying === undefined) return;
    await runSteps(dying).catch(() => undefined);
    await dying.context.policy!.stop();
    const { engine, records, namespaces } = dying;
    const next = await start({ engine, records, namespaces });
    await next.reconciler.run();
    const links = next.context.endpoints.all().flatMap((record) => {
      expect(record.phase).toBe('ready');
      return hostLinks(record);
    });
    expect(elements(next).sort()).toEqual(links.map((link) => JSON.stringify(linkElement(link))).sort());
    expect(next.engine.violations).toEqual([]);
    expect((await next.call('ADD', { id: 'c1' })).ok).toBe(true);
    expect(elements(next)).toContain(
      JSON.stringify(linkElement(hostLinks(next.context.endpoints.get(keyOf('c1'))!)[0]!)),
    );
  });
});
