import type { Resource } from '@podwire/engine';
import {
  type FactName,
  openJournal,
  type Journal,
  type JournalFile,
  type Planner,
  type Read,
} from '@podwire/planner';
import { silentLog } from '@podwire/platform';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Fate, keyOf, ModelKernel } from './model-kernel.js';
import {
  createPlanner,
  derivations,
  type FactMap,
  peersOf,
  planFromNothing,
  planPeer,
  sorted,
} from './model-plans.js';

interface Line {
  readonly name: string;
  readonly value: unknown;
}

const [names, sets] = [
  ['peer/a', 'peer/b', 'peer/c'],
  ['x', 'y'],
];
const fates = fc.array(fc.constantFrom<Fate>('done', 'refused', 'aborted'), { maxLength: 6 });
const peer = fc.record({
  address: fc.constantFrom('192.0.2.1', '192.0.2.2'),
  blocks: fc.uniqueArray(fc.constantFrom('10.0.0.0/26', '10.0.1.0/26', '10.0.2.0/26'), { maxLength: 3 }),
  joins: fc.subarray(sets),
  priority: fc.constantFrom(0, 0, 1),
});
const event = fc.oneof(
  {
    arbitrary: fc.record({
      is: fc.constant('peer' as const),
      name: fc.constantFrom(...names),
      value: fc.option(peer, { nil: undefined }),
    }),
    weight: 5,
  },
  fc.record({ is: fc.constant('underlay' as const), value: fc.constantFrom('eth0', 'eth1', 'wlan0') }),
  fc.record({
    is: fc.constant('member' as const),
    set: fc.constantFrom(...sets),
    name: fc.constantFrom('10.1.0.1', '10.1.0.2', '10.1.0.3'),
  }),
  fc.record({ is: fc.constant('replan' as const), limit: fc.nat(2) }),
  fc.record({ is: fc.constant('apply' as const), fates, retries: fc.boolean() }),
  fc.record({ is: fc.constant('now' as const), name: fc.constantFrom(...names), fates }),
  fc.record({ is: fc.constant('beside' as const), name: fc.constantFrom(...names), fates }),
  fc.record({ is: fc.constant('crash' as const) }),
);
type Event = typeof event extends fc.Arbitrary<infer E> ? E : never;

/** An agent with its facts, its journal and its kernel. Only the planner is lost in a crash. */
class ModelAgent {
  readonly facts: FactMap = new Map<string, unknown>([
    ['underlay', 'eth0'],
    ...sets.map((set) => [`set/${set}`, new Set<string>()] as const),
  ]);
  readonly kernel = new ModelKernel();
  readonly #file = new MemoryFile();
  planner: Planner<Resource> = createPlanner(this.facts);
  #journal = this.#openJournal();
  /** Everything was applied, and nothing has changed since. */
  #isSettled = true;

  async take(event: Event): Promise<void> {
    if (event.is === 'peer') return this.#change(event.name, event.value, true);
    if (event.is === 'underlay') return this.#change('underlay', event.value);
    if (event.is === 'member') return this.#toggle(`set/${event.set}`, event.name);
    if (event.is === 'replan') return void this.planner.replan(event.limit);
    if (event.is === 'crash') return this.#restart();
    this.kernel.fates = [...event.fates];
    if (event.is === 'apply') return this.apply(event.retries);
    const beside = event.is === 'beside' ? this.apply(false) : undefined;
    this.#note();
    const changes = this.planner.planNow(event.name);
    await Promise.all([beside, this.kernel.apply(this.planner, changes).catch(() => undefined)]);
    this.#isSettled = false;
  }

  async apply(retries: boolean): Promise<void> {
    this.#note();
    this.planner.replan();
    if (retries) this.planner.retry();
    try {
      const { failed } = await this.kernel.apply(this.planner);
      this.#isSettled = retries && failed.size === 0;
    } catch {
      this.#isSettled = false;
    }
  }

  #change(name: string, value: unknown, isScope = false): void {
    this.facts.set(name, value);
    this.planner.noteChanged([name as FactName]);
    if (isScope) this.planner.markScope(name);
    this.#isSettled = false;
  }

  #toggle(fact: string, name: string): void {
    const set = this.facts.get(fact) as Set<string>;
    if (!set.delete(name)) set.add(name);
    this.planner.noteMembers(fact as FactName, [name]);
    this.#isSettled = false;
  }

  /** Written before anything is applied. */
  #note(): void {
    const lines = [...this.facts].map(([name, value]) => ({ name, value: toJson(value) }));
    this.#journal.note(
      lines.map((line) => [line.name, line.value === undefined ? undefined : line] as const),
    );
  }

  /** The store is away at first: plans are made from the journal. Then it is back, and with it the facts of now. */
  #restart(): void {
    this.#journal = this.#openJournal();
    const now = new Map(this.facts);
    const found = this.#journal.found;
    this.facts.clear();
    for (const [name, { value }] of found)
      this.facts.set(name, name.startsWith('set/') ? new Set(value as string[]) : value);
    this.planner = createPlanner(this.facts);
    this.planner.adopt(peersOf(this.facts));
    const adopted = sorted(this.planner.planned());
    if (this.#isSettled && found.size > 0) expect(sorted(this.kernel.present)).toEqual(adopted);
    // The first reconcile: it makes what is missing and removes what no owner has.
    this.kernel.present.clear();
    for (const [key, resource] of adopted) this.kernel.present.set(key, resource);
    this.facts.clear();
    for (const [name, value] of now) this.facts.set(name, value);
    for (const name of new Set([...found.keys(), ...now.keys()])) {
      this.planner.noteChanged([name as FactName]);
      if (name.startsWith('peer/')) this.planner.markScope(name);
    }
    this.#isSettled = false;
  }

  #openJournal(): Journal<Line> {
    return openJournal<Line>({
      file: this.#file,
      parse(line) {
        const { gone, name, value } = line as Partial<Line> & { gone?: string };
        return gone === undefined ? { name: name!, value: { name: name!, value } } : { name: gone };
      },
      failure: 'not written',
      log: silentLog,
    });
  }
}

class MemoryFile implements JournalFile {
  #text: string | undefined;
  read = () => this.#text;
  write = (text: string) => void (this.#text = text);
  append = (text: string) => void (this.#text = `${this.#text ?? ''}${text}`);
}

const toJson = (value: unknown) => (value instanceof Set ? [...(value as Set<string>)].sort() : value);

/** Resolves to the conflict's message for a scope that has lost one. */
async function findProblem(planner: Planner<Resource>, scope: string): Promise<string | undefined> {
  const signal = AbortSignal.abort(new Error('not in force'));
  try {
    return planner.isInForce([scope]) ? undefined : await planner.inForce([scope], { signal }).then(() => '');
  } catch (error) {
    return (error as Error).message;
  }
}

/** Without a planner: at each key the first by priority and name that wants it. */
function expectedState(facts: FactMap): Map<string, Resource> {
  const read = ((fact: string) => {
    const [kind, id] = fact.split('/');
    const derive = derivations[kind as 'medium'];
    return derive === undefined ? facts.get(fact) : derive(id ?? '', read);
  }) as Read;
  const lists = peersOf(facts)
    .sort()
    .flatMap((scope) => planPeer(scope, read) ?? [])
    .sort((one, other) => (other.priority ?? 0) - (one.priority ?? 0))
    .flatMap(({ resources = [], collections = [] }) => [
      ...resources,
      ...collections.flatMap((each) => {
        const members = facts.get(each.of) as Set<string>;
        return [...members].flatMap((name) => each.resources(name, members));
      }),
    ]);
  return new Map(lists.reverse().map((resource) => [keyOf(resource), resource]));
}

describe('after any sequence of changes', () => {
  test('plan and kernel are those made from nothing, through failures, crashes and calls side by side', async () => {
    const property = fc.asyncProperty(fc.array(event, { maxLength: 30, size: 'max' }), async (events) => {
      const agent = new ModelAgent();
      for (const each of events) await agent.take(each);
      agent.planner.replan();
      const fromNothing = planFromNothing(agent.facts);
      const expected = sorted(expectedState(agent.facts));
      expect(sorted(agent.planner.planned())).toEqual(expected);
      expect(sorted(fromNothing.planned())).toEqual(expected);
      expect(agent.planner.conflicts()).toEqual(fromNothing.conflicts());
      expect([...agent.planner.scopes].sort()).toEqual([...fromNothing.scopes].sort());
      agent.kernel.fates = [];
      await agent.apply(true);
      expect(sorted(agent.kernel.present)).toEqual(expected);
      expect(agent.planner.difference()).toEqual([]);
      const conflicts = agent.planner.conflicts();
      for (const scope of names) {
        const messages = conflicts
          .filter(({ losers }) => losers.includes(scope))
          .map(({ message }) => message);
        const problem = await findProblem(agent.planner, scope);
        if (messages.length === 0) expect(problem).toBeUndefined();
        else expect(messages).toContain(problem);
      }
    });
    await fc.assert(property, { numRuns: 300 });
  });
});
