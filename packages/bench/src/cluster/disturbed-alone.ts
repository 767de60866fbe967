/**
 * The rows "disturbed" and "undisturbed" of the cluster's part, without the rest of it.
 *
 * Usage: node packages/bench/dist/src/cluster/disturbed-alone.js [ENDPOINTS] [ADDS IN A ROUND] [ROUNDS]
 */
import path from 'node:path';
import { defaultAgentEntry } from '@podwire/testkit';
import { noteConditions } from '../machine.js';
import { measureDisturbedAdds } from './disturbed-adds.js';
import { formatDisturbed } from './report.js';
import { defaultClusterOptions } from './run-cluster.js';

const defaults = defaultClusterOptions.disturbed;
const [endpoints, addsPerRound, rounds] = [
  Number(process.argv[2] ?? defaults.endpoints),
  Number(process.argv[3] ?? defaults.addsPerRound),
  Number(process.argv[4] ?? defaults.rounds),
];
const conditions = noteConditions();
const adds = await measureDisturbedAdds({
  ...{ endpoints, addsPerRound, rounds, agent: defaultAgentEntry },
  binDir: path.dirname(defaultAgentEntry[0]!),
  signal: new AbortController().signal,
  progress: () => undefined,
});
console.log(formatDisturbed(adds, conditions()));
