/** The same files again and again beside a load, to find failures that come now and then. */
import { spawn } from 'node:child_process';
import { describeFailure, kindOf } from './flaky.mjs';
import { showPhase } from './show.mjs';

/**
 * @param times how often `run` is called
 * @param load busy loops beside it
 * @param run returns the results of one turn
 * @returns the results of each turn
 */
export async function repeat(times, load, run) {
  const loops = Array.from({ length: load }, () =>
    spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' }),
  );
  // Also when the runner is ended by a signal.
  const endLoops = () => loops.forEach((loop) => loop.kill('SIGKILL'));
  process.once('exit', endLoops);
  try {
    const runs = [];
    for (let turn = 1; turn <= times; turn++) {
      showPhase(`Turn ${turn} of ${times}, beside ${load} busy loops`);
      runs.push(await run());
    }
    return runs;
  } finally {
    process.off('exit', endLoops);
    endLoops();
  }
}

/** For each file how often it failed, and the first failure of each kind. */
export function ratesOf(runs) {
  return [...groupByName(runs.flat())].map(([name, results]) => {
    const failed = results.filter(({ failed }) => failed > 0);
    const kinds = new Map(failed.toReversed().map((result) => [kindOf(result), describeFailure(result)]));
    return { name, turns: results.length, failed: failed.length, firsts: [...kinds.values()].toReversed() };
  });
}

function groupByName(results) {
  const groups = new Map();
  for (const result of results) groups.set(result.name, [...(groups.get(result.name) ?? []), result]);
  return groups;
}

export function showRates(runs) {
  console.log('\nFailed turns:');
  for (const { name, turns, failed, firsts } of ratesOf(runs)) {
    console.log(`  ${failed} of ${turns}  ${name}`);
    for (const first of firsts) console.log(`    ${first}`);
  }
}
