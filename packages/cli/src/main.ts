import { runPodwire } from './program.js';

/**
 * The `podwire` command on this process's streams and environment.
 * @param argv without interpreter and script
 * @returns the exit code
 */
export async function runMain(argv: readonly string[]): Promise<number> {
  // `podwire pods | head` closes the pipe early; that is its right.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (!isToldOfPipe(error)) process.exit();
  });
  process.stderr.on('error', isToldOfPipe);
  const { stdout, stderr, env } = process;
  return runPodwire(argv, { stdout, stderr, env, now: Date.now, color: true, exitCode: 0 });
}

/**
 * Node ignores the signal with which other programs end when nobody reads any more: work that has to put things away is told of it here.
 * @returns whether there is such work
 */
function isToldOfPipe(error: NodeJS.ErrnoException): boolean {
  if (error.code !== 'EPIPE') throw error;
  return process.emit('SIGPIPE', 'SIGPIPE');
}
