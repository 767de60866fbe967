/** The benchmark by itself: `node packages/bench/dist/src/main.js --help`. `podwire bench` is the same with more comfort. */
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { defaultAgentEntry } from '@podwire/testkit';
import { formatReport } from './report.js';
import { type BenchOptions, type BenchProgress, defaultOptions, runBench } from './run-bench.js';

const repository = path.resolve(import.meta.dirname, '../../../..');

const usage = `usage: main.js [options]
  --pods N          pods of each plugin (${defaultOptions.pods})
  --workers N       calls at once in the second part (${defaultOptions.workers})
  --rounds N        repetitions (${defaultOptions.rounds})
  --endpoints N     endpoints for the figures of the agent (${defaultOptions.endpoints}; 0: none)
  --idle SECONDS    how long the idle agent is watched (${defaultOptions.idleSeconds})
  --peers DIR       where the peers' plugins are (${defaultOptions.peerBinDir})
  --peers-only      without Podwire
  --output FILE     where the JSON goes (bench/results/TIME.json)
`;

const { values } = parseArgs({
  options: {
    pods: { type: 'string' },
    workers: { type: 'string' },
    rounds: { type: 'string' },
    endpoints: { type: 'string' },
    idle: { type: 'string' },
    peers: { type: 'string' },
    'peers-only': { type: 'boolean' },
    output: { type: 'string' },
    help: { type: 'boolean' },
  },
});

function readOptions(): BenchOptions {
  const podwire = {
    binDir: path.join(repository, 'bin'),
    agent: defaultAgentEntry,
  };
  return {
    pods: readCount(values.pods, defaultOptions.pods),
    workers: readCount(values.workers, defaultOptions.workers),
    rounds: readCount(values.rounds, defaultOptions.rounds),
    endpoints: readCount(values.endpoints, defaultOptions.endpoints),
    idleSeconds: readCount(values.idle, defaultOptions.idleSeconds),
    peerBinDir: values.peers ?? defaultOptions.peerBinDir,
    ...(values['peers-only'] === true ? {} : { podwire }),
  };
}

function readCount(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^\d+$/.test(text)) throw new Error(`not a number: ${text}`);
  return Number(text);
}

function showProgress({ phase, done, total }: BenchProgress): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${phase}: ${done}/${total}`);
  else if (done === 0 || done === total) process.stderr.write(`${phase}: ${done}/${total}\n`);
}

async function main(): Promise<void> {
  if (values.help === true) {
    process.stdout.write(usage);
    return;
  }
  const abort = new AbortController();
  process.once('SIGINT', () => abort.abort(new Error('interrupted')));
  const result = await runBench(readOptions(), { signal: abort.signal, progress: showProgress });
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  const name = `${result.startedAt.replaceAll(':', '')}.json`;
  const output = values.output ?? path.join(repository, 'bench/results', name);
  fs.mkdirSync(path.dirname(output), { recursive: true });
  fs.writeFileSync(output, JSON.stringify(result));
  process.stdout.write(`${formatReport(result)}\n\n${output}\n`);
}

await main();
