/** Backends that hang, answer half, or go away: they cost the owners that need them, and no others. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type Backend,
  createEngine,
  type DeferredDeletion,
  type Engine,
  type Owned,
  type Resource,
  type Session,
} from '../src/index.js';
import { createFileBackend } from './file-backend.js';

/** Milliseconds that a call may take here. */
const callDeadline = 60;

type Calls = keyof Omit<Session, 'close'>;

let root: string;
let engine: Engine;
let hanging: Set<string>;
/** Milliseconds that making a resource may take beyond that. */
let waits: number;
let asked: string[];

const options = () => ({ signal: AbortSignal.timeout(10_000) });

/** The same backend under another name, with directories of its own, whose calls hang when asked to. */
function createHanging(name: string): Backend {
  const files = createFileBackend(path.join(root, name));
  const kinds = files.kinds.map((kind) => ({
    ...kind,
    ...{ kind: `${name}-${kind.kind}`, backend: name },
    key: (one: Resource) => `${name} ${kind.key(plain(one))}`,
    diesWith: (one: Resource) => carrierOf(name, kind.diesWith?.(plain(one))),
    place: (one: Resource) => kind.place(plain(one)),
    waits: () => waits,
    describe: (one: Resource) => `${name}: ${kind.describe(plain(one))}`,
    compare: (one: Resource, found: unknown) => kind.compare(plain(one), found),
  }));
  const open: Backend['open'] = (owned, context) => translate(name, files.open(owned, context));
  const deferred: DeferredDeletion = {
    ...files.deferred!,
    delete: async (batch, call) => {
      if (hanging.has(`${name} delete`)) await new Promise(() => undefined);
      return files.deferred!.delete(batch, call);
    },
  };
  return { ...files, name, kinds, open, deferred };
}

const carrierOf = (name: string, carrier: string | undefined): string | undefined =>
  carrier === undefined ? undefined : `${name} ${carrier}`;
const plain = (one: Resource): Resource => ({ ...one, kind: one.kind.replace(/^\w+-/, '') }) as Resource;

/** A session of files that knows the resources by their plain kinds. */
function translate(name: string, session: Session): Session {
  const originals = new Map<Resource, Resource>();
  const toPlain = (one: Resource): Resource => {
    const made = plain(one);
    originals.set(made, one);
    return made;
  };
  const back = (failures: readonly { resource: Resource; error: unknown }[]) =>
    failures.map(({ resource, error }) => ({ resource: originals.get(resource)!, error }));
  const answer = async <T>(call: Calls, work: () => Promise<T>): Promise<T> => {
    asked.push(`${name} ${call}`);
    if (hanging.has(`${name} ${call}`)) await new Promise(() => undefined);
    if (hanging.has(`${name} late ${call}`)) await setTimeout(3 * callDeadline);
    return work();
  };
  return {
    reaches: async (place, call) => answer('reaches', async () => session.reaches(place, call)),
    create: async (batch, call) =>
      answer('create', async () =>
        back(await session.create({ ...batch, resources: batch.resources.map(toPlain) }, call)),
      ),
    repair: async (batch, repairs, call) =>
      answer('repair', async () => {
        const plainRepairs = repairs.map(({ resource, action }) => ({ resource: toPlain(resource), action }));
        return back(await session.repair(batch, plainRepairs, call));
      }),
    remove: async (batch, call) =>
      answer('remove', async () =>
        back(await session.remove({ ...batch, resources: batch.resources.map(toPlain) }, call)),
      ),
    exchange: async ({ add, replace, remove }, call) =>
      answer('exchange', async () => {
        const [plainAdd, plainReplace, plainRemove] = [add, replace, remove].map((all) => all.map(toPlain));
        const exchange = { add: plainAdd!, replace: plainReplace!, remove: plainRemove! };
        return back(await session.exchange!(exchange, call));
      }),
    observe: async (resources, snapshot, call) =>
      answer('observe', async () => {
        const observed = await session.observe(resources.map(toPlain), snapshot, call);
        const all = [...observed].map(([one, found]) => [originals.get(one)!, found] as const);
        if (hanging.has(`${name} first`)) all[0] = [all[0]![0], { unseen: new Error('the first is hidden') }];
        return new Map(hanging.has(`${name} half`) ? all.slice(1) : all);
      }),
    listMarked: async (wanted, snapshot, call) =>
      answer('listMarked', async () => {
        const things = await session.listMarked!(wanted, snapshot, call);
        return things.map(({ key, what }) => ({ key: `${name} ${key}`, what }));
      }),
    prune: async (things, call) =>
      answer('prune', async () => {
        const named = things.map((thing) => ({ ...thing, key: thing.key.slice(name.length + 1) }));
        await session.prune!(named, call);
        return new Map();
      }),
    close: () => session.close(),
  };
}

const directory = (backend: string, name = 'own'): Resource =>
  ({ kind: `${backend}-directory`, name }) as unknown as Resource;
const setting = (backend: string, name: string, value = '1'): Resource =>
  ({ kind: `${backend}-setting`, directory: 'own', name, value }) as unknown as Resource;
const list = (backend: string): Resource[] => [directory(backend), setting(backend, 'size')];
const one: Owned = { owner: 'one', resources: list('one') };
const two: Owned = { owner: 'two', resources: list('two') };
const both: Owned = { owner: 'both', resources: [...list('one'), ...list('two')] };

const fileOf = (backend: string): string => path.join(root, backend, 'own', 'settings');
const isThere = (backend: string): boolean => fs.existsSync(fileOf(backend));

beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'silent-'));
  for (const name of ['one', 'two']) fs.mkdirSync(path.join(root, name));
  [hanging, asked, waits] = [new Set(), [], 0];
  engine = createEngine({ backends: ['one', 'two'].map(createHanging), callDeadline });
});

afterEach(async () => {
  await engine.close();
  fs.rmSync(root, { recursive: true });
});

test('a call that hangs ends with the deadline of the engine, and with a code', async () => {
  hanging.add('one observe');
  await expect(engine.verify(one, options())).rejects.toMatchObject({
    code: 'BACKEND_SILENT',
    message: 'one has not answered for 0.06 s',
  });
});

test('making what waits for others may take as much longer as it says, and no other call', async () => {
  hanging.add('one late create');
  waits = 60_000;
  await engine.apply(one, options());
  hanging.add('one observe');
  await expect(engine.verify(one, options())).rejects.toThrow('one has not answered for 0.06 s');
});

test('what waits for others is given up, too', async () => {
  hanging.add('one create');
  waits = 90;
  await expect(engine.apply(one, options())).rejects.toThrow('one has not answered for 0.15 s');
});

test('a call that hangs ends when its caller gives up', async () => {
  hanging.add('one create');
  const caller = new AbortController();
  const applied = engine.apply(one, { signal: caller.signal });
  caller.abort();
  await expect(applied).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
});

test('what other backends have taken of a list is undone when one hangs', async () => {
  hanging.add('two create');
  await expect(engine.apply(both, options())).rejects.toThrow('two has not answered for 0.06 s');
  expect(isThere('one')).toBe(false);
  // It is asked for nothing else in this call: the deadline is waited for once.
  expect(asked.filter((call) => call.startsWith('two'))).toEqual(['two create']);
});

test('a removal goes on in the other backends', async () => {
  await engine.apply(both, options());
  hanging.add('two remove');
  await expect(engine.remove(both, options())).rejects.toMatchObject({ code: 'REMOVE_INCOMPLETE' });
  expect(isThere('one')).toBe(false);
  hanging.clear();
  await engine.remove(both, options());
  expect(isThere('two')).toBe(false);
});

test.each(['observe', 'repair'])(
  'a reconcile repairs every owner that needs not the backend whose %s hangs',
  async (call) => {
    hanging.add(`two ${call}`);
    const changes = await engine.reconcile([two, both, one], options());
    expect(isThere('one')).toBe(true);
    const failed = changes.filter(({ action }) => action === 'failed');
    // Leftovers have no owner.
    expect(new Set(failed.map(({ owner }) => owner))).toEqual(new Set(['two', 'both', undefined]));
    for (const { error } of failed) expect(error).toMatchObject({ code: 'BACKEND_SILENT' });
    expect(asked.filter((name) => name === `two ${call}`)).toHaveLength(1);
    hanging.clear();
    expect((await engine.reconcile([two, both, one], options())).length).toBeGreaterThan(0);
    expect(await engine.verify(both, options())).toEqual([]);
  },
);

test.each(['listMarked', 'prune'])('leftovers in other backends go when %s hangs in one', async (call) => {
  await engine.apply(both, options());
  hanging.add(`two ${call}`);
  const changes = await engine.reconcile([], options());
  expect(isThere('one')).toBe(false);
  expect(changes).toContainEqual(expect.objectContaining({ action: 'failed', what: 'leftovers in two' }));
});

test('resources that an answer leaves out are neither right nor wrong', async () => {
  await engine.apply(both, options());
  hanging.add('two half');
  await expect(engine.verify(both, options())).rejects.toThrow('two has answered half of a question');
  const changes = await engine.reconcile([both], options());
  expect(changes).toEqual([expect.objectContaining({ action: 'failed', what: 'all 1 resources in two' })]);
});

test('a resource that could not be seen has its own error, and so has what needs it', async () => {
  await engine.apply(both, options());
  hanging.add('two first');
  fs.rmSync(fileOf('two'));
  const error = new Error('the first is hidden');
  await expect(engine.verify(both, options())).rejects.toThrow(error);
  const changes = await engine.reconcile([both], options());
  const what = 'two: setting size=1 in own';
  expect(changes).toEqual([
    // It needs the directory, of which nothing is known.
    { action: 'failed', owner: 'both', what, error },
    { action: 'failed', owner: 'both', what: 'all 1 resources in two', error },
  ]);
  hanging.clear();
  expect(await engine.reconcile([both], options())).toEqual([{ action: 'repaired', owner: 'both', what }]);
});

test('calls that are left behind are counted by backend, also where the caller gives up', async () => {
  const counts = () => Object.fromEntries(engine.abandonedCalls());
  await engine.apply(both, options());
  expect(counts()).toEqual({ one: 0, two: 0 });
  hanging.add('one observe');
  await expect(engine.verify(both, options())).rejects.toThrow('one has not answered');
  expect(counts()).toEqual({ one: 1, two: 0 });
  hanging.add('two observe');
  const caller = new AbortController();
  const verified = engine.verify(two, { signal: caller.signal });
  caller.abort();
  await expect(verified).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  expect(counts()).toEqual({ one: 1, two: 1 });
});

test('a deferred deletion that is left behind is counted, too', async () => {
  hanging.add('one delete');
  await engine.apply(one, options());
  await engine.remove(one, options());
  await expect(engine.settle()).rejects.toMatchObject({ code: 'BACKEND_SILENT' });
  const count = engine.abandonedCalls().get('one');
  // Two where the deletion had begun by itself.
  expect([1, 2]).toContain(count);
  hanging.clear();
  await engine.settle();
  expect(engine.abandonedCalls().get('one')).toBe(count);
});

test('a call that fails by itself was not left behind', async () => {
  fs.rmSync(path.join(root, 'one'), { recursive: true });
  await expect(engine.apply(one, options())).rejects.toThrow();
  expect(engine.abandonedCalls().get('one')).toBe(0);
  fs.mkdirSync(path.join(root, 'one'));
});
