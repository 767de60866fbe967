import fs from 'node:fs';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFileSource, type FileSourceOptions } from '../../src/sources/file-source.js';
import {
  type Listener,
  listen,
  makeDirectory,
  manifest,
  namesOf,
  problemsOf,
  realClock,
  uidsOf,
} from './support.js';

let directory = '';
let running: Listener[] = [];
beforeEach(() => {
  directory = makeDirectory();
});
afterEach(async () => {
  await Promise.all(running.map((each) => each.stop()));
  running = [];
  fs.rmSync(directory, { recursive: true, force: true });
});

const at = (...names: string[]): string => path.join(directory, ...names);
const write = (name: string, text: string): void => fs.writeFileSync(at(name), text);

/** Never polls, unless it is told to: what these tests see has come by inotify. */
function start(target = directory, options: Partial<FileSourceOptions> = {}): Listener {
  const source = createFileSource({
    path: target,
    node: 'node-1',
    clock: realClock,
    pollEvery: 3_600_000,
    ...options,
  });
  const listener = listen(source);
  running.push(listener);
  return listener;
}

const named = (names: string) => (snapshot: Parameters<typeof namesOf>[0]) => namesOf(snapshot) === names;

describe('a directory', () => {
  test('is read in the order of names, without dot-files and copies of editors', async () => {
    write('b.yaml', manifest('b'));
    write(
      'a.json',
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'a' },
        spec: { containers: [{ name: 'x', image: 'y' }] },
      }),
    );
    write('.hidden.yaml', manifest('hidden'));
    write('b.yaml~', manifest('copy'));
    const { until } = start();
    expect(await until(() => true)).toMatchObject({ problems: [] });
    await until(named('a b'));
  });

  test('an empty one is known to be empty at once', async () => {
    const first = await start().until(() => true);
    expect(first).toEqual({ pods: [], configMaps: [], problems: [] });
  });

  test('a new, a changed and a removed file', async () => {
    const { until } = start();
    await until(named(''));
    const written = Date.now();
    write('a.yaml', manifest('a'));
    const added = await until(named('a'));
    // Not before the write, as the file's own time stamp may be.
    expect(added.causedAt).toBeGreaterThanOrEqual(written);
    write('a.yaml', manifest('a', 'image: other'));
    const changed = await until(({ pods }) => pods[0]?.spec.containers[0]?.image === 'other');
    expect(uidsOf(changed)).not.toEqual(uidsOf(added));
    fs.unlinkSync(at('a.yaml'));
    expect((await until(named(''))).problems).toEqual([]);
  });

  test('files that are moved in, over each other, and out', async () => {
    const outside = makeDirectory();
    fs.writeFileSync(path.join(outside, 'x'), manifest('a'));
    fs.writeFileSync(path.join(outside, 'y'), manifest('b'));
    const { until } = start();
    await until(named(''));
    fs.renameSync(path.join(outside, 'x'), at('web.yaml'));
    await until(named('a'));
    fs.renameSync(path.join(outside, 'y'), at('web.yaml'));
    await until(named('b'));
    fs.renameSync(at('web.yaml'), path.join(outside, 'z'));
    await until(named(''));
    fs.rmSync(outside, { recursive: true });
  });

  test('a renamed file: its pod is the same, and is never there twice', async () => {
    write('a.yaml', manifest('web'));
    const { until, snapshots } = start();
    const before = await until(named('web'));
    fs.renameSync(at('a.yaml'), at('0.yaml'));
    const after = await until(
      ({ pods }) => pods[0]?.metadata.annotations['podwire.io/origin'] === at('0.yaml'),
    );
    expect(uidsOf(after)).toEqual(uidsOf(before));
    expect(after.problems).toEqual([]);
    expect(snapshots.every(({ pods }) => pods.length === 1)).toBe(true);
  });

  test('the way editors save: old one away, new one written, old one deleted', async () => {
    write('web.yaml', manifest('web'));
    const { until, snapshots } = start();
    await until(named('web'));
    fs.renameSync(at('web.yaml'), at('web.yaml~'));
    write('web.yaml', manifest('web'));
    fs.unlinkSync(at('web.yaml~'));
    write('end.yaml', manifest('end'));
    const last = await until(named('end web'));
    expect(snapshots.map(namesOf)).toEqual(['web', 'end web']);
    expect(uidsOf(last)[1]).toBe(uidsOf(snapshots[0]!)[0]);
  });

  test('a broken file among good ones is reported, and nothing else', async () => {
    write('a.yaml', manifest('a'));
    write('b.yaml', manifest('B'));
    const { until } = start();
    const first = await until(({ problems }) => problems.length > 0);
    expect(namesOf(first)).toBe('a');
    expect(first.incomplete).toBeUndefined();
    expect(problemsOf(first)).toEqual([
      expect.stringMatching(/^b\.yaml:3:12: metadata\.name: must be made of/),
    ]);
    write('b.yaml', manifest('b'));
    expect((await until(named('a b'))).problems).toEqual([]);
  });

  test('a file that breaks leaves its pods running, also when it is looked at again', async () => {
    write('a.yaml', manifest('a'));
    const { until } = start(directory, { pollEvery: 30 });
    const before = await until(named('a'));
    write('a.yaml', manifest('A'));
    const broken = await until(({ problems }) => problems.length > 0);
    expect(uidsOf(broken)).toEqual(uidsOf(before));
    write('b.yaml', manifest('b'));
    const later = await until(named('a b'));
    expect(problemsOf(later)).toHaveLength(1);
    write('a.yaml', manifest('a'));
    const corrected = await until(({ problems }) => problems.length === 0);
    expect(uidsOf(corrected)[0]).toBe(uidsOf(before)[0]);
  });

  test('a file that is being written is not read half', async () => {
    const text = `${manifest('a')}---\n${manifest('b')}`;
    const { until, snapshots } = start();
    await until(named(''));
    const file = fs.openSync(at('a.yaml'), 'w');
    fs.writeSync(file, text.slice(0, 30));
    fs.writeSync(file, text.slice(30));
    fs.closeSync(file);
    await until(named('a b'));
    write('a.yaml', '');
    write('a.yaml', text.replace('name: a}', 'name: c}'));
    await until(named('c b'));
    expect(snapshots.map(namesOf)).toEqual(['', 'a b', 'c b']);
    expect(snapshots.flatMap(({ problems }) => problems)).toEqual([]);
  });

  test('many writes of the same length within one tick of the file system’s clock', async () => {
    const { until } = start();
    await until(named(''));
    for (let round = 0; round < 30; round++) {
      write('a.yaml', manifest(`a${round % 10}`));
      await new Promise(setImmediate);
    }
    await until(named('a9'));
  });

  test('twins: the first file has the pod, the other one is told, and nothing happens to the pod', async () => {
    write('a.yaml', manifest('web'));
    write('b.yaml', manifest('web'));
    const { until } = start();
    const both = await until(() => true);
    expect(namesOf(both)).toBe('web');
    expect(problemsOf(both)).toEqual([
      `b.yaml: pod default/web stands in ${at('a.yaml')} too; the first one is used`,
    ]);
    fs.unlinkSync(at('a.yaml'));
    const one = await until(({ problems }) => problems.length === 0);
    expect(uidsOf(one)).toEqual(uidsOf(both));
  });

  test('a copy beside a manifest changes nothing, also when the manifest is edited then', async () => {
    write('web.yaml', manifest('web'));
    const listener = start();
    const [before] = (await listener.until(named('web'))).pods;
    fs.copyFileSync(at('web.yaml'), at('web.yaml.bak'));
    const copied = await listener.until(({ problems }) => problems.length === 1);
    expect(copied.pods[0]).toBe(before);
    write('web.yaml', manifest('web', 'image: second'));
    await listener.until(({ pods }) => pods[0]?.spec.containers[0]!.image === 'second');
  });

  test('the same pod twice in one file', async () => {
    write('a.yaml', `${manifest('web')}---\n${manifest('web', 'image: second')}`);
    const { pods, problems } = await start().until(() => true);
    expect(pods.map(({ spec }) => spec.containers[0]!.image)).toEqual(['busybox']);
    expect(problems).toHaveLength(1);
  });

  test('ConfigMaps', async () => {
    write('a.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b}\n');
    const { until } = start();
    await until(({ configMaps = [] }) => configMaps[0]?.data['a'] === 'b');
    write('a.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: c}\n');
    await until(({ configMaps = [] }) => configMaps[0]?.data['a'] === 'c');
  });

  test('what is no manifest file is reported and not opened', async () => {
    fs.mkdirSync(at('sub'));
    fs.writeFileSync(at('sub', 'x.yaml'), manifest('x'));
    execFileSync('mkfifo', [at('pipe')]);
    fs.symlinkSync('nowhere', at('link'));
    write('large', '');
    fs.truncateSync(at('large'), 10 * 1024 * 1024 + 1);
    fs.writeFileSync(at('latin'), Buffer.from([0xe4, 0x0a]));
    const found = await start().until(({ problems }) => problems.length === 5);
    expect(namesOf(found)).toBe('');
    expect(problemsOf(found)).toEqual([
      'large: is larger than 10 MiB',
      'latin: cannot be read: it is no UTF-8 text',
      'link: is a link that leads nowhere',
      'pipe: is no regular file',
      'sub: is a directory: manifests are read from one directory only, not from those in it',
    ]);
  });

  test('links, as Kubernetes makes them for ConfigMap volumes', async () => {
    for (const [version, name] of [
      ['..1', 'a'],
      ['..2', 'b'],
    ] as const) {
      fs.mkdirSync(at(version));
      fs.writeFileSync(at(version, 'web.yaml'), manifest(name));
    }
    fs.symlinkSync('..1', at('..data'));
    fs.symlinkSync('..data/web.yaml', at('web.yaml'));
    const { until } = start();
    await until(named('a'));
    fs.symlinkSync('..2', at('..new'));
    fs.renameSync(at('..new'), at('..data'));
    await until(named('b'));
  });

  test('what a link leads to changes', async () => {
    const outside = makeDirectory();
    fs.writeFileSync(path.join(outside, 'x'), manifest('a'));
    fs.symlinkSync(path.join(outside, 'x'), at('web.yaml'));
    const { until } = start();
    await until(named('a'));
    fs.writeFileSync(path.join(outside, 'x'), manifest('b'));
    await until(named('b'));
    fs.rmSync(outside, { recursive: true });
  });

  test('is deleted and made again, more than once', async () => {
    const { until } = start(at('a', 'b'));
    const missing = await until(() => true);
    expect(problemsOf(missing)).toEqual(['b: does not exist']);
    expect(missing.incomplete).toBeUndefined();
    for (const name of ['x', 'z']) {
      fs.mkdirSync(at('a', 'b'), { recursive: true });
      fs.writeFileSync(at('a', 'b', 'web.yaml'), manifest(name));
      expect((await until(named(name))).problems).toEqual([]);
      fs.rmSync(at('a'), { recursive: true });
      expect(problemsOf(await until(named('')))).toEqual(['b: does not exist']);
    }
  });

  test('is replaced by another one', async () => {
    fs.mkdirSync(at('d'));
    fs.writeFileSync(at('d', 'x.yaml'), manifest('x'));
    fs.mkdirSync(at('e'));
    fs.writeFileSync(at('e', 'u.yaml'), manifest('u'));
    const { until } = start(at('d'));
    await until(named('x'));
    fs.renameSync(at('d'), at('old'));
    fs.renameSync(at('e'), at('d'));
    await until(named('u'));
    fs.writeFileSync(at('d', 'z.yaml'), manifest('z'));
    await until(named('u z'));
  });

  test('drops a file that is gone also when its patience ends during a look', async () => {
    write('a.yaml', manifest('a'));
    let elapsed = 0;
    const { until } = start(directory, { clock: { ...realClock, elapsed: () => (elapsed += 50) } });
    await until(named('a'));
    fs.unlinkSync(at('a.yaml'));
    await until(named(''));
  });

  test('a path with a slash at its end gives the same uids', async () => {
    write('a.yaml', manifest('a'));
    const [one, two] = await Promise.all([
      start().until(named('a')),
      start(`${directory}/`).until(named('a')),
    ]);
    expect(uidsOf(one)).toEqual(uidsOf(two));
  });

  test('names have the node behind them when that is wanted', async () => {
    write('a.yaml', manifest('a'));
    await start(directory, { nameSuffix: 'node' }).until(named('a-node-1'));
  });
});

describe('a single file', () => {
  test('comes, changes, breaks, and goes', async () => {
    const { until, snapshots } = start(at('web.yaml'));
    expect(problemsOf(await until(() => true))).toEqual(['web.yaml: does not exist']);
    write('web.yaml', manifest('a'));
    expect((await until(named('a'))).problems).toEqual([]);
    write('web.yaml', manifest('b'));
    await until(named('b'));
    write('web.yaml', 'nonsense');
    const broken = await until(({ problems }) => problems.length > 0);
    expect(namesOf(broken)).toBe('b');
    expect(broken.incomplete).toBeUndefined();
    fs.unlinkSync(at('web.yaml'));
    expect(problemsOf(await until(named('')))).toEqual(['web.yaml: does not exist']);
    expect(snapshots.map(namesOf)).toEqual(['', 'a', 'b', 'b', '']);
  });

  test('one that was never good does not say that there are no pods', async () => {
    write('web.yaml', 'nonsense');
    const { until, snapshots } = start(at('web.yaml'));
    await until(({ problems }) => problems.length > 0);
    expect(snapshots.every(({ incomplete }) => incomplete === true)).toBe(true);
    write('web.yaml', manifest('a'));
    expect((await until(named('a'))).incomplete).toBeUndefined();
  });

  test('other files beside it do not matter', async () => {
    write('web.yaml', manifest('a'));
    const { until, snapshots } = start(at('web.yaml'));
    await until(named('a'));
    write('other.yaml', manifest('o'));
    write('web.yaml', manifest('b'));
    await until(named('b'));
    expect(snapshots.map(namesOf)).toEqual(['a', 'b']);
  });

  test('becomes a directory', async () => {
    write('web', manifest('a'));
    const { until } = start(at('web'));
    await until(named('a'));
    fs.unlinkSync(at('web'));
    fs.mkdirSync(at('web'));
    fs.writeFileSync(at('web', 'b.yaml'), manifest('b'));
    await until(named('b'));
  });
});
