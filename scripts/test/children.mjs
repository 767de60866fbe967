/** The processes that the runner starts: each the leader of a group that is ended as a whole. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';

const running = new Set();
/** Their output goes through pipes, which they take for a reason not to colour it. */
const COLOR = process.stdout.isTTY ? { FORCE_COLOR: '1' } : { NO_COLOR: '1' };

const endGroup = (child, signal) => {
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
};

/** Ends what still runs; for the runner's own end by a signal. */
export const endAllGroups = () => running.forEach((child) => endGroup(child, 'SIGKILL'));

/** Of a process that takes only the time that no other wants (nice(1)). */
export const lowestPriority = os.constants.priority.PRIORITY_LOW;

/**
 * Runs Node with `parameters` to its end. Returns the exit code (null after a signal), everything it wrote, the seconds it took and
 * whether it exceeded `seconds`. With `onOutput`, the output is handed on as it comes.
 */
export async function runNode(parameters, { cwd, env, seconds, priority, onOutput = () => {} }) {
  const since = performance.now();
  const child = spawn(process.execPath, parameters, {
    cwd,
    env: { ...process.env, ...COLOR, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  running.add(child);
  if (priority !== undefined) os.setPriority(child.pid, priority);
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      chunks.push(chunk);
      onOutput(chunk);
    });
  }
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    endGroup(child, 'SIGKILL');
  }, seconds * 1000);
  // 'exit', not 'close': a process that was left behind may hold the pipes open for ever. It is reported later.
  const [code] = await once(child, 'exit');
  clearTimeout(timer);
  running.delete(child);
  await Promise.race([once(child, 'close'), new Promise((resolve) => setTimeout(resolve, 500))]);
  for (const stream of [child.stdout, child.stderr]) stream.destroy();
  const output = Buffer.concat(chunks).toString();
  return { code, output, timedOut, seconds: (performance.now() - since) / 1000 };
}

/** Does `work` for each item, at most `width` at a time, in the order of the items; the results in the same order. */
export async function forEachBounded(items, width, work) {
  const results = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index]);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
  return results;
}
