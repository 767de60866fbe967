/** Resources that are renewed with others: a plug holds on to its wire, also to one that is gone, and the mark on a wire is not looked at. */
import { beforeEach, expect, test } from 'vitest';
import {
  type Backend,
  createEngine,
  type Engine,
  type Failure,
  type Kind,
  type Owned,
} from '../src/index.js';

interface Wire {
  readonly kind: 'wire';
}
interface Plug {
  readonly kind: 'plug';
}
interface Mark {
  readonly kind: 'mark';
}
interface WireResources {
  wire: Wire;
  plug: Plug;
  mark: Mark;
}

declare module '@podwire/engine' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- this is how it is extended
  interface ResourceKinds extends WireResources {}
}

const common = {
  ...{ backend: 'wires', place: () => 'host', inPlace: true, check: () => undefined },
  compare: ({ kind }: { readonly kind: string }, isThere: unknown) =>
    isThere === true ? undefined : { missing: `there is no ${kind}` },
};
const wire: Kind<Wire> = {
  ...{ kind: 'wire', batch: 'wires', leavesParts: true, key: () => 'wire', describe: () => 'wire' },
  ...common,
};
const plug: Kind<Plug> = {
  ...{ kind: 'plug', batch: 'plugs', key: () => 'plug', describe: () => 'plug', after: () => ['wire'] },
  renewedWith: () => ['wire'],
  ...common,
};

const mark: Kind<Mark> = {
  ...common,
  ...{ kind: 'mark', batch: 'marks', key: () => 'mark', describe: () => 'mark', diesWith: () => 'wire' },
  compare: () => undefined,
};

const there = new Set<string>();
let calls: string[];
let isStuck: boolean;

const openBackend = (): Backend => ({
  ...{ name: 'wires', kinds: [wire, plug, mark], isAbsent: () => false, isConflict: () => false },
  close: () => undefined,
  open: () => ({
    reaches: async () => Promise.resolve(true),
    create: async ({ resources }) => Promise.resolve(put(resources.map(({ kind }) => kind))),
    repair: async ({ resources }) => Promise.resolve(put(resources.map(({ kind }) => kind))),
    remove: async () => Promise.resolve([]),
    observe: async (resources) =>
      Promise.resolve(new Map(resources.map((one) => [one, { found: there.has(one.kind) }]))),
    clear: async (resources) => {
      const kinds = resources.map(({ kind }) => kind);
      calls.push(...kinds.map((kind) => `clear ${kind}`));
      if (!isStuck) for (const kind of kinds) there.delete(kind);
      const stuck = resources.filter(({ kind }) => isStuck && kind === 'plug');
      return Promise.resolve(stuck.map((resource): Failure => ({ resource, error: new Error('stuck') })));
    },
    close: () => undefined,
  }),
});

function put(kinds: readonly string[]): Failure[] {
  for (const kind of kinds) there.add(kind);
  calls.push(...kinds.map((kind) => `make ${kind}`));
  return [];
}

const pod: Owned = { owner: 'pod', resources: [{ kind: 'plug' }, { kind: 'wire' }] };
const call = () => ({ signal: AbortSignal.timeout(10_000) });
let engine: Engine;

beforeEach(async () => {
  there.clear();
  calls = [];
  isStuck = false;
  engine = createEngine({ backends: [openBackend()] });
  await engine.apply(pod, call());
  expect(calls.splice(0)).toEqual(['make wire', 'make plug']);
});

test('a plug is cleared while its wire is missing, and made again after it', async () => {
  there.delete('wire');
  const changes = await engine.reconcile([pod], call());
  expect(calls).toEqual(['clear wire', 'clear plug', 'make wire', 'make plug']);
  expect(changes.map(({ action, what }) => `${action} ${what}`)).toEqual(['repaired plug', 'repaired wire']);
  expect(await engine.reconcile([pod], call())).toEqual([]);
});

test('a plug that is missing leaves its wire alone', async () => {
  there.delete('plug');
  await engine.reconcile([pod], call());
  expect(calls).toEqual(['make plug']);
});

test('a plug that cannot be cleared keeps the new wire back, until it can be', async () => {
  there.delete('wire');
  isStuck = true;
  expect(await engine.reconcile([pod], call())).toMatchObject([{ action: 'failed', what: 'wire' }]);
  expect(calls.splice(0)).toEqual(['clear wire', 'clear plug']);
  isStuck = false;
  await engine.reconcile([pod], call());
  expect(calls).toEqual(['clear wire', 'clear plug', 'make wire', 'make plug']);
});

test('what dies with a wire is made again with it, though no look shows that it is missing', async () => {
  const marked: Owned = { owner: 'other pod', resources: [{ kind: 'wire' }, { kind: 'mark' }] };
  there.delete('wire');
  await engine.reconcile([marked], call());
  expect(calls).toEqual(['clear wire', 'make wire', 'make mark']);
  expect(await engine.reconcile([marked], call())).toEqual([]);
});
