import type { EventEmitter } from 'node:events';
import type { Clock } from '@podwire/platform';
import type { openStore } from '@podwire/store';
import { createColors } from 'picocolors';
import { type DocumentFormat, formatJson } from './output/document.js';

/** A stream to write to, as `process.stdout`. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  /** Width in characters, on a terminal. */
  readonly columns?: number;
  /** Height in lines, on a terminal. */
  readonly rows?: number;
}

/** Environment of a command. */
export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** False after `--no-color`. */
  color: boolean;
  /** Value of `-o`; absent: `text`. */
  format?: string;
  /** How documents are written; absent: as JSON. */
  writeDocument?: DocumentFormat;
  /** Exit code of the process; see {@link exitCodes}. */
  exitCode: number;
  /** Asks the person at the terminal; absent when there is none. */
  readonly ask?: (question: string) => Promise<string>;
  /** Emits `beforeExit` when the process has nothing left to do; absent in tests that go on. */
  readonly loop?: Pick<EventEmitter, 'once' | 'off'>;
  /** How stores of clusters are opened, and the time there; by default as the machine has it. */
  readonly cluster?: { readonly openStore: typeof openStore; readonly clock: Clock };
  /** Names of the testbeds that are up; by default those of this machine, which only root can see. */
  readonly testbeds?: readonly string[];
}

/** How a command ends. Scripts rely on these; they are also in the help and in the README. */
export const exitCodes = {
  ok: 0,
  /** It could not be done. */
  failed: 1,
  /** The command line is wrong; nothing was done. */
  usage: 2,
  /** No agent answers. */
  unreachable: 3,
  /** It was done, and something is wrong: not ready, not as planned, not reachable. */
  notAsItShould: 4,
  /** 128 + the number of the signal, as shells count. */
  SIGHUP: 129,
  SIGINT: 130,
  SIGPIPE: 141,
  SIGTERM: 143,
} as const;

export type Colors = ReturnType<typeof createColors>;

/** Colours for a stream: only on a terminal, and not when `NO_COLOR` (no-color.org) or `--no-color` forbid it. */
export function colorsFor(io: Io, stream: Output): Colors {
  const forbidden = !io.color || (io.env['NO_COLOR'] ?? '') !== '' || io.env['TERM'] === 'dumb';
  return createColors(stream.isTTY === true && !forbidden);
}

/** Text from elsewhere without control characters: a terminal must not obey the name of a pod. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\uFFFD');
}

/** Cells of a line of a table: those of the terminal. A pipe has no limit, and no limit is wanted with `-o wide`. */
export function widthOf({ stdout, format }: Pick<Io, 'stdout' | 'format'>): number {
  return stdout.isTTY === true && format !== 'wide' ? (stdout.columns ?? 80) : Infinity;
}

/** The data of a command, as one JSON document or in what format for programs `-o` asks for. */
export function writeJson(io: Io, data: unknown): void {
  const text = (io.writeDocument ?? formatJson)(data);
  // A template may end without a line break, which a prompt would follow.
  const end = io.stdout.isTTY === true && text !== '' && !text.endsWith('\n') ? '\n' : '';
  io.stdout.write(text + end);
}

export function writeLines(io: Io, lines: readonly string[]): void {
  io.stdout.write(`${lines.join('\n')}\n`);
}
