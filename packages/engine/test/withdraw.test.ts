/** Resources that do harm without another one: a lamp on a socket that another one has got. */
import { beforeEach, expect, test } from 'vitest';
import {
  type Backend,
  type Change,
  createEngine,
  type Engine,
  type Failure,
  type Kind,
  type Owned,
  type Resource,
} from '../src/index.js';

interface Socket {
  readonly kind: 'socket';
}
interface Lamp {
  readonly kind: 'lamp';
}
interface LampResources {
  socket: Socket;
  lamp: Lamp;
}

declare module '@podwire/engine' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- this is how it is extended
  interface ResourceKinds extends LampResources {}
}

const common = {
  ...{ backend: 'lamps', place: () => 'host', inPlace: true, check: () => undefined },
  compare: ({ kind }: { readonly kind: string }, state: unknown) =>
    state === 'right'
      ? undefined
      : state === 'wrong'
        ? `${kind} is wrong`
        : { missing: `there is no ${kind}` },
};
const socket: Kind<Socket> = {
  ...{ kind: 'socket', batch: 'sockets', removal: 'never', key: () => 'socket', describe: () => 'socket' },
  ...common,
};
const lamp: Kind<Lamp> = {
  ...{ kind: 'lamp', batch: 'lamps', key: () => 'lamp', describe: () => 'lamp' },
  ...{ after: () => ['socket'], onlyWith: () => ['socket'] },
  ...common,
};

let states: Map<string, 'right' | 'wrong'>;
let isTaken: boolean;
let isSilent: boolean;
let isStuck: boolean;

const repair = (resources: readonly Resource[]): Failure[] =>
  resources.flatMap((resource): Failure[] => {
    if (resource.kind === 'socket' && isTaken) return [{ resource, error: new Error('taken') }];
    states.set(resource.kind, 'right');
    return [];
  });

const openBackend = (): Backend => ({
  ...{ name: 'lamps', kinds: [socket, lamp], isAbsent: () => false, isConflict: () => false },
  close: () => undefined,
  open: () => ({
    reaches: async () => Promise.resolve(true),
    create: async ({ resources }) => Promise.resolve(repair(resources)),
    repair: async ({ resources }) => Promise.resolve(repair(resources)),
    remove: async ({ resources }) => {
      if (isStuck)
        return Promise.resolve(resources.map((resource) => ({ resource, error: new Error('stuck') })));
      for (const { kind } of resources) states.delete(kind);
      return Promise.resolve([]);
    },
    observe: async (resources) =>
      Promise.resolve(
        new Map(
          resources.map((one) => [
            one,
            isSilent && one.kind === 'socket'
              ? { unseen: new Error('silent') }
              : { found: states.get(one.kind) },
          ]),
        ),
      ),
    close: () => undefined,
  }),
});

const pod: Owned = {
  owner: 'pod',
  resources: [{ kind: 'socket' }, { kind: 'lamp' }],
  namespace: { path: '/run/netns/pod', device: 1, inode: 1 },
};
const call = () => ({ signal: AbortSignal.timeout(10_000) });
let engine: Engine;

const reconcile = async (): Promise<string[]> =>
  (await engine.reconcile([pod], call())).map(({ action, what }: Change) => `${what} ${action}`);

beforeEach(async () => {
  states = new Map();
  [isTaken, isSilent, isStuck] = [false, false, false];
  engine = createEngine({ backends: [openBackend()] });
  await engine.apply(pod, call());
});

test('a resource goes when the one that it must not stand without cannot be repaired', async () => {
  states.set('socket', 'wrong');
  isTaken = true;
  expect(await reconcile()).toEqual(['socket failed', 'lamp failed']);
  expect(states.has('lamp')).toBe(false);
  expect(await reconcile()).toEqual(['socket failed', 'lamp failed']);
});

test('one that cannot be removed is reported with the error of that', async () => {
  states.set('socket', 'wrong');
  [isTaken, isStuck] = [true, true];
  const changes = await engine.reconcile([pod], call());
  expect(changes.map(({ what, error }) => [what, String(error)])).toEqual([
    ['socket', expect.stringContaining('taken') as string],
    ['lamp', expect.stringContaining('stuck') as string],
  ]);
});

test('it goes also where its own content differs', async () => {
  states = new Map([
    ['socket', 'wrong'],
    ['lamp', 'wrong'],
  ]);
  isTaken = true;
  expect(await reconcile()).toEqual(['socket failed', 'lamp failed']);
  expect(states.has('lamp')).toBe(false);
});

test('it comes back when the other one is as wanted', async () => {
  states.set('socket', 'wrong');
  isTaken = true;
  await reconcile();
  isTaken = false;
  expect(await reconcile()).toEqual(['socket repaired', 'lamp repaired']);
  expect(await reconcile()).toEqual([]);
});

test('it stays where the other one is repaired, and where nothing is known of it', async () => {
  states.set('socket', 'wrong');
  expect(await reconcile()).toEqual(['socket repaired']);
  isSilent = true;
  await reconcile();
  expect(states.get('lamp')).toBe('right');
});
