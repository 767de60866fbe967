/** The behaviour of processes in the fake's containers. */
import type { ContainerConfig } from '../messages.js';

export interface FakeProgram {
  /** It ends by itself so many milliseconds after its start; absent: it runs until it is stopped. */
  readonly endsAfterMs?: number;
  /** Of the end by itself; 0 by default. */
  readonly exitCode?: number;
  /** After SIGTERM; 143 by default. */
  readonly termExitCode?: number;
  /** Only SIGKILL ends it. */
  readonly ignoresTerm?: boolean;
}

export interface FakeExecResult {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly exitCode?: number;
}

/** By default `exit N` ends at once, `ignore-term` only by force, and everything else runs until it is stopped. */
export function readProgram({ command, args }: ContainerConfig): FakeProgram {
  const [name, argument] = [...command, ...args];
  if (name === 'exit') return { endsAfterMs: 0, exitCode: Number(argument ?? 0) };
  return name === 'ignore-term' ? { ignoresTerm: true } : {};
}
