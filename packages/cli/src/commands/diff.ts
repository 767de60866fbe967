import type { AnyObject, ObjectReference, ReadObject } from '@podwire/objects';
import { PodwireError } from '@podwire/errors';
import type { Command } from 'commander';
import { addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { colorsFor, exitCodes, type Io, printable, writeJson, writeLines } from '../io.js';
import { addObjects, type Objects, withObjects } from '../objects/place.js';

interface Difference {
  readonly reference: ObjectReference;
  readonly state: 'same' | 'changed' | 'new';
  readonly lines: readonly string[];
}

export function define(command: Command, io: Io): void {
  command
    .description(
      'Compares files with what is there: what `podwire apply` would create and change. Read-only.',
    )
    .requiredOption(
      '-f, --filename <file...>',
      'files, directories of YAML or JSON files, - for standard input',
    )
    .option('-n, --namespace <name>', 'of objects that name none (default)')
    .action(() => diff(command, io));
  addOutput(addObjects(command));
  addExamples(command, [
    ['podwire diff -f policies/', ''],
    ['podwire diff -f web.yaml -o json', '{"differences":[{"kind":…,"state":"changed","lines":[…]}]}'],
  ]).addHelpText('after', '\nExit code 4: something differs.');
}

async function diff(command: Command, io: Io): Promise<void> {
  const { filename, namespace } = optionsOf(command) as { filename: readonly string[]; namespace?: string };
  const { readObjectFiles } = await import('../objects/read-files.js');
  const objects = readObjectFiles(filename, namespace);
  const differences = await withObjects(command, io, (place, signal) => compareAll(place, objects, signal));
  if (differences.some(({ state }) => state !== 'same')) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') {
    const shown = differences.map(({ reference, state, lines }) => ({ ...reference, state, lines }));
    return writeJson(io, { differences: shown });
  }
  const lines = await render(io, differences);
  if (lines.length > 0) writeLines(io, lines);
}

async function compareAll(
  { source }: Objects,
  objects: readonly ReadObject[],
  signal: AbortSignal,
): Promise<readonly Difference[]> {
  const { referenceOf, withStatusOf } = await import('@podwire/objects');
  const differences: Difference[] = [];
  for (const { object } of objects) {
    const reference = referenceOf(object);
    const before = await readObject(() => source.get(reference, { signal }).then((found) => found?.object));
    differences.push(await compare(reference, before, withStatusOf(object, before)));
  }
  return differences;
}

/** An object that cannot be read counts as absent: `apply` replaces it as a whole. */
async function readObject(read: () => Promise<AnyObject | undefined>): Promise<AnyObject | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof PodwireError && error.code === 'OBJECT_INVALID') return undefined;
    throw error;
  }
}

async function compare(
  reference: ObjectReference,
  before: AnyObject | undefined,
  after: AnyObject,
): Promise<Difference> {
  const [{ diffLines }, { stringify }] = await Promise.all([
    import('../objects/diff-lines.js'),
    import('yaml'),
  ]);
  const write = (object: AnyObject): string =>
    stringify(JSON.parse(JSON.stringify(object)), {
      lineWidth: 0,
      aliasDuplicateObjects: false,
      sortMapEntries: true,
    });
  const lines = diffLines(before === undefined ? '' : write(before), write(after));
  return { reference, state: before === undefined ? 'new' : lines.length === 0 ? 'same' : 'changed', lines };
}

async function render(io: Io, differences: readonly Difference[]): Promise<string[]> {
  const { shortName } = await import('../objects/names.js');
  const paint = colorsFor(io, io.stdout);
  const color = (line: string): string =>
    line.startsWith('+') ? paint.green(line) : line.startsWith('-') ? paint.red(line) : line;
  return differences.flatMap(({ reference, state, lines }) =>
    state === 'same'
      ? []
      : [
          `${paint.bold(printable(shortName(reference)))} ${state}`,
          ...lines.map((line) => color(printable(line))),
        ],
  );
}
