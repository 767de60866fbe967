/** One page of the manual, from what a command declares. */
import type { EventEmitter } from 'node:events';
import type { Command } from 'commander';
import { bold, definition, heading, paragraph, prose, subheading, syntax, verbatim } from './roff.js';

export interface Page {
  /** `podwire-ps.1` */
  readonly name: string;
  readonly text: string;
}

/** Text below the help of a command. */
interface Afterword {
  readonly examples: readonly string[];
  readonly exitStatus: readonly string[];
  readonly notes: readonly string[];
}

/** Commander has no way to read what `addHelpText` was given, but it asks for it by an event. */
function readAfterword(command: Command): Afterword {
  let text = '';
  (command as unknown as EventEmitter).emit('afterHelp', {
    error: false,
    command,
    write: (piece: string) => (text += piece),
  });
  const paragraphs = text.trim().split(/\n\s*\n|\n(?=Exit code)/);
  const begins = (word: string) => paragraphs.filter((each) => each.startsWith(word));
  const [examples, exitStatus] = [begins('Examples:'), begins('Exit code')];
  return {
    examples: examples.flatMap((each) => each.split('\n').slice(1)),
    exitStatus,
    notes: paragraphs.filter((each) => each !== '' && !examples.includes(each) && !exitStatus.includes(each)),
  };
}

/** `podwire ps web  # words` becomes the words, and the command below them. */
function renderExample(line: string): readonly string[] {
  const [, typed = '', words = ''] = /^\s*(.*?)(?:\s{2,}# (.*))?$/.exec(line) ?? [];
  return [...(words === '' ? [] : paragraph(`${words}:`)), ...verbatim([typed])];
}

const nameOf = (command: Command): string =>
  command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;

function renderOptions(command: Command): readonly string[] {
  const help = command.createHelp();
  const list = help
    .visibleOptions(command)
    .map((option) => definition(syntax(option.flags), help.optionDescription(option)));
  const given = help
    .visibleArguments(command)
    .map((argument) => definition(syntax(help.argumentTerm(argument)), help.argumentDescription(argument)));
  return [...given, ...list].flat();
}

/** `Exit codes:` and a line for each, or paragraphs. */
function renderNote(note: string): readonly string[] {
  const [first = '', ...more] = note.split('\n');
  const listed = more.map((line) => /^\s+(\S+)\s{2,}(.*)$/.exec(line));
  if (more.length === 0 || listed.includes(null)) return paragraph(note.replaceAll(/\s*\n\s*/g, ' '));
  const entries = listed.flatMap((match) => definition(bold(match?.[1] ?? ''), match?.[2] ?? ''));
  return first === 'Exit codes:' ? entries : [...paragraph(first), ...entries];
}

function renderBody(command: Command, chapter: (title: string) => readonly string[]): readonly string[] {
  const { examples, exitStatus, notes } = readAfterword(command);
  const parts = [
    ['Notes', notes.flatMap(renderNote)],
    ['Exit status', exitStatus.flatMap(renderNote)],
    ['Examples', examples.flatMap(renderExample)],
  ] as const;
  const present = parts.filter(([, lines]) => lines.length > 0);
  return [...renderOptions(command), ...present.flatMap(([title, lines]) => [...chapter(title), ...lines])];
}

/** `podwire ipam show`, with all of its own, as a section of the page of `podwire ipam`. */
function renderSubcommand(command: Command): readonly string[] {
  const usage = command.createHelp().commandUsage(command);
  const inner = command.commands.flatMap(renderSubcommand);
  const bare = (title: string): readonly string[] => ['.PP', `${title}:`];
  return [
    ...subheading(nameOf(command)),
    ...['.PP', syntax(usage)],
    ...paragraph(command.description()),
    ...renderBody(command, bare),
    ...inner,
  ];
}

export function renderPage(command: Command, version: string, more: readonly string[]): Page {
  const title = nameOf(command).replaceAll(' ', '-');
  const summary = command.parent === null ? 'run pods and give them their network' : command.summary();
  const lines = [
    String.raw`.\" Generated from the declarations of the commands.`,
    `.TH ${title.toUpperCase()} 1 "" "podwire ${version}" "Podwire"`,
    // Neither hyphens nor blanks are put into lines: what is typed is copied from here.
    ...['.nh', '.ad l'],
    ...heading('Name'),
    `${bold(title)} \\- ${prose(summary)}`,
    ...heading('Synopsis'),
    syntax(command.createHelp().commandUsage(command)),
    ...heading('Description'),
    prose(command.description()),
    ...heading('Options'),
    ...renderBody(command, heading),
    ...(command.commands.length > 0 && command.parent !== null
      ? [...heading('Commands'), ...command.commands.flatMap(renderSubcommand)]
      : []),
    ...more,
  ];
  return { name: `${title}.1`, text: `${lines.join('\n')}\n` };
}
