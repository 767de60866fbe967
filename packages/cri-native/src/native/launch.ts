/** Starts podwire-hold as the pause process of a sandbox or the shim of a container; both outlive this process. */
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { lockAlive } from './alive.js';
import { encodeInstruction, type Instruction } from './instruction.js';
import type { ProcessName } from './state-file.js';

/** podwire-hold says what it could not do. */
export class LaunchError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LaunchError';
  }
}

const ANSWER_MILLISECONDS = 30_000;

/**
 * Writes the instruction, starts the program and waits for its first answer.
 * @throws LaunchError with its words; errors of the file system
 */
export async function launch(
  program: string,
  mode: 'sandbox' | 'container',
  directory: string,
  instruction: Instruction,
  reach: (point: string) => void,
): Promise<ProcessName> {
  fs.writeFileSync(path.join(directory, 'spec'), encodeInstruction(instruction), { mode: 0o600 });
  reach('instructed');
  const alive = lockAlive(directory);
  let child: ChildProcess;
  try {
    reach('locked');
    // Detached: a session of its own, so that what is sent to our process group is not sent to it.
    const stdio = ['ignore', 'pipe', 'ignore', alive] as const;
    child = spawn(program, [mode, directory], { detached: true, cwd: '/', env: {}, stdio: [...stdio] });
  } finally {
    fs.closeSync(alive);
  }
  reach('spawned');
  child.unref();
  return parseAnswer(await readAnswer(child));
}

async function readAnswer(child: ChildProcess): Promise<string> {
  const output = child.stdout;
  let text = '';
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const late = (): void => reject(new LaunchError('no answer from podwire-hold'));
      timer = setTimeout(late, ANSWER_MILLISECONDS);
      child.once('error', reject);
      output?.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        if (text.endsWith('\n')) resolve(text);
      });
      output?.once('close', () => resolve(text));
    });
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    clearTimeout(timer);
    output?.destroy();
  }
}

function parseAnswer(text: string): ProcessName {
  const [, pid, start] = /^ok (\d+) (\d+)\n$/.exec(text) ?? [];
  if (pid !== undefined && start !== undefined) return { pid: Number(pid), start: BigInt(start) };
  throw new LaunchError(/^error (.*)/.exec(text)?.[1] ?? `an unknown answer of podwire-hold: ${text}`);
}
