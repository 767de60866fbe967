/** Before a command harms running pods: a question on a terminal, a refusal anywhere else. */
import readline from 'node:readline';
import { PodwireError } from '@podwire/errors';
import type { Command } from 'commander';
import { outputOf } from './command.js';
import type { Io } from './io.js';

export interface Harm {
  /** Effect of the command: `the 2 pods of node n2 (default/web, default/db) may still run`. */
  readonly message: string;
  /** Names the option that says yes beforehand. */
  readonly action: string;
}

/** @throws PodwireError CONFIRMATION_MISSING: the answer was no, or there was no terminal to ask on */
export async function confirmHarm(command: Command, io: Io, { message, action }: Harm): Promise<void> {
  // The reader of a document is a program.
  const answer =
    outputOf(command) === 'text' ? await io.ask?.(`${message}\nGo on all the same? [y/N] `) : undefined;
  if (answer !== undefined && /^y(es)?$/i.test(answer.trim())) return;
  throw new PodwireError('CONFIRMATION_MISSING', answer === undefined ? message : 'nothing was changed', {
    action: answer === undefined ? action : null,
  });
}

/** So many names are enough to know what is meant. */
const mostNames = 10;

export function listNames(names: readonly string[]): string {
  const more = names.length - mostNames;
  return more > 0 ? `${names.slice(0, mostNames).join(', ')} and ${more} more` : names.join(', ');
}

/** A question on a terminal; undefined when there is none. Ctrl-C and Ctrl-D are a no. */
export function createAsk(
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
): ((question: string) => Promise<string>) | undefined {
  if (!input.isTTY || !output.isTTY) return undefined;
  return (question) =>
    new Promise((resolve) => {
      const terminal = readline.createInterface({ input, output });
      terminal.once('close', () => resolve(''));
      terminal.once('SIGINT', () => terminal.close());
      terminal.question(question, (answer) => {
        resolve(answer);
        terminal.close();
      });
    });
}
