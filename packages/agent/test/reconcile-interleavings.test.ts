/**
 * ADD, DEL and reconcile side by side on the real engine and a kernel in memory. A scheduler of fast-check decides at
 * every call of a backend which of them goes on.
 */
import { setImmediate } from 'node:timers/promises';
import { createLinuxBackends } from '@podwire/backend-linux';
import { createFakeSystem, type FakeSystem } from '@podwire/backend-linux/fake';
import { type Backend, createEngine, type Engine, type Owned, type Session } from '@podwire/engine';
import { endpointKey } from '@podwire/network-contract';
import { PodwireError } from '@podwire/errors';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ownedBy } from '../src/endpoints/context.js';
import type { Namespaces } from '../src/node/namespaces.js';
import { makeUplink } from './fakes/peer-world.js';
import { createHarness, type Harness } from './fakes/harness.js';

const pods = ['p0', 'p1', 'p2', 'p3'];
type Command = 'ADD' | 'DEL' | 'RECONCILE' | 'DAMAGE';

const step = fc.record({
  command: fc.constantFrom<Command>(
    ...Array<Command>(8).fill('ADD'),
    ...Array<Command>(4).fill('DEL'),
    ...Array<Command>(6).fill('RECONCILE'),
    'DAMAGE',
  ),
  pod: fc.constantFrom(...pods),
});

const delayed = ['create', 'repair', 'remove', 'observe', 'recover', 'clear', 'listMarked', 'prune'] as const;

/** The backend, with other work before and after everything that it does. */
function schedule(backend: Backend, scheduler: fc.Scheduler): Backend {
  // A turn of the event loop each: the engine's own pauses take their part in the order.
  const between = async (label: string): Promise<void> => scheduler.schedule(setImmediate(), label);
  const wrap = (session: Session): Session => {
    const wrapped: Record<string, unknown> = {
      reaches: session.reaches.bind(session),
      close: () => session.close(),
    };
    for (const name of delayed) {
      const call = session[name]?.bind(session) as ((...args: unknown[]) => Promise<unknown>) | undefined;
      if (call === undefined) continue;
      wrapped[name] = async (...args: unknown[]) => {
        // A prune chooses and deletes in one tick.
        if (name !== 'prune') await between(`before ${backend.name} ${name}`);
        const result = await call(...args);
        await between(`after ${backend.name} ${name}`);
        return result;
      };
    }
    return wrapped as unknown as Session;
  };
  return { ...backend, open: (owned, context) => wrap(backend.open(owned, context)) };
}

class World {
  readonly system: FakeSystem = createFakeSystem();
  readonly agent: Harness;
  readonly engine: Engine;
  #isDamaged = false;

  constructor(scheduler: fc.Scheduler) {
    makeUplink(this.system.host.route);
    const identities = new Map(pods.map((name) => [name, this.system.addPod(`/run/netns/${name}`)]));
    const namespaces: Namespaces = {
      identify(path) {
        const identity = identities.get(path.split('/').at(-1)!);
        if (identity === undefined) throw new PodwireError('NAMESPACE_GONE', path);
        return identity;
      },
      isGone: () => false,
    };
    const backends = createLinuxBackends(this.system).map((backend) => schedule(backend, scheduler));
    this.engine = createEngine({ backends });
    this.agent = createHarness({
      yaml: 'nodeName: n\ncoolDown: 0s\nnetworks: [{ name: n, pools: [{ cidr: 10.1.0.0/27, blockSize: 30 }] }]',
      dependencies: { engine: this.engine, namespaces },
    });
  }

  async run({ command, pod }: { command: Command; pod: string }): Promise<void> {
    if (command === 'RECONCILE') {
      const { failures, changes } = await this.agent.reconciler.run();
      if (!this.#isDamaged) expect({ failures, changes }).toEqual({ failures: [], changes: [] });
    } else if (command === 'DAMAGE') this.#damage();
    else {
      const runtimeConfig = {
        portMappings: [{ hostPort: 8000 + pods.indexOf(pod), containerPort: 80, protocol: 'tcp' }],
      };
      const { ok, json } = await this.agent.call(command, { id: pod, config: { runtimeConfig } });
      // Without a packet filter there is no place for the host port.
      if (!this.#isDamaged) expect(ok, JSON.stringify(json)).toBe(true);
    }
  }

  /** The packet filter is lost with everything in it. */
  #damage(): void {
    this.#isDamaged = true;
    for (const { family, name } of this.system.nftables.listTables())
      this.system.nftables.deleteTable(family, name);
  }

  wanted(): Owned[] {
    const { node, endpoints } = this.agent.context;
    return [node.owned(), ...endpoints.all().map(ownedBy)];
  }
}

const call = { signal: new AbortController().signal };

test(
  'ADD, DEL and reconcile in any order leave the kernel as the records say',
  { timeout: 300_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(step, { minLength: 2, maxLength: 8 }),
        async (scheduler, steps) => {
          const world = new World(scheduler);
          await scheduler.waitFor(world.agent.recover());
          await scheduler.waitFor(Promise.all(steps.map((each) => world.run(each))));
          const { endpoints, networks } = world.agent.context;
          const isDamaged = steps.some(({ command }) => command === 'DAMAGE');
          if (!isDamaged) {
            for (const owned of world.wanted())
              expect(await scheduler.waitFor(world.engine.verify(owned, call))).toEqual([]);
          }
          // The next reconcile repairs damage, and finds nothing to prune: what a DEL has removed is gone.
          const report = await scheduler.waitFor(world.agent.reconciler.run());
          expect(report.failures).toEqual([]);
          expect(report.changes.filter(({ action }) => (isDamaged ? action !== 'repaired' : true))).toEqual(
            [],
          );
          for (const owned of world.wanted())
            expect(await scheduler.waitFor(world.engine.verify(owned, call))).toEqual([]);
          expect(endpoints.all().every(({ phase }) => phase === 'ready')).toBe(true);
          const leased = networks.flatMap(({ ipam }) => ipam.leases().map(({ owner }) => owner));
          expect(new Set(leased)).toEqual(new Set(endpoints.all().map(({ id }) => endpointKey(id))));
        },
      ),
      { numRuns: Number(process.env['PODWIRE_PROPERTY_RUNS'] ?? 150) },
    );
  },
);
