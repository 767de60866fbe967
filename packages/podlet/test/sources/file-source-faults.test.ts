/** The file source when the file system does not do what it should, or is watched doing it. */
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFileSource, type FileSourceOptions, type SourceFiles } from '../../src/sources/file-source.js';
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

describe('when inotify is of no use', () => {
  const blind: SourceFiles = {
    ...fs,
    watch: () => {
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    },
  };

  test('polling finds everything, and the lack is told', async () => {
    const { until } = start(directory, { fs: blind, pollEvery: 20 });
    const first = await until(() => true);
    expect(problemsOf(first)).toContainEqual(
      expect.stringMatching(/: cannot be watched, changes are seen late: no space left on device$/),
    );
    write('a.yaml', manifest('a'));
    await until(named('a'));
    fs.unlinkSync(at('a.yaml'));
    await until(named(''));
  });

  test('a directory that cannot be read for a while keeps its pods', async () => {
    write('a.yaml', manifest('a'));
    let isBroken = false;
    const failing: SourceFiles = {
      ...blind,
      readdirSync: ((...call: unknown[]) => {
        if (isBroken) throw Object.assign(new Error('input/output error'), { code: 'EIO' });
        return (fs.readdirSync as (...call: unknown[]) => unknown)(...call);
      }) as unknown as SourceFiles['readdirSync'],
    };
    const { until } = start(directory, { fs: failing, pollEvery: 20 });
    await until(named('a'));
    isBroken = true;
    const broken = await until(({ incomplete }) => incomplete === true);
    expect(namesOf(broken)).toBe('a');
    expect(problemsOf(broken).join()).toContain('cannot be read: input/output error');
    isBroken = false;
    await until(({ incomplete }) => incomplete === undefined);
  });

  test('a file that cannot be read for a while keeps its pods', async () => {
    write('a.yaml', manifest('a'));
    let isBroken = false;
    const failing: SourceFiles = {
      ...blind,
      statSync: ((file: string, options: object) => {
        if (isBroken && file.endsWith('a.yaml')) throw Object.assign(new Error('denied'), { code: 'EACCES' });
        return fs.statSync(file, options);
      }) as unknown as SourceFiles['statSync'],
    };
    const { until } = start(directory, { fs: failing, pollEvery: 20 });
    const before = await until(named('a'));
    isBroken = true;
    const broken = await until(({ problems }) => problems.some(({ message }) => message.includes('denied')));
    expect(uidsOf(broken)).toEqual(uidsOf(before));
    isBroken = false;
    await until(({ problems }) => !problems.some(({ message }) => message.includes('denied')));
  });
});

test('a new directory with the inode of the deleted one is watched too', async () => {
  fs.mkdirSync(at('d'));
  let listed: () => void = () => undefined;
  const reusing: SourceFiles = {
    ...fs,
    statSync: ((file: string, options: object) => {
      const stat = fs.statSync(file, options);
      return file === at('d') && stat !== undefined ? Object.assign(stat, { ino: 7 }) : stat;
    }) as unknown as SourceFiles['statSync'],
    readdirSync: ((...call: unknown[]) => {
      listed();
      return (fs.readdirSync as (...call: unknown[]) => unknown)(...call);
    }) as unknown as SourceFiles['readdirSync'],
  };
  const { until } = start(at('d'), { fs: reusing });
  await until(named(''));
  const seen = new Promise<void>((resolve) => {
    listed = resolve;
  });
  fs.rmdirSync(at('d'));
  fs.mkdirSync(at('d'));
  await seen;
  await new Promise(setImmediate);
  fs.writeFileSync(at('d', 'web.yaml'), manifest('web'));
  await until(named('web'));
});

test('nothing is emitted when nothing has changed', async () => {
  write('a.yaml', manifest('a'));
  let looks = 0;
  const counting = {
    ...fs,
    readdirSync: ((...call: unknown[]) => {
      looks += 1;
      if (looks === 20) counted();
      return (fs.readdirSync as (...call: unknown[]) => unknown)(...call);
    }) as unknown as SourceFiles['readdirSync'],
  };
  let counted: () => void = () => undefined;
  const twentyLooks = new Promise<void>((resolve) => {
    counted = resolve;
  });
  const { snapshots } = start(directory, { fs: counting, pollEvery: 5 });
  await twentyLooks;
  expect(snapshots).toHaveLength(1);
});

test('it ends with its signal and leaves no watch', async () => {
  let open = 0;
  const counting: SourceFiles = {
    ...fs,
    watch: ((...call: Parameters<typeof fs.watch>) => {
      open += 1;
      const watcher = fs.watch(...call);
      watcher.on('close', () => (open -= 1));
      return watcher;
    }) as unknown as SourceFiles['watch'],
  };
  const listener = start(directory, { fs: counting });
  await listener.until(() => true);
  expect(open).toBe(2);
  await listener.stop();
  await new Promise(setImmediate);
  expect(open).toBe(0);
});
