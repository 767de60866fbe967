/** What commands that show something have in common: text, names, documents, once or with `-w` at each change. */
import type { Command } from 'commander';
import { optionsOf, outputOf } from '../command.js';
import { type Io, writeJson, writeLines } from '../io.js';

export interface View<T> {
  /** @throws as the API or the store does */
  readonly read: (signal: AbortSignal) => Promise<T>;
  /** What documents have of it. */
  readonly data: (value: T) => unknown;
  /** For people. */
  readonly lines: (value: T) => string[] | Promise<string[]>;
  /** For `-o name`, one a line. */
  readonly names?: (value: T) => readonly string[];
  /** What people are told beside the table, on standard error. */
  readonly notes?: (value: T) => readonly string[];
  /** Sets the exit code. */
  readonly evaluate?: (value: T) => void;
  readonly watch?: Watching<T>;
}

export interface Watching<T> {
  /** The rows of the table in its order: in a pipe those that have changed are printed again. */
  readonly rows?: (value: T) => readonly unknown[];
  /** What counts as a change, where not everything does. */
  readonly essence?: (value: T) => unknown;
  /** Calls `wake` at each change, until the signal; without it a change is seen within a second. */
  readonly follow?: (wake: () => void, signal: AbortSignal) => Promise<void>;
}

/** Also declares what `showView` reads. */
export function addWatch(command: Command): Command {
  return command.option('-w, --watch', 'again at each change, until Ctrl-C');
}

export async function showView<T>(command: Command, io: Io, view: View<T>): Promise<void> {
  const { watch } = optionsOf(command) as { watch?: boolean };
  if (watch === true) {
    const { watchView } = await import('./watch.js');
    return watchView(command, io, view);
  }
  const value = await view.read(new AbortController().signal);
  view.evaluate?.(value);
  const format = outputOf(command);
  if (format === 'json') return writeJson(io, view.data(value));
  if (format === 'name') return void view.names?.(value).forEach((name) => io.stdout.write(`${name}\n`));
  for (const note of view.notes?.(value) ?? []) io.stderr.write(`${note}\n`);
  const lines = await view.lines(value);
  if (lines.length > 0) writeLines(io, lines);
}
