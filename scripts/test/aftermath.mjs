/** Two tests of their own: nothing was left behind, and the machine's own network is as it was. */
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  compareNetwork,
  describeProcess,
  findProcesses,
  leftNamespaces,
  takeMachineState,
} from './machine.mjs';
import { showResult } from './show.mjs';

const PATIENCE_MILLISECONDS = 3000;

/** Asks again until the list is empty or patience is over: what was just killed takes a moment to be gone. */
async function untilEmpty(list) {
  const deadline = Date.now() + PATIENCE_MILLISECONDS;
  for (;;) {
    const found = list();
    if (found.length === 0 || Date.now() > deadline) return found;
    await sleep(100);
  }
}

const toResult = (name, faults, since) => {
  const counts = { passed: faults.length === 0 ? 1 : 0, failed: faults.length === 0 ? 0 : 1, skipped: 0 };
  const seconds = (performance.now() - since) / 1000;
  const result = { phase: 'machine', name, ...counts, seconds, output: faults.join('\n') };
  showResult(result);
  return result;
};

export async function checkAftermath(before, { mark, temporary }) {
  const since = performance.now();
  const processes = await untilEmpty(() => findProcesses(mark));
  const namespaces = await untilEmpty(() => leftNamespaces(before));
  const left = [
    ...processes.map(describeProcess),
    ...namespaces.map((name) => `network namespace ${name}`),
    ...fs.readdirSync(temporary).map((name) => `temporary file ${name}`),
  ];
  // They carry the mark of this run, so they are ours to end.
  for (const pid of processes) process.kill(Number(pid), 'SIGKILL');
  const network = await untilEmpty(() => compareNetwork(before, takeMachineState()));
  return [
    toResult('no process, namespace or file was left behind', left, since),
    toResult('the machine’s own network is unchanged', network, since),
  ];
}
