import fc from 'fast-check';
import { type ContainerConfig, ContainerState } from '@podwire/cri';
import type { FakeProgram } from '@podwire/cri/fake';
import { describe, expect, it } from 'vitest';
import { createMerger } from '../../src/merge/merger.js';
import type { Pod } from '@podwire/pod-spec';
import type { Podlet } from '../../src/podlet.js';
import { type Bench, createBench } from './fixture.js';
import { createFaulty, type Faulty, type How } from './faulty.js';
import { createLife, type Life } from './mortal.js';
import { aContainer, aPod } from './pods.js';
import { createWatchdog, describeRuntime, type Watchdog } from './watchdog.js';

type Shape = 'plain' | 'polite' | 'stubborn' | 'double' | 'staged' | 'job' | 'failing' | 'host';

/** Expected state of a pod when everything is at rest: containers that run; undefined for one that has ended. */
const shapes: Readonly<Record<Shape, { make: (name: string, uid: string) => Pod; running?: string[] }>> = {
  plain: { make: (name, uid) => aPod({ name, uid }), running: ['main'] },
  /** Has done its work when it ends well, but not when it was told to end. */
  polite: {
    make: (name, uid) =>
      aPod({
        name,
        uid,
        spec: { restartPolicy: 'OnFailure', containers: [aContainer('main', { command: ['polite'] })] },
      }),
    running: ['main'],
  },
  /** Ends only when its whole grace period is over, so that much can happen meanwhile. */
  stubborn: {
    make: (name, uid) =>
      aPod({ name, uid, spec: { containers: [aContainer('main', { command: ['ignore-term'] })] } }),
    running: ['main'],
  },
  double: {
    make: (name, uid) => aPod({ name, uid, spec: { containers: [aContainer('a'), aContainer('b')] } }),
    running: ['a', 'b'],
  },
  staged: {
    make: (name, uid) =>
      aPod({
        name,
        uid,
        spec: {
          initContainers: [
            aContainer('prepare', { command: ['exit', '0'] }),
            aContainer('proxy', { restartPolicy: 'Always' }),
          ],
        },
      }),
    running: ['main', 'proxy'],
  },
  job: {
    make: (name, uid) =>
      aPod({
        name,
        uid,
        spec: { restartPolicy: 'OnFailure', containers: [aContainer('main', { command: ['exit', '0'] })] },
      }),
  },
  failing: {
    make: (name, uid) =>
      aPod({
        name,
        uid,
        spec: { restartPolicy: 'Never', containers: [aContainer('main', { command: ['exit', '3'] })] },
      }),
  },
  host: { make: (name, uid) => aPod({ name, uid, spec: { hostNetwork: true } }), running: ['main'] },
};

function programOf({ command: [name, argument] }: ContainerConfig): FakeProgram {
  if (name === 'exit') return { endsAfterMs: 0, exitCode: Number(argument) };
  if (name === 'polite') return { termExitCode: 0 };
  return name === 'ignore-term' ? { ignoresTerm: true } : {};
}

interface World {
  readonly bench: Bench;
  readonly dog: Watchdog;
  readonly wanted: Map<string, { readonly uid: string; readonly shape: Shape }>;
  readonly faulty: Faulty;
  life: Life;
  podlet: Podlet;
  serial: number;
}

function start(world: World, lastStep?: number): void {
  world.life = createLife(lastStep);
  const { bench, dog, life, faulty } = world;
  world.podlet = bench.start({
    runtime: life.wrap(faulty.wrap(dog.wrap(bench.runtime))),
    preparation: life.wrapPreparation(bench.preparation),
    merger: createMerger(bench.clock),
    faults: life.faults,
  });
}

function createWorld(hasEvents: boolean): World {
  const bench = createBench({ hasEvents, programOf });
  const dog = createWatchdog();
  const world = {
    bench,
    dog,
    wanted: new Map(),
    faulty: createFaulty(bench.clock),
    serial: 0,
  } as unknown as World;
  start(world);
  say(world);
  return world;
}

function say({ bench, wanted }: World): void {
  bench.file.say([...wanted].map(([name, { uid, shape }]) => shapes[shape].make(name, uid)));
}

type Action = (world: World) => Promise<void> | void;

const methods = [
  'status',
  'runPodSandbox',
  'stopPodSandbox',
  'removePodSandbox',
  'podSandboxStatus',
  'listPodSandbox',
  'createContainer',
  'startContainer',
  'stopContainer',
  'removeContainer',
  'listContainers',
  'containerStatus',
  'imageStatus',
  'pullImage',
] as const;

const names = fc.constantFrom('red', 'green', 'blue');
const actions: fc.Arbitrary<{ readonly label: string; readonly run: Action }> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(names, fc.constantFrom(...(Object.keys(shapes) as Shape[])))
      .map(([name, shape]) => ({ label: `want ${name} ${shape}`, run: want(name, shape) })),
  },
  { weight: 2, arbitrary: names.map((name) => ({ label: `drop ${name}`, run: drop(name) })) },
  {
    weight: 1,
    arbitrary: names.map((name) => ({ label: `drop and take back ${name}`, run: flicker(name) })),
  },
  {
    weight: 2,
    arbitrary: fc.nat(5).map((index) => ({ label: `kill container ${index}`, run: killContainer(index) })),
  },
  {
    weight: 2,
    arbitrary: fc.nat(5).map((index) => ({ label: `kill sandbox ${index}`, run: killSandbox(index) })),
  },
  {
    weight: 1,
    arbitrary: fc.nat(5).map((index) => ({ label: `strip sandbox ${index}`, run: strip(index) })),
  },
  {
    weight: 1,
    arbitrary: fc.nat(5).map((index) => ({ label: `vanish sandbox ${index}`, run: vanish(index) })),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...methods),
        fc.constantFrom('refused', 'answer lost', 'hangs') as fc.Arbitrary<How>,
        fc.integer({ min: 1, max: 3 }),
      )
      .map(([method, how, call]) => ({
        label: `${method} call ${call} ${how}`,
        run: failCall(method, how, call),
      })),
  },
  {
    weight: 3,
    arbitrary: fc
      .integer({ min: 1, max: 40 })
      .map((step) => ({ label: `restart, then die at step ${step}`, run: restart(step) })),
  },
  {
    weight: 1,
    arbitrary: fc.boolean().map((networkReady) => ({
      label: `network ready ${networkReady}`,
      run: ({ bench }: World) => bench.runtime.setConditions({ networkReady }),
    })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(-3_600_000, 3_600_000).map((time) => ({
      label: `clock set by ${time} ms`,
      run: ({ bench }: World) => bench.clock.jump(time),
    })),
  },
  {
    weight: 5,
    arbitrary: fc
      .constantFrom(0, 30, 1_100, 12_000, 70_000)
      .map((time) => ({ label: `${time} ms`, run: ({ bench }: World) => bench.clock.advance(time) })),
  },
);

function failCall(method: string, how: How, call: number): Action {
  return ({ faulty }) => faulty.plan(method, how, call);
}

function want(name: string, shape: Shape): Action {
  return (world) => {
    world.wanted.set(name, { uid: `${name}-${(world.serial += 1)}-${shape}`, shape });
    say(world);
  };
}

function drop(name: string): Action {
  return (world) => {
    world.wanted.delete(name);
    say(world);
  };
}

/** The same pod again, before the old one can be gone. */
function flicker(name: string): Action {
  return (world) => {
    const pod = world.wanted.get(name);
    if (pod === undefined) return;
    world.wanted.delete(name);
    say(world);
    world.wanted.set(name, pod);
    say(world);
  };
}

function killContainer(index: number): Action {
  return async ({ bench }) => {
    const { containers } = await bench.runtime.listContainers({});
    const running = containers.filter(({ state }) => state === ContainerState.CONTAINER_RUNNING);
    const victim = running[index % Math.max(1, running.length)];
    if (victim !== undefined) bench.runtime.crash(victim.id, 1);
  };
}

async function pickSandbox({ bench }: World, index: number) {
  const { items } = await bench.runtime.listPodSandbox({});
  return items[index % Math.max(1, items.length)];
}

function killSandbox(index: number): Action {
  return async (world) => {
    const victim = await pickSandbox(world, index);
    if (victim !== undefined) world.bench.runtime.crashSandbox(victim.id);
  };
}

function strip(index: number): Action {
  return async (world) => {
    const victim = await pickSandbox(world, index);
    world.bench.addresses.get(`${victim?.metadata?.uid}/${victim?.metadata?.attempt}`)?.splice(0);
  };
}

/** Another client removes it, as with `crictl rmp -f`. */
function vanish(index: number): Action {
  return async (world) => {
    const victim = await pickSandbox(world, index);
    if (victim !== undefined)
      await world.bench.runtime.removePodSandbox({ podSandboxId: victim.id }).catch(() => undefined);
  };
}

function restart(lastStep: number): Action {
  return (world) => {
    world.life.kill();
    void world.podlet.stop();
    start(world, lastStep);
  };
}

/** Without further faults, and half of the time without a new podlet: the one that has seen it all must find the way too. */
async function comeToRest(world: World, anew: boolean): Promise<void> {
  world.faulty.clear();
  world.bench.runtime.setConditions({ networkReady: true });
  if (anew || world.life.isOver()) await restart(Infinity)(world);
  world.life.goOn();
  await world.bench.clock.advance(15 * 60_000);
}

async function expectRest(world: World): Promise<void> {
  const found = await describeRuntime(world.bench.runtime);
  const alive = found.filter((line) => !/^\S+ stopped$/.test(line));
  const expected = [...world.wanted.values()].flatMap(({ uid, shape }) => {
    const { running } = shapes[shape];
    return running === undefined ? [] : [[uid, 'ready', ...running].join(' ')];
  });
  expect(alive).toEqual(expected.sort());
  const uids = new Set([...world.wanted.values()].map(({ uid }) => uid));
  expect(found.filter((line) => !uids.has(line.split(' ')[0] ?? ''))).toEqual([]);
  expect([...world.bench.preparation.uids].filter((uid) => !uids.has(uid))).toEqual([]);
  for (const { uid, shape } of world.wanted.values()) {
    const phase = world.podlet.view(uid)?.status.phase;
    expect(phase).toMatch(shapes[shape].running === undefined ? /^(Succeeded|Failed)$/ : /^Running$/);
  }
  expect(world.dog.violations).toEqual([]);
}

const runs = Number(process.env.PODWIRE_MODEL_RUNS ?? 60);

describe('whatever happens', () => {
  it(
    'the runtime is in the end as it shall be, and nothing forbidden was done on the way',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(actions, { minLength: 1, maxLength: 25 }),
          fc.boolean(),
          fc.boolean(),
          async (list, hasEvents, anew) => {
            const world = createWorld(hasEvents);
            for (const { run } of list) await run(world);
            await comeToRest(world, anew);
            await expectRest(world);
            await world.podlet.stop();
          },
        ),
        { numRuns: runs },
      );
    },
    60_000 + 2_000 * runs,
  );
});
