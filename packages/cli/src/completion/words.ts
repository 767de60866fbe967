/** The commands and their options as data, for the scripts that complete them. */
import { compact } from '@podwire/platform';
import type { Command, Option } from 'commander';
import { centralDaemons, nodeDaemons } from '../testbed/daemon-names.js';
import type { NameKind } from './complete.js';

export interface OptionWords {
  /** `-o`, where there is a short one. */
  readonly short?: string;
  readonly long: string;
  readonly description: string;
  /** Value after the option: nothing, one of these words, a file, a name that is asked for, or something else. */
  readonly value: 'none' | 'file' | 'any' | readonly string[] | { readonly names: NameKind };
}

export interface CommandWords {
  /** Behind the program's name: `ipam show`; empty for the program itself. */
  readonly path: string;
  readonly summary: string;
  readonly options: readonly OptionWords[];
  /** Sub-commands, or the words that may be the argument. */
  readonly words: readonly { readonly word: string; readonly summary: string }[];
  /** Further kinds of the argument. A target is what `explain` takes. */
  readonly argument: readonly ('file' | 'target' | NameKind)[];
}

/** All commands, the program itself first. */
export function describeWords(program: Command): CommandWords[] {
  return [program, ...allCommands(program)].map((command) => ({
    path: pathOf(command, program),
    summary: command.summary() || command.description(),
    options: [...command.options.filter(({ hidden }) => !hidden).map(describeOption), helpOption],
    words: wordsOf(command, program),
    argument: argumentOf(command, program),
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

function valueOf(option: Option, choices: readonly string[] | undefined): OptionWords['value'] {
  if (!option.required) return 'none';
  if (choices !== undefined) return choices;
  const names = namesOfOptions[`${option.long} ${/<(.*)>/.exec(option.flags)?.[1]}`];
  if (names !== undefined) return { names };
  return /<(file|directory|dir)>/.test(option.flags) ? 'file' : 'any';
}

/** By the option with its value, as in the help. */
const namesOfOptions: Readonly<Record<string, NameKind>> = {
  '--container name': 'containers',
  '--testbed name': 'testbeds',
  '--pool list': 'pools',
  '--node name': 'nodes',
};

/** Commands that read their own words, as the tool behind `podwire cni` does. */
const wordsOfArguments: Readonly<Record<string, readonly string[]>> = {
  cni: ['add', 'del', 'check', 'gc', 'status'],
  completion: ['bash', 'zsh', 'fish'],
  explain: ['node'],
  trace: ['last'],
  'testbed restart': [...nodeDaemons, ...centralDaemons],
};

function wordsOf(command: Command, program: Command): CommandWords['words'] {
  const fixed = (wordsOfArguments[pathOf(command, program)] ?? []).map((word) => ({ word, summary: '' }));
  return [...command.commands.map((each) => ({ word: each.name(), summary: each.summary() })), ...fixed];
}

const argumentKinds: Readonly<Record<string, CommandWords['argument']>> = {
  file: ['file'],
  target: ['target'],
  pod: ['pods'],
  pods: ['pods'],
  pool: ['pools'],
  from: ['pools'],
  to: ['pools'],
  node: ['nodes'],
};

/** Where the name of the argument does not say it. */
const argumentOfCommands: Readonly<Record<string, CommandWords['argument']>> = {
  up: ['file'],
  cp: ['file'],
  down: ['pods', 'file'],
  'pool create': [],
  'testbed restart': ['nodes'],
};

function argumentOf(command: Command, program: Command): CommandWords['argument'] {
  const own = argumentOfCommands[pathOf(command, program)];
  if (own !== undefined) return own;
  const names = command.registeredArguments.map((argument) => argument.name());
  return [...new Set(names.flatMap((name) => argumentKinds[name] ?? []))];
}
