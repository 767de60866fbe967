import { runPodwire } from './program.js';

/**
 * The `podwire` command on this process's streams and environment.
 * @param argv without interpreter and script
 * @returns the exit code
 */
export async function runMain(argv: readonly string[]): Promise<number> {
  // `podwire pods | head` closes the pipe early; that is its right.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  const { stdout, stderr, env } = process;
  return runPodwire(argv, { stdout, stderr, env, now: Date.now, color: true, exitCode: 0 });
}
