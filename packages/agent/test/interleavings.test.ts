/**
 * Random requests on twenty pods, side by side, with kernel errors, lost answers and agents that die in the middle. Whatever
 * the order: one owner for each address, one worker for each endpoint, GC alone, and nothing left in the end.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FaultPoints } from '@podwire/engine';
import { endpointKey } from '@podwire/network-contract';
import { PodwireError } from '@podwire/errors';
import { FakeEngine, type FakeKernel } from './fakes/fake-engine.js';
import { createHarness, type Harness, type TestCall } from './fakes/harness.js';
import { createMemoryRecords, type MemoryRecords } from './fakes/memory-records.js';

interface Step {
  readonly command: 'ADD' | 'DEL' | 'CHECK' | 'GC' | 'RECONCILE' | 'LOSE';
  readonly pod: number;
  /** Turns of the queue of microtasks before it begins. */
  readonly delay: number;
  readonly port: boolean;
  readonly answerLost: boolean;
}

interface Plan {
  readonly rounds: readonly (readonly Step[])[];
  readonly seed: number;
  /** Of a thousand changes of the kernel, how many fail. */
  readonly failures: number;
  /** After how many changes of a round the agent dies; never if larger than the round has. */
  readonly deaths: readonly number[];
}

const pods = 20;
const step: fc.Arbitrary<Step> = fc.record({
  command: fc.constantFrom('ADD', 'ADD', 'ADD', 'ADD', 'DEL', 'DEL', 'CHECK', 'GC', 'RECONCILE', 'LOSE'),
  pod: fc.nat({ max: pods - 1 }),
  delay: fc.nat({ max: 60 }),
  port: fc.boolean(),
  answerLost: fc.nat({ max: 3 }).map((number) => number === 0),
});
const plan: fc.Arbitrary<Plan> = fc.record({
  rounds: fc.array(fc.array(step, { minLength: 1, maxLength: 25 }), { minLength: 1, maxLength: 3 }),
  seed: fc.nat(),
  failures: fc.constantFrom(0, 0, 5, 30),
  deaths: fc.array(fc.nat({ max: 600 }), { minLength: 3, maxLength: 3 }),
});

/** A small generator of numbers below `limit` (mulberry32), so that a seed is a whole schedule. */
function numbers(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

const frozen = new Promise<never>(() => undefined);

/** The node: what outlives an agent. */
class World {
  readonly kernel: FakeKernel = new Map();
  readonly records: MemoryRecords = createMemoryRecords();
  readonly namespaces = new Map<string, number | undefined>();
  readonly random: (limit: number) => number;
  failures: number;
  agent!: Harness;
  /** Changes until the agent dies. */
  life = Infinity;
  died = false;
  #onDeath = (): void => undefined;

  constructor({ seed, failures }: Plan) {
    this.random = numbers(seed);
    this.failures = failures;
  }

  async startAgent(): Promise<void> {
    const engine = new FakeEngine({ kernel: this.kernel });
    let alive = true;
    engine.between = async (point) => {
      if (!alive) await frozen;
      if (--this.life === 0) {
        alive = false;
        this.died = true;
        this.#onDeath();
        await frozen;
      }
      for (let turns = this.random(4); turns > 0; turns--) await Promise.resolve();
      if (!alive) await frozen;
      const kind = point.startsWith('apply') ? 'KERNEL_REFUSED' : 'REMOVE_INCOMPLETE';
      if (this.random(1000) < this.failures) throw new PodwireError(kind, `${point} failed`);
    };
    const faults: FaultPoints = {
      reach(point) {
        if (point === 'gc:next' && engine.busy.size > 0)
          engine.violations.push(`GC beside ${[...engine.busy].join()}`);
      },
    };
    this.agent = createHarness({
      engine,
      faults,
      records: whileAlive(this.records, () => alive),
      namespaces: this.namespaces,
      yaml: 'coolDown: 0s\nnetworks: [{ name: n, pools: [{ cidr: 10.1.0.0/27 }] }]\nlog: { level: fatal }',
    });
    // The first attempts may fail for the kernel's sake.
    for (;;) {
      const done = await this.agent.recover().catch(() => undefined);
      if (done !== undefined) return;
      this.failures = 0;
    }
  }

  /** Runs until everything has answered or the agent has died. */
  async round(steps: readonly Step[], life: number): Promise<void> {
    this.life = life;
    this.died = false;
    const death = new Promise<void>((resolve) => (this.#onDeath = resolve));
    await Promise.race([death, Promise.all(steps.map((each) => this.#run(each)))]);
    this.life = Infinity;
    expect(this.agent.engine.violations).toEqual([]);
    if (this.died) await this.startAgent();
  }

  async #run({ command, pod, delay, port, answerLost }: Step): Promise<void> {
    // A late call still speaks to the agent of its own round, also when that one has died.
    const { agent } = this;
    for (let turns = delay; turns > 0; turns--) await Promise.resolve();
    const id = `p${pod}`;
    if (command === 'LOSE') return void this.namespaces.set(`/run/netns/${id}`, undefined);
    if (command === 'RECONCILE') return void (await agent.reconciler.run().catch(() => undefined));
    await agent.call(command, { id, config: this.#configFor(command, pod, port), ...lose(answerLost) });
    this.checkOwners();
  }

  #configFor(command: string, pod: number, port: boolean): Record<string, unknown> {
    if (command === 'GC') {
      const valid = Array.from({ length: pods }, (_, index) => index).filter(
        (index) => (index + pod) % 3 !== 0,
      );
      return {
        'cni.dev/valid-attachments': valid.map((index) => ({ containerID: `p${index}`, ifname: 'eth0' })),
      };
    }
    if (command === 'CHECK') return { prevResult: { cniVersion: '1.1.0' } };
    return port ? { runtimeConfig: { portMappings: [{ hostPort: 80 + (pod % 4), containerPort: 80 }] } } : {};
  }

  /** No address leads to two pods, no port either; no record has an address that another has. */
  checkOwners(): void {
    const owners = new Map<string, string>();
    const claim = (what: string, owner: string): void => {
      expect(`${what} ${owners.get(what) ?? owner}`).toBe(`${what} ${owner}`);
      owners.set(what, owner);
    };
    for (const { owner, resource } of this.kernel.values()) {
      if (owner !== 'node' && resource.kind === 'route' && resource.in === 'host')
        claim(resource.destination, owner);
    }
    for (const record of this.records.records.values()) {
      for (const { address } of record.leases) claim(`${address}/32`, `endpoint:${endpointKey(record.id)}`);
    }
  }

  /** Checks that the kernel, the records, memory and the addresses have the same set of endpoints. */
  checkAllocation(): void {
    this.checkOwners();
    const { context } = this.agent;
    const known = new Set(context.endpoints.all().map(({ id }) => endpointKey(id)));
    expect(new Set(this.records.records.keys())).toEqual(known);
    const wired = [...this.kernel.values()].map(({ owner }) => owner).filter((owner) => owner !== 'node');
    for (const owner of wired) expect(known).toContain(owner.slice('endpoint:'.length));
    const leased = context.networks.flatMap(({ ipam }) => ipam.leases().map(({ owner }) => owner));
    expect(new Set(leased)).toEqual(known);
  }

  /** After the trouble is over, one DEL for each pod leaves nothing. */
  async cleanUp(): Promise<void> {
    this.failures = 0;
    const calls = Array.from({ length: pods }, (_, pod): TestCall => ({ id: `p${pod}`, netns: '' }));
    const answers = await Promise.all(calls.map((call) => this.agent.call('DEL', call)));
    expect(answers.filter(({ ok }) => !ok)).toEqual([]);
    await this.agent.reconciler.run();
    this.checkAllocation();
    expect([...this.kernel.values()].filter(({ owner }) => owner !== 'node')).toEqual([]);
    expect(this.records.records.size).toBe(0);
    const everyPort = [80, 81, 82, 83].map((hostPort) => ({
      hostPort,
      containerPort: 80,
      protocol: 'tcp' as const,
    }));
    this.agent.context.ports.check({ network: '', containerId: '', ifName: '' }, everyPort, [4]);
  }
}

const lose = (answerLost: boolean): TestCall =>
  answerLost ? { answer: () => Promise.reject(new Error('EPIPE')) } : {};

/** A dead agent writes nothing, whatever of it still stands in some queue. */
function whileAlive(records: MemoryRecords, alive: () => boolean): MemoryRecords {
  const guard =
    <A extends unknown[], R>(work: (...args: A) => R) =>
    (...args: A): R => {
      if (!alive()) throw new Error('dead');
      return work(...args);
    };
  return {
    ...records,
    write: guard((record) => records.write(record)),
    advance: guard((record, phase) => records.advance(record, phase)),
    delete: guard((record) => records.delete(record)),
  };
}

test('a thousand random interleavings', { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (drawn) => {
      const world = new World(drawn);
      await world.startAgent();
      for (const [index, steps] of drawn.rounds.entries()) {
        await world.round(steps, drawn.deaths[index]! + 1);
        world.checkAllocation();
      }
      await world.cleanUp();
    }),
    { numRuns: Number(process.env['PODWIRE_PROPERTY_RUNS'] ?? 1000) },
  );
});
