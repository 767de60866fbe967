import { compact } from '@podwire/platform';
import { createAsk } from './confirm.js';
import { breakOutput } from './interrupt.js';
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
  const { stdin, stdout, stderr, env } = process;
  const ask = createAsk(stdin, stderr);
  const io = {
    stdout,
    stderr,
    env,
    now: Date.now,
    color: true,
    exitCode: 0,
    ...compact({ ask }),
    loop: process,
  };
  return runPodwire(argv, io);
}

/**
 * Other programs end of a signal then, which Node ignores.
 * @returns whether there is work that ends of it, after it has put things away
 */
function isToldOfPipe(error: NodeJS.ErrnoException): boolean {
  if (error.code !== 'EPIPE') throw error;
  return breakOutput();
}
