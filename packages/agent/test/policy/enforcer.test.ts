import { PodwireError } from '@podwire/errors';
import type { Resource } from '@podwire/engine';
import type { LinkChange } from '@podwire/network-policy';
import { noFaults } from '@podwire/platform';
import { createTestClock } from '@podwire/platform/testing';
import type { InputChange } from '@podwire/policy';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Enforcer, type Applied } from '../../src/policy/force/enforcer.js';
import { createLog } from '../../src/log.js';
import { FakeEngine } from '../fakes/fake-engine.js';
import { createPolicyWorld, linkElement, policyElement } from '../fakes/policy-world.js';

/** An engine whose kernel refuses some elements. */
class PickyEngine extends FakeEngine {
  readonly refused = new Set<string>();
  readonly asked: string[][] = [];

  override async change(...[owner, change, options]: Parameters<FakeEngine['change']>): Promise<void> {
    const names = (change.replace ?? []).map(nameOf);
    if (names.length > 0) this.asked.push(names);
    const bad = names.find((name) => this.refused.has(name));
    if (bad !== undefined) throw new PodwireError('KERNEL_REFUSED', `policy: ${bad}: no`);
    await super.change(owner, change, options);
  }

  get inForce(): string[] {
    return [...this.present.values()].map(({ resource }) => nameOf(resource)).sort();
  }
}

const nameOf = (resource: Resource): string =>
  resource.kind === 'nft-element' ? String(resource.key[0]?.value) : resource.kind;

const links = (name: string, isThere = true): LinkChange[] => [
  { link: name, value: isThere ? { link: name, endpoint: `shop/${name}`, addresses: [] } : undefined },
];
const pod = (name: string, isThere = true): InputChange => ({
  topic: 'pod',
  key: `shop/${name}`,
  value: isThere
    ? { namespace: 'shop', name, labels: {}, addresses: [], node: 'node1', ports: [] }
    : undefined,
});
const arrival = (name: string) => ({ inputs: [pod(name)], links: links(name) });
const departure = (name: string) => ({ inputs: [pod(name, false)], links: links(name, false) });
const policy = (id: string) => ({
  inputs: [{ topic: 'policy', key: id, value: { reference: {}, tier: 'default' } } as unknown as InputChange],
});

const clock = createTestClock();
let engine: PickyEngine;
let enforcer: Enforcer;
let world: ReturnType<typeof createPolicyWorld>;
const applied: Applied[] = [];

async function startEnforcer(): Promise<void> {
  engine = new PickyEngine();
  world = createPolicyWorld({ clock });
  enforcer = new Enforcer({
    ...{
      engine,
      clock,
      faults: noFaults,
      log: createLog({ level: 'silent', nodeName: 'node1', destination: { write: () => undefined } }),
    },
    compiler: world.createCompiler({ node: 'node1' }),
    renderer: world.createRenderer({ podLinkPrefixes: [], logGroup: 1 }),
    onApplied: (one) => void applied.push(one),
  });
  enforcer.open();
  await enforcer.push({});
  engine.asked.length = 0;
}

beforeEach(startEnforcer);
afterEach(async () => enforcer.stop(new Error('the test has ended')));

const outcomes = async (pushes: readonly Promise<void>[]): Promise<string[]> =>
  (await Promise.allSettled(pushes)).map(({ status }) => status);

test('a pod does not fail because of another one of the same transaction', async () => {
  engine.refused.add('bad');
  const pushes = ['a', 'bad', 'b'].map((name) => enforcer.push(arrival(name)));
  expect(await outcomes(pushes)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(engine.inForce).toEqual(['a', 'b']);
  expect(engine.asked).toEqual([['a', 'bad', 'b'], ['a'], ['bad'], ['b']]);
  expect(enforcer.problem).toBeInstanceOf(PodwireError);
  await expect(pushes[1]).rejects.toThrow('bad: no');
});

test('what came with it is in force before the pods are tried', async () => {
  engine.refused.add('bad');
  const pushes = [
    enforcer.push(arrival('bad')),
    enforcer.push({ ...policy('p'), revision: 7 }),
    enforcer.push(arrival('a')),
  ];
  expect(await outcomes(pushes)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(engine.inForce).toEqual(['a', 'p']);
  expect(enforcer.inForce).toBe(7);
  expect(engine.asked).toEqual([['p', 'bad', 'a'], ['p'], ['bad'], ['a']]);
});

test('a pod that was refused is tried again until it is in force, alone', async () => {
  engine.refused.add('bad');
  await outcomes([enforcer.push(arrival('a')), enforcer.push(arrival('bad'))]);
  engine.refused.clear();
  engine.asked.length = 0;
  await clock.advance(10_000);
  expect(engine.asked).toEqual([['bad']]);
  expect(engine.inForce).toEqual(['a', 'bad']);
  expect(enforcer.problem).toBeUndefined();
});

test('the next pod is added while another one is refused, and what goes is not tried again', async () => {
  engine.refused.add('bad');
  await outcomes([enforcer.push(arrival('a')), enforcer.push(arrival('bad'))]);
  await enforcer.push(arrival('b'));
  await enforcer.push(departure('bad'));
  expect(enforcer.problem).toBeUndefined();
  engine.asked.length = 0;
  await clock.advance(10_000);
  expect(engine.asked.flat()).toEqual([]);
  expect(engine.inForce).toEqual(['a', 'b']);
});

test('a pod that is gone again in the same transaction does not come back', async () => {
  engine.refused.add('bad');
  const pushes = [arrival('a'), departure('a'), arrival('bad'), arrival('b')].map((one) =>
    enforcer.push(one),
  );
  expect(await outcomes(pushes)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(engine.inForce).toEqual(['b']);
});

test('a pod that comes twice in one transaction is answered once for both', async () => {
  engine.refused.add('bad');
  const pushes = ['bad', 'a', 'bad'].map((one) => enforcer.push(arrival(one)));
  expect(await outcomes(pushes)).toEqual(['rejected', 'fulfilled', 'rejected']);
});

test('a pod that goes and comes again, and is refused, stays away', async () => {
  await enforcer.push(arrival('bad'));
  engine.refused.add('bad');
  const pushes = [departure('bad'), arrival('bad'), arrival('a')].map((one) => enforcer.push(one));
  await outcomes(pushes);
  expect(engine.inForce.filter((one) => one !== 'bad')).toEqual(['a']);
  expect(world.taken.findLast(({ key }) => key === 'shop/bad')?.value).toBeUndefined();
});

test('a policy that is refused keeps pods out: what is in force would not be theirs', async () => {
  engine.refused.add('p');
  const pushes = [enforcer.push(policy('p')), enforcer.push(arrival('a'))];
  expect(await outcomes(pushes)).toEqual(['rejected', 'rejected']);
  expect(engine.inForce).toEqual([]);
  engine.refused.clear();
  await clock.advance(10_000);
  expect(engine.inForce).toEqual(['a', 'p']);
});

test('what had to go goes with the repair of a failed transaction', async () => {
  await enforcer.push(arrival('a'));
  engine.refused.add('p');
  const pushes = [enforcer.push(departure('a')), enforcer.push(policy('p'))];
  expect(await outcomes(pushes)).toEqual(['rejected', 'rejected']);
  expect(engine.inForce).toEqual(['a']);
  engine.refused.clear();
  await clock.advance(10_000);
  expect(engine.inForce).toEqual(['p']);
  expect(engine.present.has(nameOf(linkElement('a')))).toBe(false);
  expect([nameOf(policyElement('p'))]).toEqual(engine.inForce);
});

const name = fc.constantFrom('a', 'b', 'c', 'd');
const step = fc.oneof(
  fc.record({ does: fc.constant('come' as const), name }),
  fc.record({ does: fc.constant('go' as const), name }),
  fc.record({ does: fc.constant('refuse' as const), name }),
  fc.record({ does: fc.constant('relent' as const), name }),
  fc.record({ does: fc.constant('wait' as const), name }),
);

test('whatever is refused and when: who was answered is in force, and in the end all that was said last', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      await enforcer.stop(new Error('the next one'));
      await startEnforcer();
      const there = new Set<string>();
      const answered = new Set<string>();
      for (const { does, name: one } of steps) {
        if (does === 'refuse') engine.refused.add(one);
        if (does === 'relent') engine.refused.delete(one);
        if (does === 'wait') await clock.settle();
        if (does === 'come') {
          there.add(one);
          void enforcer.push(arrival(one)).then(
            () => there.has(one) && answered.add(one),
            () => undefined,
          );
        }
        if (does === 'go') {
          there.delete(one);
          answered.delete(one);
          enforcer.push(departure(one)).catch(() => undefined);
        }
        expect([...answered].filter((each) => !engine.inForce.includes(each))).toEqual([]);
      }
      engine.refused.clear();
      await clock.advance(20_000);
      expect(engine.inForce).toEqual([...there].sort());
    }),
  );
});
