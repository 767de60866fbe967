/** Proof that the engine is open: a backend with two kinds of its own passes everything that others pass. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type BackendSubject, complianceCases } from '../src/compliance/index.js';
import { type Backend, createEngine, type Owned, type Resource, type ResourceSpan } from '../src/index.js';
import { createFileBackend } from './file-backend.js';

const base: Owned = { owner: 'node', resources: [{ kind: 'directory', name: 'common' }] };
const owned: Owned = {
  owner: 'endpoint:1',
  resources: [
    { kind: 'directory', name: 'own' },
    { kind: 'setting', directory: 'own', name: 'color', value: 'blue' },
    { kind: 'setting', directory: 'common', name: 'first', value: '1' },
    { kind: 'setting', directory: 'common', name: 'second', value: '2' },
  ],
};

const options = () => ({ signal: AbortSignal.timeout(10_000) });

const setting = (name: string, value: string, directory = 'common'): Resource => ({
  kind: 'setting',
  ...{ directory, name, value },
});

function createSubject(): BackendSubject & { readonly root: string } {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'file-backend-'));
  const settings = path.join(root, 'common', 'settings');
  return {
    root,
    base,
    owned,
    backends: () => [createFileBackend(root)],
    exchange: {
      first: [setting('size', 'small'), setting('shape', 'round')],
      second: [setting('size', 'large'), setting('weight', 'light')],
      refused: [setting('size', 'large'), setting('shape', 'two\nlines')],
    },
    replacement: [setting('color', 'green', 'own'), setting('first', 'one')],
    many: (count) => Array.from({ length: count }, (_, n) => setting(`n${n}`, `${n}`)),
    picture: () => readTree(root),
    broken: owned.resources.at(-1)!,
    break() {
      const aside = path.join(root, 'aside');
      if (fs.existsSync(settings)) fs.renameSync(settings, aside);
      fs.mkdirSync(settings);
      return () => {
        fs.rmdirSync(settings);
        if (fs.existsSync(aside)) fs.renameSync(aside, settings);
      };
    },
    damage() {
      fs.writeFileSync(settings, 'first=changed # podwire\n');
      fs.rmSync(path.join(root, 'own'), { recursive: true });
    },
    addForeign() {
      fs.mkdirSync(path.join(root, 'foreign'));
      fs.writeFileSync(path.join(root, 'foreign', 'settings'), 'color=red\n');
      fs.appendFileSync(settings, 'third=3\n');
    },
    close: () => fs.rmSync(root, { recursive: true }),
  };
}

const readTree = (root: string): Record<string, string> =>
  Object.fromEntries(
    fs
      .readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .sort()
      .map((file) => [
        path.relative(root, file),
        fs.readFileSync(file, 'utf8').split('\n').sort().join('\n'),
      ]),
  );

describe('a backend of files', () => {
  for (const { name, run } of complianceCases) {
    test(name, async () => {
      const subject = createSubject();
      try {
        await run(subject);
      } finally {
        await subject.close();
      }
    });
  }

  test('a setting is not removed by itself where its directory goes', async () => {
    const subject = createSubject();
    const points: string[] = [];
    const faults = { reach: (point: string) => void points.push(point) };
    const engine = createEngine({ backends: subject.backends(), faults });
    const options = { signal: AbortSignal.timeout(10_000) };
    await engine.apply(base, options);
    await engine.apply(owned, options);
    points.length = 0;
    const inOwn = { ...owned, resources: owned.resources.slice(0, 2) };
    await engine.remove(inOwn, options);
    expect(points).toEqual(['remove:0:directory', 'remove:end']);
    expect(fs.existsSync(path.join(subject.root, 'own'))).toBe(false);
    await engine.close();
    await subject.close();
  });

  test('a backend whose kinds claim transactions must have them', async () => {
    const subject = createSubject();
    const plain = createFileBackend(subject.root);
    const open: Backend['open'] = (call, context) => {
      const session = plain.open(call, context);
      return Object.assign(session, { exchange: undefined });
    };
    const engine = createEngine({ backends: [{ ...plain, open }] });
    const change = { replace: [setting('size', 'large')] };
    await expect(engine.change({ owner: 'shared' }, change, options())).rejects.toThrow(
      'files has no transactions',
    );
    await engine.close();
    await subject.close();
  });

  test('a change is given up when its time is over, and each resource has its time', async () => {
    const subject = createSubject();
    const engine = createEngine({ backends: subject.backends() });
    await engine.apply(base, options());
    const spans: ResourceSpan[] = [];
    const trace = (span: ResourceSpan): void => void spans.push(span);
    const { first, second } = subject.exchange!;
    const late = { signal: AbortSignal.abort(), trace };
    const owner = { owner: 'shared' };
    await expect(engine.change(owner, { add: first }, late)).rejects.toThrow(
      'the call was given up before setting size=small in common',
    );
    await engine.change(owner, { replace: second, remove: first }, { ...options(), trace });
    expect(spans.map(({ action, resource }) => `${action} ${engine.kinds.describe(resource)}`)).toEqual([
      'apply setting size=large in common',
      'apply setting weight=light in common',
      'remove setting shape=round in common',
    ]);
    await engine.close();
    await subject.close();
  });

  test('other content of a setting is changed in place, and a kind that no backend has is refused', () => {
    const { kinds } = createEngine({ backends: [createFileBackend('/')] });
    expect(owned.resources.map((resource) => kinds.canBeReplacedInPlace(resource))).toEqual([
      false,
      true,
      true,
      true,
    ]);
    expect(() => kinds.keyOf({ kind: 'unknown' } as never)).toThrow(
      'no backend has resources of kind unknown',
    );
  });
});
