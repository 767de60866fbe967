/** The commands and their options as data, for the scripts that complete them. */
import { compact } from '@podwire/platform';
import type { Command, Option } from 'commander';

export interface OptionWords {
  /** `-o`, where there is a short one. */
  readonly short?: string;
  readonly long: string;
  readonly description: string;
  /** What may follow: nothing, one of these words, a file, or something else. */
  readonly value: 'none' | 'file' | 'any' | readonly string[];
}

export interface CommandWords {
  /** Behind the program's name: `ipam show`; empty for the program itself. */
  readonly path: string;
  readonly summary: string;
  readonly options: readonly OptionWords[];
  /** Sub-commands, or the words that may be the argument. */
  readonly words: readonly { readonly word: string; readonly summary: string }[];
  /** What else the argument may be. */
  readonly argument: 'none' | 'file' | 'pod';
}

/** All commands, the program itself first. */
export function describeWords(program: Command): CommandWords[] {
  return [program, ...allCommands(program)].map((command) => ({
    path: pathOf(command, program),
    summary: command.summary() || command.description(),
    options: [...command.options.filter(({ hidden }) => !hidden).map(describeOption), helpOption],
    words: wordsOf(command, program),
    argument: argumentOf(command),
  }));
}

const helpOption: OptionWords = {
  short: '-h',
  long: '--help',
  description: 'help for a command',
  value: 'none',
};

function allCommands(command: Command): Command[] {
  return command.commands.flatMap((each) => [each, ...allCommands(each)]);
}

function pathOf(command: Command, program: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at !== null && at !== program; at = at.parent)
    names.unshift(at.name());
  return names.join(' ');
}

function describeOption(option: Option): OptionWords {
  const { short, long = '', description, argChoices } = option;
  return { ...compact({ short }), long, description, value: valueOf(option, argChoices) };
}

function valueOf({ flags, required }: Option, choices: readonly string[] | undefined): OptionWords['value'] {
  if (!required) return 'none';
  if (choices !== undefined) return choices;
  return /<(file|directory)>/.test(flags) ? 'file' : 'any';
}

/** The tool behind `podwire cni` reads its own words. */
const wordsOfArguments: Readonly<Record<string, readonly string[]>> = {
  cni: ['add', 'del', 'check', 'gc', 'status'],
  completion: ['bash', 'zsh', 'fish'],
  explain: ['node'],
  trace: ['last'],
};

function wordsOf(command: Command, program: Command): CommandWords['words'] {
  const fixed = (wordsOfArguments[pathOf(command, program)] ?? []).map((word) => ({ word, summary: '' }));
  return [...command.commands.map((each) => ({ word: each.name(), summary: each.summary() })), ...fixed];
}

function argumentOf(command: Command): CommandWords['argument'] {
  const names = command.registeredArguments.map((argument) => argument.name());
  if (names.includes('file')) return 'file';
  return names.includes('target') ? 'pod' : 'none';
}
