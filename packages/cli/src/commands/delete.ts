import type { ObjectReference } from '@podwire/objects';
import type { Command } from 'commander';
import { addExamples, addOutput, addSocket, optionsOf, outputOf, readSeconds } from '../command.js';
import type { Io } from '../io.js';
import { addObjects, type Objects, withObjects } from '../objects/place.js';
import type { Outcome } from '../objects/report.js';
import { waitFor } from './apply.js';

interface DeleteOptions {
  readonly filename?: readonly string[];
  readonly namespace?: string;
  readonly ignoreNotFound?: boolean;
  readonly dryRun?: boolean;
  readonly wait?: boolean;
}

export function define(command: Command, io: Io): void {
  command
    .description('Deletes policies and other objects: those that files describe, or by kind and name.')
    .argument('[words...]', 'KIND NAME…, or KIND/NAME')
    .option('-f, --filename <file...>', 'files, directories of YAML or JSON files, - for standard input')
    .option('-n, --namespace <name>', 'the namespace of the objects (default)')
    .option('--ignore-not-found', 'an object that is not there is no error')
    .option('--dry-run', 'say what would be deleted')
    .option('--wait', 'until it is in force on every node')
    .option('--timeout <seconds>', 'how long to wait at most', readSeconds, 60)
    .action((words: string[]) => remove(command, io, words));
  addSocket(addOutput(addObjects(command)));
  addExamples(command, [
    ['podwire delete -f web.yaml', ''],
    ['podwire delete netpol web -n shop', 'pods are removed with `podwire rm`'],
    ['podwire delete netpol/shop/web --wait', ''],
  ]);
}

async function remove(command: Command, io: Io, words: readonly string[]): Promise<void> {
  const options = optionsOf(command) as DeleteOptions;
  const references = await findReferences(command, options, words);
  const { report } = await import('../objects/report.js');
  const dryRun = options.dryRun === true;
  const result = await withObjects(command, io, async (place, signal) => {
    const outcomes: Outcome[] = [];
    for (const reference of references) outcomes.push(await removeOne(place, reference, options, signal));
    const latest = Math.max(...outcomes.map(({ revision }) => revision));
    const inForce =
      options.wait === true && !dryRun
        ? await waitFor(command, io, place, { revision: latest, objects: [] }, signal)
        : undefined;
    return { outcomes, inForce };
  });
  return report(io, outputOf(command), { ...result, dryRun });
}

/** The object that was applied last goes first. */
async function findReferences(
  command: Command,
  { filename, namespace }: DeleteOptions,
  words: readonly string[],
): Promise<readonly ObjectReference[]> {
  if ((filename === undefined) === (words.length === 0))
    return command.error('error: give either -f FILE or KIND NAME', { exitCode: 2 });
  if (filename !== undefined) {
    const [{ readObjectFiles }, { referenceOf }] = await Promise.all([
      import('../objects/read-files.js'),
      import('@podwire/objects'),
    ]);
    return readObjectFiles(filename, namespace)
      .map(({ object }) => referenceOf(object))
      .toReversed();
  }
  const { readTarget, toReference } = await import('../objects/names.js');
  const { kind, names } = readTarget(words);
  if (names.length === 0) return command.error('error: give the names of the objects', { exitCode: 2 });
  return names.map((name) => toReference(kind, name, namespace));
}

async function removeOne(
  { source }: Objects,
  reference: ObjectReference,
  { dryRun = false, ignoreNotFound = false }: DeleteOptions,
  signal: AbortSignal,
): Promise<Outcome> {
  const { deleted, revision } = await source.delete(reference, { dryRun, signal });
  if (!deleted && !ignoreNotFound) {
    const { unknownObject } = await import('../objects/names.js');
    throw unknownObject(reference, source.name);
  }
  return { reference, outcome: deleted ? 'deleted' : 'absent', revision };
}
