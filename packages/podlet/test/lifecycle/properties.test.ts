import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeActions } from '../../src/lifecycle/actions.js';
import { BackOff } from '../../src/lifecycle/back-off.js';
import { collectable } from '../../src/lifecycle/garbage.js';
import { graceOf, remainingGrace } from '../../src/lifecycle/grace.js';
import { isAlive, type ObservedContainer, type ObservedPod } from '../../src/lifecycle/observed.js';
import { isTerminal } from '../../src/lifecycle/phase.js';
import { computeStatus, type PodFacts } from '../../src/lifecycle/status.js';
import type { Pod } from '@podwire/pod-spec';
import { aContainer, aPod } from '../sync/pods.js';
import { instance, observed, sandbox } from './observe.js';

const normalNames = ['a', 'b'];
const initNames = ['one', 'proxy', 'two'];

const pods: fc.Arbitrary<Pod> = fc
  .record({
    restartPolicy: fc.constantFrom('Always' as const, 'OnFailure' as const, 'Never' as const),
    hostNetwork: fc.boolean(),
    init: fc.subarray(initNames),
    normal: fc.subarray(normalNames, { minLength: 1 }),
  })
  .map(({ init, normal, ...spec }) =>
    aPod({
      spec: {
        ...spec,
        containers: normal.map((name) => aContainer(name)),
        initContainers: init.map((name) =>
          aContainer(name, name === 'proxy' ? { restartPolicy: 'Always' } : {}),
        ),
      },
    }),
  );

const containers: fc.Arbitrary<ObservedContainer> = fc
  .record({
    name: fc.constantFrom(...normalNames, ...initNames, 'unknown'),
    attempt: fc.nat(4),
    sandboxId: fc.constantFrom('sandbox-0', 'sandbox-1'),
    state: fc.constantFrom('created' as const, 'running' as const, 'exited' as const, 'unknown' as const),
    exitCode: fc.constantFrom(0, 1, 137),
    specHash: fc.constantFrom('changed', ''),
  })
  .map(({ name, specHash, ...rest }) =>
    instance(name, { ...rest, ...(specHash === '' ? {} : { specHash }) }),
  );

const states: fc.Arbitrary<ObservedPod> = fc
  .record({
    sandboxes: fc.uniqueArray(
      fc
        .record({ attempt: fc.nat(1), ready: fc.boolean(), addresses: fc.constantFrom([], ['10.0.0.1']) })
        .map(sandbox),
      { maxLength: 2, selector: ({ id }) => id },
    ),
    containers: fc.array(containers, { maxLength: 6 }),
  })
  .map((found) => observed(found.sandboxes, found.containers));

const probeResult = () => undefined;
const facts: PodFacts = { probeResult, waiting: new Map(), now: 1_000_000, nodeAddresses: ['192.0.2.1'] };

fc.configureGlobal({ numRuns: 1_000 });

describe('for any pod in any state', () => {
  it('nothing is both killed and left alone: what is started again was killed before, or does not run', () => {
    fc.assert(
      fc.property(pods, states, (pod, found) => {
        const actions = computeActions(pod, found, facts);
        const killed = new Set(actions.kill.map(({ container }) => container.id));
        for (const { container } of actions.start) {
          const alive = found.containers.filter((one) => one.name === container.name && isAlive(one));
          expect(actions.killPod || alive.every(({ id }) => killed.has(id))).toBe(true);
        }
        if (actions.killPod) expect(actions.kill).toEqual([]);
      }),
    );
  });

  it('each container is killed once and started once, and only what is alive is killed', () => {
    fc.assert(
      fc.property(pods, states, (pod, found) => {
        const { kill, start } = computeActions(pod, found, facts);
        expect(new Set(kill.map(({ container }) => container.id)).size).toBe(kill.length);
        expect(new Set(start.map(({ container }) => container.name)).size).toBe(start.length);
        expect(kill.every(({ container }) => isAlive(container))).toBe(true);
      }),
    );
  });

  it('a number is never used twice for a container, but for one that never ran', () => {
    fc.assert(
      fc.property(pods, states, (pod, found) => {
        for (const { container, attempt } of computeActions(pod, found, facts).start) {
          const newest = found.containers.find(({ name }) => name === container.name);
          expect(attempt).toBe(
            newest === undefined ? 0 : newest.attempt + (newest.state === 'created' ? 0 : 1),
          );
        }
      }),
    );
  });

  it('a sandbox is kept or made, never both, and made only after the others are stopped', () => {
    fc.assert(
      fc.property(pods, states, (pod, found) => {
        const actions = computeActions(pod, found, facts);
        expect(actions.createSandbox && actions.sandboxId !== undefined).toBe(false);
        if (actions.start.length > 0)
          expect(actions.createSandbox || actions.sandboxId !== undefined).toBe(true);
        if (actions.createSandbox && found.sandboxes.length > 0) expect(actions.killPod).toBe(true);
      }),
    );
  });

  it('normal containers and init containers do not start in one go', () => {
    fc.assert(
      fc.property(pods, states, (pod, found) => {
        const roles = new Set(computeActions(pod, found, facts).start.map(({ role }) => role));
        expect(roles.has('init') && roles.has('normal')).toBe(false);
      }),
    );
  });

  it('a pod that is to be deleted only loses', () => {
    fc.assert(
      fc.property(pods, states, (pod, found) => {
        const deleted = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
        expect(computeActions(deleted, found, facts)).toMatchObject({
          killPod: true,
          createSandbox: false,
          start: [],
        });
      }),
    );
  });

  it('terminal stays terminal, through any later states', () => {
    fc.assert(
      fc.property(pods, fc.array(states, { minLength: 2, maxLength: 5 }), (pod, course) => {
        let previous = computeStatus(pod, course[0]!, facts);
        for (const found of course.slice(1)) {
          const next = computeStatus(pod, found, { ...facts, previous });
          if (isTerminal(previous.phase)) expect(next.phase).toBe(previous.phase);
          previous = next;
        }
      }),
    );
  });

  it('a restart count never goes down', () => {
    fc.assert(
      fc.property(pods, states, states, (pod, first, second) => {
        const previous = computeStatus(pod, first, facts);
        const next = computeStatus(pod, second, { ...facts, previous });
        next.containerStatuses.forEach((status, index) => {
          expect(status.restartCount).toBeGreaterThanOrEqual(previous.containerStatuses[index]!.restartCount);
        });
      }),
    );
  });

  it('garbage is never alive, never a ready sandbox, and never what another container still lies in', () => {
    fc.assert(
      fc.property(states, fc.boolean(), (found, wanted) => {
        const garbage = collectable(found, wanted);
        expect(garbage.containers.some(isAlive)).toBe(false);
        expect(garbage.sandboxes.some(({ ready }) => ready)).toBe(false);
        const left = found.containers.filter((one) => !garbage.containers.includes(one));
        const removed = new Set(garbage.sandboxes.map(({ id }) => id));
        expect(left.some(({ sandboxId }) => removed.has(sandboxId))).toBe(false);
        if (wanted && found.sandboxes[0] !== undefined)
          expect(removed.has(found.sandboxes[0].id)).toBe(false);
      }),
    );
  });
});

describe('pauses', () => {
  it('double from 10 s to 5 min, and begin anew after a long time without failure', () => {
    const backOff = new BackOff({ initial: 10_000, max: 300_000 });
    const pauses = Array.from({ length: 7 }, (_, index) => {
      backOff.next('main', index);
      return backOff.pause('main') / 1000;
    });
    expect(pauses).toEqual([10, 20, 40, 80, 160, 300, 300]);
    expect(backOff.remaining('main', 100, 200)).toBe(299_900);
    expect(backOff.remaining('main', 700_000, 700_001)).toBe(0);
    backOff.next('main', 700_001);
    expect(backOff.pause('main')).toBe(10_000);
  });

  it('of different containers do not touch each other', () => {
    const backOff = new BackOff({ initial: 10_000, max: 300_000 });
    backOff.next('a', 0);
    expect(backOff.remaining('b', 0, 0)).toBe(0);
    backOff.next('a:typo', 0);
    backOff.forget('a');
    expect(backOff.remaining('a', 0, 0)).toBe(0);
    expect(backOff.remaining('a:typo', 0, 0)).toBe(10_000);
  });
});

describe('the grace period', () => {
  it('is the deletion’s before the pod’s', () => {
    expect(graceOf(aPod())).toBe(30);
    expect(graceOf(aPod({ deleting: true }))).toBe(5);
  });

  it('is never below 2 s, whatever the hook took', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.nat(200_000), (grace, spent) => {
        const left = remainingGrace(grace, spent);
        expect(left).toBeGreaterThanOrEqual(2);
        expect(left).toBeLessThanOrEqual(Math.max(2, grace));
      }),
    );
  });
});
