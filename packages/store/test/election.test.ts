/** Candidates that are stopped, cut off, slow and deaf: never two leaders, and always one in the end. */
import fc from 'fast-check';
import { silentLog, type Clock } from '@podwire/platform';
import { afterEach, expect, test } from 'vitest';
import { electLeader, type Lock, type Store } from '../src/index.js';
import { createMemoryServer, type MemoryFaults, type MemoryStore } from '../src/memory/index.js';
import { createTestClock, type TestClock } from '@podwire/platform/testing';

const ttl = 3_000;
const key = '/test/leader';
const work = '/test/work';

interface Node {
  readonly name: string;
  readonly client: MemoryStore;
  readonly faults: MemoryFaults;
  /** Of what it is leading with now. */
  lock: Lock | undefined;
  gate: { readonly opened: Promise<void>; readonly open: () => void } | undefined;
  /** Wall clock. */
  jump: number;
}

/** Nothing runs on while the node is stopped: neither what slept nor what an answer came for. */
async function whenRunning<T>(node: Node, result: Promise<T>): Promise<T> {
  const [settled] = await Promise.allSettled([result]);
  while (node.gate !== undefined) await node.gate.opened;
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}

function stoppable(node: Node): Store {
  const { client } = node;
  const run = <T>(result: Promise<T>): Promise<T> => whenRunning(node, result);
  return {
    kind: client.kind,
    limits: client.limits,
    get: (...given) => run(client.get(...given)),
    put: (...given) => run(client.put(...given)),
    delete: (...given) => run(client.delete(...given)),
    transact: (...given) => run(client.transact(...given)),
    list: (...given) => run(client.list(...given)),
    watch: (...given) => client.watch(...given),
    grantLease: async (...given) => {
      const lease = await run(client.grantLease(...given));
      const { id, ttl: granted } = lease;
      return {
        id,
        ttl: granted,
        keepAlive: (options) => run(lease.keepAlive(options)),
        revoke: (options) => run(lease.revoke(options)),
      };
    },
    close: () => client.close(),
  };
}

const clockOf = (node: Node, clock: TestClock): Clock => ({
  now: () => clock.now() + node.jump,
  elapsed: () => clock.elapsed(),
  sleep: (milliseconds, signal) => whenRunning(node, clock.sleep(milliseconds, signal)),
});

class World {
  readonly clock = createTestClock();
  readonly server = createMemoryServer({ clock: this.clock });
  readonly over = new AbortController();
  readonly nodes: readonly Node[];
  readonly elections: readonly Promise<void>[];
  /** Fences in the order in which their holders' writes were done. */
  readonly written: number[] = [];
  refused = 0;
  /** How often a node began to lead while another went on. */
  doubled = 0;

  constructor() {
    this.nodes = ['a', 'b', 'c'].map((name) => {
      const faults: MemoryFaults = { timeout: 500 };
      return { name, client: this.server.connect(faults), faults, lock: undefined, gate: undefined, jump: 0 };
    });
    this.elections = this.nodes.map((node) => this.#run(node));
  }

  #run(node: Node): Promise<void> {
    const clock = clockOf(node, this.clock);
    const store = stoppable(node);
    const lead = async (lock: Lock): Promise<void> => {
      node.lock = lock;
      if (this.leaders.length > 1) this.doubled++;
      try {
        while (!lock.lost.aborted) {
          await clock.sleep(100, lock.lost);
          await this.#write(store, lock);
        }
      } finally {
        node.lock = undefined;
      }
    };
    return electLeader({ store, key, holder: node.name, ttl, clock, log: silentLog, lead }, this.over.signal);
  }

  /** It does not look whether it still leads: that is what the fence is for. */
  async #write(store: Store, { fence }: Lock): Promise<void> {
    const conditions = [{ key, expect: fence }];
    const transaction = { conditions, writes: [{ op: 'put', key: work, value: String(fence) }] } as const;
    const { committed } = await store.transact(transaction).catch(() => ({ committed: undefined }));
    if (committed === false) this.refused++;
  }

  async record(): Promise<void> {
    for await (const batch of this.server.connect().watch(work, { signal: this.over.signal }))
      for (const change of batch.type === 'changes' ? batch.changes : [])
        if (change.type === 'put') this.written.push(Number(change.item.value));
  }

  get leaders(): readonly Node[] {
    return this.nodes.filter(({ lock, gate }) => lock?.lost.aborted === false && gate === undefined);
  }

  async close(): Promise<void> {
    for (const node of this.nodes) {
      node.client.restore();
      node.gate?.open();
      node.gate = undefined;
      delete node.faults.decide;
      delete node.faults.latency;
    }
    this.over.abort();
    await this.clock.advance(10 * ttl);
    await Promise.all(this.elections);
    await Promise.all(this.nodes.map(({ client }) => client.close()));
  }
}

type Step = { readonly act: string; readonly node: number; readonly by: number };

async function take(world: World, { act, node: index, by }: Step): Promise<void> {
  const node = world.nodes[index % 3];
  if (node === undefined) return;
  if (act === 'stop' && node.gate === undefined) {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    node.gate = { opened, open };
  } else if (act === 'go') {
    const { gate } = node;
    node.gate = undefined;
    gate?.open();
  } else if (act === 'cut') node.client.cut();
  else if (act === 'restore') node.client.restore();
  else if (act === 'jump') node.jump += (by - 3_000) * 100;
  else if (act === 'slow') node.faults.latency = () => by / 3;
  else if (act === 'deaf') node.faults.decide = () => (by % 2 === 0 ? 'answer-lost' : 'request-lost');
  else if (act === 'hear') {
    delete node.faults.decide;
    delete node.faults.latency;
  }
  await world.clock.advance(by);
  await new Promise((resolve) => setImmediate(resolve));
}

const steps = fc.array(
  fc.record<Step>({
    act: fc.constantFrom(
      'stop',
      'go',
      'go',
      'cut',
      'restore',
      'restore',
      'jump',
      'slow',
      'deaf',
      'hear',
      'wait',
    ),
    node: fc.nat(2),
    by: fc.integer({ min: 1, max: 6_000 }),
  }),
  { maxLength: 25 },
);

let worlds: World[] = [];
afterEach(async () => {
  await Promise.all(worlds.map((world) => world.close()));
  worlds = [];
});

test(
  'no two lead at once, and nothing of an old leader is written after the first of a new one',
  { tags: ['long'] },
  async () => {
    let elections = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const world = new World();
        worlds = [world];
        const recorded = world.record();
        for (const step of all) {
          await take(world, step);
          expect(world.leaders.length, JSON.stringify(all)).toBeLessThanOrEqual(1);
        }
        for (const node of [0, 1, 2])
          for (const act of ['go', 'restore', 'hear']) await take(world, { act, node, by: 1 });
        for (let waits = 0; world.leaders.length === 0; waits++) {
          expect(waits, 'no node leads').toBeLessThan(20);
          await world.clock.advance(ttl);
        }
        expect(world.doubled).toBe(0);
        expect(world.written).toEqual(world.written.toSorted((a, b) => a - b));
        elections += new Set(world.written).size;
        await world.close();
        await recorded;
      }),
      { numRuns: 60 },
    );
    // Or too little was tried; some 80 are usual.
    expect(elections).toBeGreaterThan(30);
  },
);

test('a leader whose item is deleted by hand leads no more', async () => {
  const world = new World();
  worlds = [world];
  await world.clock.advance(500);
  const [first] = world.leaders;
  const lost = first?.lock?.lost;
  expect(lost?.aborted).toBe(false);
  await world.server.connect().delete(key);
  await world.clock.advance(10);
  expect(lost?.aborted).toBe(true);
  await world.clock.advance(2 * ttl);
  expect(world.leaders).toHaveLength(1);
});

test('a leader that is stopped is followed by another within the time of the lease, and is refused when it goes on', async () => {
  const world = new World();
  worlds = [world];
  await world.clock.advance(500);
  const [first] = world.leaders;
  if (first === undefined) expect.fail('no node leads');
  await take(world, { act: 'stop', node: world.nodes.indexOf(first), by: ttl + 500 });
  const [second] = world.leaders;
  expect(second).toBeDefined();
  expect(second).not.toBe(first);
  await take(world, { act: 'go', node: world.nodes.indexOf(first), by: 1_000 });
  expect(world.leaders).toEqual([second]);
  expect(world.refused).toBeGreaterThan(0);
});

test('a candidate that is told to stop gives the leadership back at once', async () => {
  const clock = createTestClock();
  const server = createMemoryServer({ clock });
  const over = new AbortController();
  const store = server.connect();
  let led = 0;
  const election = electLeader(
    {
      store,
      key,
      holder: 'a',
      ttl,
      clock,
      log: silentLog,
      lead: ({ lost }) =>
        new Promise((resolve) => {
          led++;
          lost.addEventListener('abort', () => resolve(), { once: true });
        }),
    },
    over.signal,
  );
  await clock.advance(10);
  expect((await store.get(key))?.value).toBe('a');
  over.abort();
  await election;
  expect(led).toBe(1);
  expect(await store.get(key)).toBeUndefined();
  await store.close();
  expect(clock.sleepers()).toBe(0);
});
