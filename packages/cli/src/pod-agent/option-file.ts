/** The options of `podwire podlet` in a YAML file: each key is the name of an option, in camel case. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { describeError, PodwireError } from '@podwire/errors';
import { suggestWord } from '@podwire/platform';
import type { Command, Option } from 'commander';
import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Scalar } from 'yaml';

export type OptionValues = Readonly<Record<string, string | readonly string[]>>;

export interface OptionFile {
  readonly file: string;
  /** SHA-256 of the text, in hexadecimal. */
  readonly hash: string;
  readonly values: OptionValues;
}

/** Given on the command line alone: they say which pod agent this is, or how to print. */
const notInFiles: readonly string[] = ['config', 'directory', 'debug', 'color', 'help'];

/**
 * @param command has the options that the file may have
 * @throws PodwireError CONFIG_INVALID with every problem, one a line, each with line and column
 */
export function readOptionFile(file: string, command: Command): OptionFile {
  const text = readText(file);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const problems: string[] = [];
  const complain = (offset: number, message: string): void => {
    const { line, col } = lines.linePos(offset);
    problems.push(`${file}:${line}:${col}: ${message}`);
  };
  for (const { message, pos } of document.errors) complain(pos[0], message);
  const values = problems.length > 0 ? {} : readValues(document.contents, command, complain);
  if (problems.length > 0)
    throw new PodwireError('CONFIG_INVALID', problems.join('\n'), { details: { file } });
  return { file, hash: createHash('sha256').update(text).digest('hex'), values };
}

function readText(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (cause) {
    throw new PodwireError('CONFIG_INVALID', `${file}: cannot be read`, { cause, details: { file } });
  }
}

type Complain = (offset: number, message: string) => void;

function readValues(contents: unknown, command: Command, complain: Complain): OptionValues {
  if (contents === null || (isScalar(contents) && contents.value === null)) return {};
  if (!isMap(contents)) {
    complain(0, 'must be a list of KEY: VALUE');
    return {};
  }
  const options = optionsInFiles(command);
  const values: Record<string, string | readonly string[]> = {};
  for (const { key, value } of contents.items) {
    if (!isScalar(key)) continue;
    const [name, offset] = [String(key.value), key.range?.[0] ?? 0];
    const option = options.get(name);
    if (option === undefined) complain(offset, unknownKey(name, [...options.keys()]));
    else
      readValue(
        option,
        value,
        (message) => complain(offset, `${name}: ${message}`),
        (read) => (values[name] = read),
      );
  }
  return values;
}

function optionsInFiles(command: Command): ReadonlyMap<string, Option> {
  const all = command.options.map((option) => [option.attributeName(), option] as const);
  return new Map(all.filter(([name]) => !notInFiles.includes(name)));
}

function unknownKey(name: string, known: readonly string[]): string {
  const near = suggestWord(name, known);
  const hint = near === undefined ? `known are ${known.join(', ')}` : `did you mean ${near}?`;
  return `${name}: unknown key; ${hint}`;
}

function readValue(
  option: Option,
  node: unknown,
  complain: (message: string) => void,
  keep: (value: string | readonly string[]) => void,
): void {
  const items = isSeq(node) ? node.items : [node];
  if (!items.every(isWord)) return complain('must be a word, or a list of words');
  const words = items.map(({ value }) => String(value));
  const isRepeatable = Array.isArray(parseWord(option, 'x', undefined));
  if (!isRepeatable && words.length !== 1) return complain('takes one value, not a list');
  try {
    let read: unknown;
    for (const word of words) read = parseWord(option, word, read);
    keep((read ?? []) as string | readonly string[]);
  } catch (error) {
    complain(describeError(error));
  }
}

function parseWord(option: Option, word: string, before: unknown): unknown {
  if (option.argChoices !== undefined && !option.argChoices.includes(word) && word !== 'x')
    throw new Error(`must be ${option.argChoices.join(' or ')}, not ${JSON.stringify(word)}`);
  if (option.argChoices !== undefined) return word;
  return option.parseArg === undefined ? word : option.parseArg(word, before);
}

const isWord = (node: unknown): node is Scalar =>
  isScalar(node) && ['string', 'number', 'boolean'].includes(typeof node.value);
