import { describe, expect, it } from 'vitest';
import { computeActions, type PodActions } from '../../src/lifecycle/actions.js';
import type { ObservedPod } from '../../src/lifecycle/observed.js';
import { hashContainer } from '../../src/lifecycle/spec-hash.js';
import type { ProbeKind } from '../../src/parts.js';
import type { Pod, PodSpec, Probe } from '@podwire/pod-spec';
import { aContainer, aPod } from '../sync/pods.js';
import { exited, instance, observed, sandbox } from './observe.js';

type ProbeResults = Readonly<Record<string, boolean>>;

function decide(pod: Pod, found: ObservedPod, probeResults: ProbeResults = {}): PodActions {
  return computeActions(pod, found, {
    probeResult: (name: string, kind: ProbeKind) => probeResults[`${name}/${kind}`],
  });
}

/** In few words: `kill pod`, `sandbox 1`, `kill main`, `start main 2`. */
function brief(actions: PodActions): string[] {
  return [
    ...(actions.killPod ? ['kill pod'] : []),
    ...actions.kill.map(({ container, reason }) => `kill ${container.name} ${reason}`),
    ...(actions.createSandbox ? [`sandbox ${actions.attempt}`] : []),
    ...actions.start.map(({ container, attempt }) => `start ${container.name} ${attempt}`),
  ];
}

const probe: Probe = {
  initialDelaySeconds: 0,
  periodSeconds: 1,
  timeoutSeconds: 1,
  successThreshold: 1,
  failureThreshold: 1,
};
const init = (name: string) => aContainer(name);
const sidecar = (name: string) => aContainer(name, { restartPolicy: 'Always' });
const never: Partial<PodSpec> = { restartPolicy: 'Never' };
const onFailure: Partial<PodSpec> = { restartPolicy: 'OnFailure' };
const two = { containers: [aContainer('a'), aContainer('b')] };
const staged = { initContainers: [init('one'), init('two')] };
const gone = { ready: false };

describe('the sandbox', () => {
  const cases: [string, Partial<PodSpec>, ObservedPod, string[]][] = [
    ['is created for a new pod', {}, observed([]), ['sandbox 0', 'start main 0']],
    ['is kept while it is in order', {}, observed([sandbox()], [instance('main')]), []],
    [
      'is created anew when it is not ready',
      {},
      observed([sandbox(gone)], [exited('main', 137)]),
      ['kill pod', 'sandbox 1', 'start main 1'],
    ],
    [
      'is created anew when two are ready',
      {},
      observed([sandbox(), sandbox({ attempt: 1 })], [instance('main')]),
      ['kill pod', 'sandbox 2', 'start main 1'],
    ],
    [
      'is created anew without an address',
      {},
      observed([sandbox({ addresses: [] })], [instance('main')]),
      ['kill pod', 'sandbox 1', 'start main 1'],
    ],
    [
      'needs no address on the host network',
      { hostNetwork: true },
      observed([sandbox({ addresses: [], hostNetwork: true })], [instance('main')]),
      [],
    ],
    [
      'is created anew when hostNetwork changes',
      { hostNetwork: true },
      observed([sandbox()], [instance('main')]),
      ['kill pod', 'sandbox 1', 'start main 1'],
    ],
    [
      'takes a number above all that were there, whatever the clock said',
      {},
      observed([
        sandbox({ attempt: 7, ready: false, createdAt: 1 }),
        sandbox({ attempt: 2, ready: false, createdAt: 9 }),
      ]),
      ['kill pod', 'sandbox 8', 'start main 0'],
    ],
    [
      'is not created anew for Never with containers',
      never,
      observed([sandbox(gone)], [exited('main', 137)]),
      ['kill pod'],
    ],
    [
      'is created anew for Never as long as no container existed',
      never,
      observed([sandbox(gone)]),
      ['kill pod', 'sandbox 1', 'start main 0'],
    ],
    [
      'is not created anew when OnFailure has nothing left to do',
      onFailure,
      observed([sandbox(gone)], [exited('main', 0)]),
      ['kill pod'],
    ],
    [
      'is created anew for the part of OnFailure that is left',
      { ...onFailure, ...two },
      observed([sandbox(gone)], [exited('a', 0), exited('b', 1)]),
      ['kill pod', 'sandbox 1', 'start b 1'],
    ],
    ['begins with the first init container only', staged, observed([]), ['sandbox 0', 'start one 0']],
    [
      'begins with the first init container again, whatever had run in the one before',
      staged,
      observed([sandbox(gone)], [exited('one', 0), exited('two', 0), exited('main', 1)]),
      ['kill pod', 'sandbox 1', 'start one 1'],
    ],
  ];
  it.each(cases)('%s', (_, spec, found, expected) => {
    expect(brief(decide(aPod({ spec }), found))).toEqual(expected);
  });

  it('of a pod that never can go on says why', () => {
    const actions = decide(aPod({ spec: never }), observed([sandbox(gone)], [exited('main', 137)]));
    expect(actions.hopeless).toContain('restartPolicy is Never');
  });
});

describe('init containers', () => {
  const cases: [string, Partial<PodSpec>, ObservedPod, string[]][] = [
    ['come one after the other', staged, observed([sandbox()], [exited('one', 0)]), ['start two 0']],
    ['are waited for', staged, observed([sandbox()], [instance('one')]), []],
    [
      'are over when the last one is',
      staged,
      observed([sandbox()], [exited('one', 0), exited('two', 0)]),
      ['start main 0'],
    ],
    [
      'are over although the first is cleaned away',
      staged,
      observed([sandbox()], [exited('two', 0)]),
      ['start main 0'],
    ],
    ['start again after a failure', staged, observed([sandbox()], [exited('one', 1)]), ['start one 1']],
    [
      'end the pod after a failure with Never',
      { ...staged, ...never },
      observed([sandbox()], [exited('one', 1)]),
      ['kill pod'],
    ],
    [
      'whose state is unknown are killed first',
      staged,
      observed([sandbox()], [instance('one', { state: 'unknown' })]),
      ['kill one Unknown', 'start one 1'],
    ],
    [
      'whose state is unknown are only killed with Never',
      { ...staged, ...never },
      observed([sandbox()], [instance('one', { state: 'unknown' })]),
      ['kill one Unknown'],
    ],
    [
      'that were only created are created again, under the same number',
      staged,
      observed([sandbox()], [instance('one', { state: 'created' })]),
      ['start one 0'],
    ],
    [
      'do not run again once a normal container was there',
      staged,
      observed([sandbox()], [exited('one', 1), exited('main', 1)]),
      ['start main 1'],
    ],
  ];
  it.each(cases)('%s', (_, spec, found, expected) => {
    expect(brief(decide(aPod({ spec }), found))).toEqual(expected);
  });
});

describe('sidecars', () => {
  const mixed = { initContainers: [init('one'), sidecar('proxy'), init('two')] };
  const cases: [string, Partial<PodSpec>, ObservedPod, string[]][] = [
    ['start in their place', mixed, observed([sandbox()], [exited('one', 0)]), ['start proxy 0']],
    [
      'stay, and the next init container starts',
      mixed,
      observed([sandbox()], [exited('one', 0), instance('proxy')]),
      ['start two 0'],
    ],
    [
      'start again during initialisation, and the rest waits',
      mixed,
      observed([sandbox()], [exited('one', 0), exited('proxy', 0), exited('two', 0)]),
      ['start proxy 1'],
    ],
    [
      'start again later beside the normal containers',
      mixed,
      observed([sandbox()], [exited('one', 0), exited('proxy', 1), exited('two', 0), exited('main', 1)]),
      ['start proxy 1', 'start main 1'],
    ],
    [
      'start again whatever the policy of the pod',
      { ...mixed, ...never },
      observed([sandbox()], [exited('one', 0), exited('proxy', 1), exited('two', 0), instance('main')]),
      ['start proxy 1'],
    ],
    [
      'do not keep a pod alive whose normal containers have ended',
      { ...mixed, ...never },
      observed([sandbox()], [exited('one', 0), instance('proxy'), exited('two', 0), exited('main', 0)]),
      ['kill pod'],
    ],
  ];
  it.each(cases)('%s', (_, spec, found, expected) => {
    expect(brief(decide(aPod({ spec }), found))).toEqual(expected);
  });

  it('hold back what follows until their startup probe has succeeded', () => {
    const proxy = { ...sidecar('proxy'), startupProbe: probe };
    const pod = aPod({ spec: { initContainers: [proxy, init('two')] } });
    const found = observed([sandbox()], [instance('proxy')]);
    expect(brief(decide(pod, found))).toEqual([]);
    expect(brief(decide(pod, found, { 'proxy/startup': true }))).toEqual(['start two 0']);
  });
});

describe('normal containers', () => {
  const cases: [string, Partial<PodSpec>, ObservedPod, string[]][] = [
    ['start all', two, observed([sandbox()]), ['start a 0', 'start b 0']],
    [
      'start again with Always after success',
      {},
      observed([sandbox()], [exited('main', 0)]),
      ['start main 1'],
    ],
    [
      'start again with OnFailure after failure',
      onFailure,
      observed([sandbox()], [exited('main', 2)]),
      ['start main 1'],
    ],
    [
      'rest with OnFailure after success',
      { ...onFailure, ...two },
      observed([sandbox()], [exited('a', 0), instance('b')]),
      [],
    ],
    ['rest with Never', { ...never, ...two }, observed([sandbox()], [exited('a', 1), instance('b')]), []],
    [
      'end the pod when none is left',
      { ...never, ...two },
      observed([sandbox()], [exited('a', 1), exited('b', 0)]),
      ['kill pod'],
    ],
    [
      'that were only created are created again',
      never,
      observed([sandbox()], [instance('main', { state: 'created', attempt: 3 })]),
      ['start main 3'],
    ],
    [
      'whose state is unknown are killed and started, also with Never',
      never,
      observed([sandbox()], [instance('main', { state: 'unknown' })]),
      ['kill main Unknown', 'start main 1'],
    ],
    [
      'whose definition changed are killed and started, also with Never',
      never,
      observed([sandbox()], [instance('main', { specHash: 'another' })]),
      ['kill main SpecChanged', 'start main 1'],
    ],
    [
      'that run in an earlier sandbox are killed and started',
      {},
      observed([sandbox(gone), sandbox({ attempt: 1 })], [instance('main')]),
      ['kill main Superseded', 'start main 1'],
    ],
    [
      'never run twice',
      {},
      observed([sandbox()], [instance('main'), instance('main', { attempt: 1 })]),
      ['kill main Superseded'],
    ],
    [
      'that the pod does not have are killed',
      {},
      observed([sandbox()], [instance('main'), instance('old')]),
      ['kill old Unwanted'],
    ],
  ];
  it.each(cases)('%s', (_, spec, found, expected) => {
    expect(brief(decide(aPod({ spec }), found))).toEqual(expected);
  });

  it('of the same definition are kept', () => {
    const pod = aPod();
    const specHash = hashContainer(pod.spec.containers[0]!);
    expect(brief(decide(pod, observed([sandbox()], [instance('main', { specHash })])))).toEqual([]);
  });

  const failing = { containers: [aContainer('main', { livenessProbe: probe, startupProbe: probe })] };
  it.each([
    ['liveness', {}, ['kill main LivenessFailed', 'start main 1']],
    ['startup', {}, ['kill main StartupFailed', 'start main 1']],
    // Nothing would be left of it.
    ['liveness', never, ['kill pod']],
  ] as const)('whose %s probe fails are killed, %o', (kind, policy, expected) => {
    const pod = aPod({ spec: { ...failing, ...policy } });
    expect(
      brief(decide(pod, observed([sandbox()], [instance('main')]), { [`main/${kind}`]: false })),
    ).toEqual(expected);
  });

  it('are not started in a pod that is being deleted', () => {
    expect(brief(decide(aPod({ deleting: true }), observed([sandbox()], [exited('main', 1)])))).toEqual([
      'kill pod',
    ]);
  });
});

describe('the hash of a container', () => {
  it('does not change with empty values and the order of keys', () => {
    const plain = aContainer('main');
    const other = { ...plain, args: [], lifecycle: {}, tty: false };
    expect(hashContainer(other)).toBe(hashContainer(plain));
    expect(hashContainer({ ...plain, image: 'other' })).not.toBe(hashContainer(plain));
  });
});
