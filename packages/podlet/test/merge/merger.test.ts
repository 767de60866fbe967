import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Merger, PodUpdate, Snapshot, SourceName } from '../../src/contract.js';
import { createMerger } from '../../src/merge/merger.js';
import { type Pod, podName } from '@podwire/pod-spec';
import { makePod, type PodSketch } from './make-pod.js';

const at = Date.UTC(2026, 10, 20);
const start = (): Merger => createMerger({ now: () => at });
const snapshot = (...pods: PodSketch[]): Snapshot => ({ pods: pods.map(makePod), problems: [] });
const incomplete = (...pods: PodSketch[]): Snapshot => ({ ...snapshot(...pods), incomplete: true });
/** `ADD a b`, one a line. */
const told = (updates: readonly PodUpdate[]): string[] =>
  updates.map(({ kind, pods }) => [kind, ...pods.map(({ metadata }) => metadata.uid)].join(' '));

describe('what one snapshot after another means', () => {
  const before: PodSketch = { uid: 'a', labels: { x: '1' }, annotations: { y: '2' } };
  const now = '2026-11-20T00:00:00Z';
  test.each<[string, PodSketch[], string[]]>([
    ['the same', [before], []],
    ['one more', [before, { uid: 'b' }], ['ADD b']],
    ['none', [], ['REMOVE a']],
    ['another uid, as after an edit of a file', [{ ...before, uid: 'b', name: 'a' }], ['REMOVE a', 'ADD b']],
    ['another name', [{ ...before, name: 'b' }], ['REMOVE a', 'ADD a']],
    ['another namespace', [{ ...before, namespace: 'b' }], ['REMOVE a', 'ADD a']],
    ['spec', [{ ...before, image: 'other' }], ['UPDATE a']],
    ['labels', [{ ...before, labels: { x: '2' } }], ['UPDATE a']],
    ['an annotation', [{ ...before, annotations: { y: '3' } }], ['UPDATE a']],
    ['an annotation less', [{ ...before, annotations: {} }], ['UPDATE a']],
    [
      'annotations of the agent itself',
      [
        {
          ...before,
          annotations: { y: '2', 'kubernetes.io/config.seen': 'x', 'kubernetes.io/config.mirror': 'z' },
        },
      ],
      [],
    ],
    ['deletion', [{ ...before, deletionTimestamp: now }], ['DELETE a']],
    ['deletion and labels', [{ ...before, labels: {}, deletionTimestamp: now }], ['DELETE a']],
    ['grace period', [{ ...before, deletionGracePeriodSeconds: 3 }], ['UPDATE a']],
    ['status', [{ ...before, phase: 'Running' }], ['RECONCILE a']],
    ['spec and status', [{ ...before, image: 'b', phase: 'Running' }], ['UPDATE a']],
  ])('%s', (_, pods, expected) => {
    const merger = start();
    merger.merge('api', snapshot(before));
    expect(told(merger.merge('api', snapshot(...pods)))).toEqual(expected);
    expect(told(merger.merge('api', snapshot(...pods)))).toEqual([]);
  });

  test('everything at once, in its order', () => {
    const merger = start();
    merger.merge('api', snapshot({ uid: 'gone' }, { uid: 'up' }, { uid: 'del' }, { uid: 'rec' }));
    const updates = merger.merge(
      'api',
      snapshot(
        { uid: 'rec', phase: 'Failed' },
        { uid: 'del', deletionTimestamp: now },
        { uid: 'up', image: 'b' },
        { uid: 'new' },
      ),
    );
    expect(told(updates)).toEqual(['REMOVE gone', 'ADD new', 'UPDATE up', 'DELETE del', 'RECONCILE rec']);
    expect(updates.every(({ source, sourceReady }) => source === 'api' && sourceReady)).toBe(true);
  });

  test('a pod that is being deleted and changes further is told as DELETE', () => {
    const merger = start();
    merger.merge('api', snapshot({ ...before, deletionTimestamp: now }));
    const next = { ...before, deletionTimestamp: now, deletionGracePeriodSeconds: 0 };
    expect(told(merger.merge('api', snapshot(next)))).toEqual(['DELETE a']);
  });

  test('UPDATE gives the new pod with its status', () => {
    const merger = start();
    merger.merge('api', snapshot(before));
    const [update] = merger.merge('api', snapshot({ ...before, image: 'b', phase: 'Running' }));
    expect(update!.pods[0]).toMatchObject({
      spec: { containers: [{ image: 'b' }] },
      status: { phase: 'Running' },
    });
    expect(merger.pods()).toEqual(update!.pods);
  });
});

describe('annotations', () => {
  test('source and time of the first observation, which stays', () => {
    let time = at;
    const merger = createMerger({ now: () => time });
    const [added] = merger.merge(
      'file',
      snapshot({ uid: 'a', annotations: { 'kubernetes.io/config.source': 'api' } }),
    );
    const annotations = {
      'kubernetes.io/config.source': 'file',
      'kubernetes.io/config.seen': '2026-11-20T00:00:00.000Z',
    };
    expect(added!.pods[0]!.metadata.annotations).toEqual(annotations);
    time += 5000;
    const [updated] = merger.merge('file', snapshot({ uid: 'a', image: 'b', annotations: { x: 'y' } }));
    expect(updated!.pods[0]!.metadata.annotations).toEqual({ ...annotations, x: 'y' });
  });
});

describe('readiness', () => {
  test('a first empty snapshot is told by an empty ADD, once', () => {
    const merger = start();
    const [update, ...rest] = merger.merge('http', snapshot());
    expect(update).toEqual({ kind: 'ADD', source: 'http', pods: [], sourceReady: true });
    expect(rest).toEqual([]);
    expect(merger.merge('http', snapshot())).toEqual([]);
    expect(told(merger.merge('file', snapshot({ uid: 'a' })))).toEqual(['ADD a']);
  });

  test('an incomplete one adds and changes, removes nothing, and does not make ready', () => {
    const merger = start();
    const [first] = merger.merge('file', incomplete({ uid: 'a' }));
    expect(first).toMatchObject({ kind: 'ADD', sourceReady: false });
    expect(merger.merge('file', incomplete())).toEqual([]);
    expect(merger.pods()).toHaveLength(1);
    expect(told(merger.merge('file', snapshot({ uid: 'a' })))).toEqual(['ADD']);
    expect(told(merger.merge('file', incomplete({ uid: 'b' })))).toEqual(['ADD b']);
    expect(told(merger.merge('file', snapshot({ uid: 'b' })))).toEqual(['REMOVE a']);
  });

  test('once ready, always ready', () => {
    const merger = start();
    merger.merge('file', snapshot());
    expect(merger.merge('file', incomplete({ uid: 'a' }))[0]!.sourceReady).toBe(true);
  });

  test('an edited pod is replaced also while not everything is known', () => {
    const merger = start();
    merger.merge('file', snapshot({ uid: 'a', name: 'web' }, { uid: 'c' }));
    expect(told(merger.merge('file', incomplete({ uid: 'b', name: 'web' })))).toEqual(['REMOVE a', 'ADD b']);
  });

  test('the empty ADD comes before RECONCILE', () => {
    const merger = start();
    merger.merge('api', incomplete({ uid: 'a' }));
    expect(told(merger.merge('api', snapshot({ uid: 'a', phase: 'Running' })))).toEqual([
      'ADD',
      'RECONCILE a',
    ]);
  });
});

describe('doubles within a snapshot', () => {
  test('the first of a name stays, the other one is a problem', () => {
    const merger = start();
    const updates = merger.merge('file', snapshot({ uid: 'a', name: 'web' }, { uid: 'b', name: 'web' }));
    expect(told(updates)).toEqual(['ADD a']);
    expect(merger.problems()).toEqual([
      { source: 'file', origin: 'default/web', message: 'is left out: there is another pod of this name' },
    ]);
    merger.merge('file', snapshot({ uid: 'a', name: 'web' }));
    expect(merger.problems()).toEqual([]);
  });

  test('so does the first of a uid', () => {
    const merger = start();
    expect(told(merger.merge('file', snapshot({ uid: 'a' }, { uid: 'a', name: 'b' })))).toEqual(['ADD a']);
    expect(merger.problems()[0]!.message).toMatch(/with the uid a$/);
  });

  test('the same name in another namespace is another pod', () => {
    const pods = snapshot({ uid: 'a', name: 'web' }, { uid: 'b', name: 'web', namespace: 'shop' });
    expect(told(start().merge('file', pods))).toEqual(['ADD a b']);
  });
});

describe('sources', () => {
  test('do not disturb each other', () => {
    const merger = start();
    merger.merge('file', snapshot({ uid: 'a' }));
    expect(told(merger.merge('api', snapshot({ uid: 'b' })))).toEqual(['ADD b']);
    expect(told(merger.merge('file', snapshot()))).toEqual(['REMOVE a']);
    expect(merger.pods().map(({ metadata }) => metadata.uid)).toEqual(['b']);
  });

  test('problems and ConfigMaps are those of the latest snapshots', () => {
    const merger = start();
    const problem = { source: 'file', origin: 'x', message: 'bad' } as const;
    const configMap = { namespace: 'n', name: 'c', data: {}, binaryData: {} };
    merger.merge('file', { pods: [], problems: [problem], configMaps: [configMap] });
    merger.merge('http', { pods: [], problems: [] });
    expect([merger.problems(), merger.configMaps()]).toEqual([[problem], [configMap]]);
    merger.merge('file', { pods: [], problems: [], incomplete: true });
    expect([merger.problems(), merger.configMaps()]).toEqual([[], [configMap]]);
    merger.merge('file', { pods: [], problems: [] });
    expect(merger.configMaps()).toEqual([]);
  });
});

describe('checkpoints', () => {
  test('are restored, without making the API ready', () => {
    const merger = start();
    const updates = merger.restore([makePod({ uid: 'a' }), makePod({ uid: 'b' })]);
    expect(updates).toMatchObject([{ kind: 'RESTORE', source: 'api', sourceReady: false }]);
    expect(told(updates)).toEqual(['RESTORE a b']);
    expect(merger.pods()).toHaveLength(2);
    expect(merger.restore([])).toEqual([]);
  });

  test('the API has the last word: what it has is added, the others go', () => {
    const merger = start();
    merger.restore([makePod({ uid: 'a' }), makePod({ uid: 'b' })]);
    expect(merger.merge('api', incomplete())).toEqual([]);
    expect(told(merger.merge('api', snapshot({ uid: 'a' })))).toEqual(['REMOVE b', 'ADD a']);
    expect(merger.pods()).toHaveLength(1);
    expect(merger.merge('api', snapshot({ uid: 'a' }))).toEqual([]);
  });
});

test('the output is frozen and the input unchanged', () => {
  const merger = start();
  const pod = makePod({ uid: 'a', labels: { x: 'y' } });
  const [update] = merger.merge('file', { pods: [pod], problems: [] });
  const out = update!.pods[0] as unknown as { spec: { containers: { image: string }[] } };
  expect(() => (out.spec.containers[0]!.image = 'evil')).toThrow(TypeError);
  expect(() => out.spec.containers.push({ image: 'evil' })).toThrow(TypeError);
  (pod.spec.containers[0] as { image: string }).image = 'changed later';
  expect(merger.pods()[0]!.spec.containers[0]!.image).toBe('busybox');
  expect(told(merger.merge('file', { pods: [pod], problems: [] }))).toEqual(['UPDATE a']);
});

test('what the API source has not read anew is not compared anew', () => {
  const merger = start();
  let looks = 0;
  const spec = makePod({ uid: 'a' }).spec;
  const pod: Pod = {
    ...makePod({ uid: 'a' }),
    get spec() {
      looks += 1;
      return spec;
    },
  };
  merger.merge('api', { pods: [pod], problems: [] });
  const before = looks;
  expect(told(merger.merge('api', { pods: [pod, makePod({ uid: 'b' })], problems: [] }))).toEqual(['ADD b']);
  expect(looks).toBe(before);
  expect(told(merger.merge('api', snapshot({ uid: 'a', image: 'other' })))).toEqual(['REMOVE b', 'UPDATE a']);
  expect(told(merger.merge('api', { pods: [pod], problems: [] }))).toEqual(['UPDATE a']);
});

describe('any sequence of snapshots', () => {
  const sketch = fc.record({
    uid: fc.constantFrom('a', 'b', 'c', 'd'),
    name: fc.constantFrom('p', 'q', 'r'),
    image: fc.constantFrom('x', 'y'),
    phase: fc.constantFrom<Pod['status']['phase']>('Pending', 'Running'),
    labels: fc.constantFrom<Record<string, string>>({}, { l: '1' }),
    deletionTimestamp: fc.option(fc.constant('2026-01-01T00:00:00Z'), { nil: undefined }),
  });
  const step = fc.record({
    source: fc.constantFrom<SourceName>('file', 'http', 'api'),
    pods: fc.array(sketch, { maxLength: 5 }),
    incomplete: fc.boolean(),
  });
  type Step = { source: SourceName; pods: Parameters<typeof toPod>[0][]; incomplete: boolean };
  const toPod = ({
    deletionTimestamp,
    ...rest
  }: {
    uid: string;
    deletionTimestamp: string | undefined;
  }): Pod => makePod({ ...rest, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) });
  const toSnapshot = ({ pods, incomplete: part }: Step): Snapshot => ({
    pods: pods.map(toPod),
    problems: [],
    ...(part ? { incomplete: true } : {}),
  });
  /** State of a listener that has only heard of the changes. */
  const replay = (known: Map<string, Pod>, updates: readonly PodUpdate[]): void => {
    for (const { kind, source, pods } of updates) {
      for (const pod of pods) {
        const key = `${source}/${pod.metadata.uid}`;
        expect(known.has(key)).toBe(kind !== 'ADD');
        if (kind === 'REMOVE') known.delete(key);
        else known.set(key, pod);
      }
    }
  };
  const order = ['REMOVE', 'ADD', 'UPDATE', 'DELETE', 'RECONCILE'];

  test('leads a listener to the same pods', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const merger = start();
        const known = new Map<string, Pod>();
        for (const each of steps) {
          const updates = merger.merge(each.source, toSnapshot(each));
          replay(known, updates);
          const kinds = updates.map(({ kind }) => order.indexOf(kind));
          expect(kinds).toEqual(kinds.toSorted((a, b) => a - b));
          expect(new Set([...known.values()])).toEqual(new Set(merger.pods()));
          expect(merger.merge(each.source, toSnapshot(each))).toEqual([]);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('after a complete one there is what it has, each name and uid once', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const merger = start();
        for (const each of steps) merger.merge('file', toSnapshot(each));
        const last = toSnapshot({ ...steps.at(-1)!, incomplete: false });
        merger.merge('file', last);
        const pods = merger.pods();
        expect(new Set(pods.map(podName)).size).toBe(pods.length);
        for (const pod of pods) expect(last.pods.map(podName)).toContain(podName(pod));
        for (const pod of last.pods) {
          const isThere = pods.some(
            (other) => podName(other) === podName(pod) || other.metadata.uid === pod.metadata.uid,
          );
          expect(isThere).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('the same steps give the same changes', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
        const run = (): unknown => {
          const merger = start();
          return steps.map((each) => merger.merge(each.source, toSnapshot(each)));
        };
        expect(run()).toEqual(run());
      }),
      { numRuns: 100 },
    );
  });
});
