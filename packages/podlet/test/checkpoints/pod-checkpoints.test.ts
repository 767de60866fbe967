import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type CheckpointFiles, fnv32a } from '@podwire/linux';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PodCheckpoints, isCheckpointed, withCheckpoints } from '../../src/checkpoints/pod-checkpoints.js';
import type { SourceName, SourceProblem } from '../../src/contract.js';
import { createMerger } from '../../src/merge/merger.js';
import type { Pod } from '@podwire/pod-spec';
import { makePod } from '../merge/make-pod.js';

const key = 'node.kubernetes.io/bootstrap-checkpoint';
const kept = (uid: string, image = 'busybox'): Pod => makePod({ uid, image, annotations: { [key]: 'true' } });

let directory = '';
beforeEach(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'podwire-pod-checkpoints-'));
});
afterEach(() => fs.rm(directory, { recursive: true, force: true }));

test.each([
  ['true', true],
  ['false', false],
  ['', false],
])('the annotation %j: %s', (value, expected) => {
  expect(isCheckpointed(makePod({ uid: 'a', annotations: { [key]: value } }))).toBe(expected);
});

test('pods with the annotation come back, the others were never kept', async () => {
  const checkpoints = new PodCheckpoints(directory);
  for (const pod of [kept('b'), kept('a'), makePod({ uid: 'c' })])
    expect(await checkpoints.keep(pod)).toBeUndefined();
  expect(await fs.readdir(directory)).toEqual(['Pod_a.yaml', 'Pod_b.yaml']);
  expect(await new PodCheckpoints(directory).load()).toEqual({
    pods: [kept('a'), kept('b')],
    problems: [],
  });
});

test('the file has pod and checksum', async () => {
  await new PodCheckpoints(directory).keep(kept('a'));
  const file = JSON.parse(await fs.readFile(path.join(directory, 'Pod_a.yaml'), 'utf8')) as Record<
    string,
    unknown
  >;
  expect(file).toEqual({ Pod: kept('a'), Checksum: fnv32a(JSON.stringify(kept('a'))) });
});

test('the file goes with the annotation, and with the pod', async () => {
  const checkpoints = new PodCheckpoints(directory);
  await checkpoints.keep(kept('a'));
  await checkpoints.keep(kept('b'));
  await checkpoints.keep(makePod({ uid: 'a' }));
  await checkpoints.forget('b');
  await checkpoints.forget('never there');
  expect(await fs.readdir(directory)).toEqual([]);
});

test('they follow the merge, and come back as RESTORE through it', async () => {
  const checkpoints = new PodCheckpoints(directory);
  const merger = createMerger({ now: () => 0 });
  const merge = (source: SourceName, ...pods: Pod[]) =>
    checkpoints.follow(merger.merge(source, { pods, problems: [] }));
  await merge('file', kept('static'));
  await merge('api', kept('a'), kept('b'), makePod({ uid: 'c' }));
  await merge('api', kept('a', 'other'), makePod({ uid: 'c' }));
  const { pods } = await new PodCheckpoints(directory).load();
  expect(pods).toEqual(merger.pods().filter(({ metadata }) => metadata.uid === 'a'));
  const [restored] = createMerger({ now: () => 1 }).restore(pods);
  expect(restored).toMatchObject({ kind: 'RESTORE', pods: [{ metadata: { uid: 'a' } }] });
});

test('a merger with checkpoints tells the same, writes, and says what could not be written', async () => {
  const told: SourceProblem[] = [];
  const failing: CheckpointFiles = { ...fs, open: () => Promise.reject(new Error('full')) };
  const updates = await new Promise((resolve) => {
    const checkpoints = new PodCheckpoints(directory, failing);
    const merger = withCheckpoints(createMerger({ now: () => 0 }), checkpoints, (problem) => {
      told.push(problem);
      resolve(result);
    });
    const result = merger.merge('api', { pods: [kept('a')], problems: [] });
    expect(merger.pods()).toHaveLength(1);
  });
  expect(updates).toMatchObject([{ kind: 'ADD', pods: [{ metadata: { uid: 'a' } }] }]);
  expect(told.map(({ message }) => message)).toEqual(['cannot be kept: full']);
});

test('the latest state wins, whatever is under way', async () => {
  const checkpoints = new PodCheckpoints(directory);
  await Promise.all([
    checkpoints.keep(kept('a', 'one')),
    checkpoints.forget('a'),
    checkpoints.keep(kept('a', 'two')),
  ]);
  const { pods } = await checkpoints.load();
  expect(pods.map(({ spec }) => spec.containers[0]!.image)).toEqual(['two']);
  await Promise.all([checkpoints.keep(kept('a', 'three')), checkpoints.forget('a')]);
  expect((await checkpoints.load()).pods).toEqual([]);
});

test('the same pod is written once', async () => {
  let writes = 0;
  const counting: CheckpointFiles = {
    ...fs,
    rename: (from, to) => {
      writes += 1;
      return fs.rename(from, to);
    },
  };
  const checkpoints = new PodCheckpoints(directory, counting);
  const pod = kept('a');
  await checkpoints.keep(pod);
  await checkpoints.keep(pod);
  expect(writes).toBe(1);
  await checkpoints.keep(kept('a', 'other'));
  expect(writes).toBe(2);
});

test('what is broken is skipped, told, and left lying', async () => {
  const checkpoints = new PodCheckpoints(directory);
  await checkpoints.keep(kept('good'));
  await checkpoints.keep(kept('moved'));
  await fs.rename(path.join(directory, 'Pod_moved.yaml'), path.join(directory, 'Pod_other.yaml'));
  await fs.writeFile(path.join(directory, 'Pod_empty.yaml'), '');
  await fs.writeFile(path.join(directory, 'Pod_nothing.yaml'), `{"Pod":{},"Checksum":${fnv32a('{}')}}`);
  await fs.writeFile(path.join(directory, '.Pod_half.yaml.1'), '{');
  await fs.writeFile(path.join(directory, 'README'), 'hello');
  await fs.mkdir(path.join(directory, 'Pod_directory.yaml'));
  const { pods, problems } = await checkpoints.load();
  expect(pods.map(({ metadata }) => metadata.uid)).toEqual(['good']);
  expect(problems.map(({ origin, message }) => `${path.basename(origin)}: ${message}`)).toEqual([
    expect.stringMatching(/^Pod_directory\.yaml: cannot be read: EISDIR/),
    'Pod_empty.yaml: cannot be used: it is empty',
    'Pod_nothing.yaml: cannot be used: spec: is missing; metadata.name: is missing',
    'Pod_other.yaml: cannot be used: it is of another pod',
  ]);
  expect(await fs.readdir(directory)).toHaveLength(7);
});

test('a full disk is told, and the next write is tried again', async () => {
  let isFull = true;
  const failing: CheckpointFiles = {
    ...fs,
    open: (...call: Parameters<typeof fs.open>) =>
      isFull ? Promise.reject(new Error('ENOSPC: no space left')) : fs.open(...call),
  };
  const checkpoints = new PodCheckpoints(directory, failing);
  const pod = kept('a');
  expect(await checkpoints.keep(pod)).toEqual({
    source: 'api',
    origin: `checkpoint ${directory}/Pod_a.yaml`,
    message: 'cannot be kept: ENOSPC: no space left',
  });
  isFull = false;
  expect(await checkpoints.keep(pod)).toBeUndefined();
  expect((await checkpoints.load()).pods).toHaveLength(1);
});

test('a directory that is not there has no pods', async () => {
  expect(await new PodCheckpoints(path.join(directory, 'none')).load()).toEqual({ pods: [], problems: [] });
});
