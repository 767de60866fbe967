/** Shows a view once, or with `-w` at each change. */
import type { Command } from 'commander';
import { optionsOf, outputOf } from '../command.js';
import { type Io, writeJson, writeLines } from '../io.js';
import type { View } from './view.js';

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
