/** Common parts of all sub-commands. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Io } from './io.js';
import { isDocument } from './output/document.js';

/**
 * A module of `commands/`: declares its arguments, options and help on the command it is given. What is heavy is imported
 * in the action, so that help is there at once.
 */
export interface CommandModule {
  /** `createWholeProgram`: the program with all commands, for completion. */
  define(command: Command, io: Io, createWholeProgram: () => Promise<Command>): void;
}

const group = 'Common options:';

/** `-o, --output`: what to print; `text` when absent. What can be JSON can be any format for programs. */
export function addOutput(command: Command, formats: readonly string[] = ['text', 'json']): Command {
  const all = formats.flatMap((format) =>
    format === 'json' ? ['json', 'yaml', 'jsonpath=', 'jsonpath-file='] : [format],
  );
  const option = new Option('-o, --output <format>', 'what to print')
    .choices(all)
    .argParser((text) => readFormat(text, all))
    .helpGroup(group);
  return command.addOption(option);
}

function readFormat(text: string, formats: readonly string[]): string {
  if (formats.some((format) => isFormat(text, format))) return text;
  const choices = formats.map((format) => (format.endsWith('=') ? `${format}…` : format));
  throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
}

const isFormat = (text: string, format: string): boolean =>
  format.endsWith('=') ? text.startsWith(format) && text.length > format.length : text === format;

/** Value of `-o` for the executed command: it may have been given before the name of one that lacks that format. */
export function requireFormat(command: Command): string {
  const format = (optionsOf(command)['output'] as string | undefined) ?? 'text';
  const formats = command.options.find(({ long }) => long === '--output')?.argChoices ?? [];
  if (format === 'text' || formats.length === 0 || formats.some((each) => isFormat(format, each)))
    return format;
  return command.error(`error: this command has no output format ${format}`, { exitCode: 2 });
}

export function addSocket(command: Command): Command {
  return command.addOption(new Option('--socket <file>', "the agent's API socket").helpGroup(group));
}

/** How to find the agent. */
export function addAgent(command: Command): Command {
  return addSocket(command).addOption(
    new Option('--config <file>', "the agent's configuration, which names it").helpGroup(group),
  );
}

/** For every command. */
export function addEverywhere(command: Command): Command {
  return command
    .addOption(new Option('--no-color', 'plain text, also on a terminal').helpGroup(group))
    .addOption(new Option('--debug', 'show where an error came from').helpGroup(group));
}

/** Lines below the help, each a command with what it does. */
export function addExamples(command: Command, examples: readonly (readonly [string, string])[]): Command {
  const width = Math.max(...examples.map(([line]) => line.length));
  const lines = examples.map(([line, what]) =>
    what === '' ? `  ${line}` : `  ${line.padEnd(width)}  # ${what}`,
  );
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

/**
 * The options of a command together with those given before its name (`podwire --socket S pods`). What stands behind the
 * command counts more; defaults count least.
 */
export function optionsOf(command: Command): Record<string, unknown> {
  const chain: Command[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) chain.unshift(at);
  const given = chain.flatMap((each) =>
    Object.entries(each.opts<Record<string, unknown>>()).filter(
      ([key]) => each.getOptionValueSource(key) !== 'default',
    ),
  );
  return { ...command.opts<Record<string, unknown>>(), ...Object.fromEntries(given) };
}

/** `text`, `json`, or what else the command offers; every format for programs is `json`, and `writeJson` prints it. */
export function outputOf(command: Command): string {
  const format = (optionsOf(command)['output'] as string | undefined) ?? 'text';
  return isDocument(format) ? 'json' : format;
}

/** Seconds of a timeout, at most a day. */
export function readSeconds(text: string): number {
  const seconds = Number(text);
  if (seconds > 0 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds, up to a day.');
}

/** Of TCP or UDP. */
export function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError('Ports are numbers from 1 to 65535.');
}
