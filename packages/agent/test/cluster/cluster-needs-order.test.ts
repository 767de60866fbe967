/** Random requests for a few pods, whose ADDs ask the cluster now and then. */
import { PodwireError } from '@podwire/errors';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { call, expectNothingOf, startNode } from '../fakes/gates.js';
import type { TestAnswer } from '../fakes/harness.js';

/** Requests of runtimes, each so many turns of the event loop after the one before. */
interface Step {
  readonly command: 'ADD' | 'DEL' | 'GC' | 'RECONCILE';
  readonly pod: number;
  readonly turns: number;
}

const podCount = 3;
const anyStep: fc.Arbitrary<Step> = fc.record({
  command: fc.constantFrom('ADD', 'ADD', 'ADD', 'DEL', 'DEL', 'GC', 'RECONCILE'),
  pod: fc.nat({ max: podCount - 1 }),
  turns: fc.nat({ max: 3 }),
});
const letPass = async (turns: number): Promise<void> => {
  for (let left = turns; left > 0; left--) await new Promise((resolve) => setImmediate(resolve));
};

test('whatever comes in which order: behind a DEL or GC nothing of earlier ADDs is left, and later ones are served', async () => {
  const steps = fc.array(anyStep, { minLength: 1, maxLength: 12 });
  const questions = fc.array(fc.nat({ max: 8 }), { maxLength: 9 });
  // Together no more than one ADD may ask.
  const misses = fc.array(fc.boolean(), { maxLength: 9 });
  /** Turns until the answer to each question, and whether memory has nothing when it is looked into. */
  let answers: number[] = [];
  let isMissing: boolean[] = [];
  const provide = async (_: unknown, signal: AbortSignal): Promise<void> => {
    await letPass(answers.shift() ?? 0);
    signal.throwIfAborted();
  };
  // The clock stands still: nothing would ever have cooled down.
  const node = await startNode({}, { provide }, { yaml });
  const { ipam } = node.context.networks[0]!;
  const allocate = ipam.allocate.bind(ipam);
  ipam.allocate = (request) => {
    if (isMissing.shift() === true) throw new PodwireError('POOL_EXHAUSTED', 'nothing here');
    return allocate(request);
  };
  const inOrder = async (drawn: readonly Step[], pods: readonly string[]): Promise<void> => {
    const added = new Map<string, Promise<TestAnswer>[]>(pods.map((id) => [id, []]));
    const all: Promise<unknown>[] = [];
    for (const { command, pod, turns } of drawn) {
      const id = pods[pod]!;
      if (command === 'RECONCILE') all.push(node.reconciler.run());
      else if (command === 'GC') all.push(node.call('GC', { config: { 'cni.dev/valid-attachments': [] } }));
      else all.push(call(node, command, id));
      if (command === 'ADD') added.get(id)!.push(all.at(-1) as Promise<TestAnswer>);
      if (command === 'DEL') added.set(id, []);
      if (command === 'GC') for (const each of pods) added.set(each, []);
      await letPass(turns);
    }
    await Promise.all(all);
    for (const [id, later] of added) {
      if (later.length === 0) expectNothingOf(node, id);
      for (const { ok, body } of await Promise.all(later)) expect(ok, body).toBe(true);
    }
  };
  let run = 0;
  await fc.assert(
    fc.asyncProperty(steps, questions, misses, async (drawn, turns, missing) => {
      answers = [...turns];
      isMissing = [...missing];
      run++;
      // Other pods each time: what a run that failed has left is nothing to the next.
      const pods = Array.from({ length: podCount }, (_, index) => `run${run}-${index}`);
      await inOrder(drawn, pods);
      await Promise.all(pods.map((id) => call(node, 'DEL', id)));
      for (const id of pods) expectNothingOf(node, id);
    }),
    { numRuns: 300 },
  );
}, 60_000);

const yaml = `nodeName: n1
coolDown: 0s
networks: [{ name: default }]
cluster:
  store: { kind: embedded }
`;
