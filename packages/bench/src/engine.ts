/**
 * The cost of the engine with thousands of small resources, on a kernel in memory: what the kernel itself takes is not in
 * it. `cluster/peers.js` is the same with a real one.
 *
 * Usage: node packages/bench/dist/src/engine.js [ROUNDS]
 */
import { performance } from 'node:perf_hooks';
import { createLinuxBackends } from '@podwire/backend-linux';
import { createFakeSystem, nodeResources, portElement } from '@podwire/backend-linux/fake';
import { createEngine, type Engine, type Owned, type Resource } from '@podwire/engine';
import { summarize } from './statistics.js';
import { formatNumber, formatTable } from './table.js';

const rounds = Number(process.argv[2] ?? 20);
const COUNT = 5_000;
const call = () => ({ signal: new AbortController().signal });

const elements = (port?: number): readonly Resource[] =>
  Array.from({ length: COUNT }, (_, n) => portElement(n, port));

const base: Owned = { owner: 'node', resources: nodeResources };
const many: Owned = { owner: 'many', resources: elements() };
const others = elements(80);
const half: Owned = { ...many, resources: many.resources.slice(COUNT / 2) };

type Work = (engine: Engine) => Promise<unknown>;

/** Each round begins with a new kernel. */
async function measure(what: string, work: Work, prepare?: Work): Promise<string[]> {
  const samples: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const engine = createEngine({ backends: createLinuxBackends(createFakeSystem()) });
    await engine.apply(base, call());
    await prepare?.(engine);
    const begin = performance.now();
    await work(engine);
    samples.push(performance.now() - begin);
    await engine.close();
  }
  const { median, p99 } = summarize(samples);
  return [what, formatNumber(median), formatNumber(p99)];
}

const apply: Work = async (engine) => engine.apply(many, call());
const replaceAll: Work = async (engine) =>
  engine.change(many, { remove: many.resources, add: others }, call());

const rows = [
  await measure(`${COUNT} elements come`, apply),
  await measure('all of them are looked at', async (engine) => engine.verify(many, call()), apply),
  await measure(
    'a reconcile finds all in place',
    async (engine) => engine.reconcile([base, many], call()),
    apply,
  ),
  await measure('a reconcile makes all', async (engine) => engine.reconcile([base, many], call())),
  await measure('a reconcile prunes half', async (engine) => engine.reconcile([base, half], call()), apply),
  await measure('the content of all changes', replaceAll, apply),
  await measure('all of them go', async (engine) => engine.remove(many, call()), apply),
];
process.stdout.write(`${formatTable([['milliseconds', 'p50', 'p99'], ...rows]).join('\n')}\n`);
