import type { Command } from 'commander';
import { addExamples, addOutput, optionsOf, outputOf, readSeconds } from '../command.js';
import { withInterrupt } from '../interrupt.js';
import { type Colors, colorsFor, exitCodes, type Io, writeJson, writeLines } from '../io.js';
import { addDirectory, locateDirectory, placesIn } from '../pods/locate.js';
import { type TakenDown, tearDownPods } from '../pods/teardown.js';
import { startProgress } from '../render/progress.js';
import { describeNode } from '../render/node-changes.js';
import { sortPlaces } from './up.js';

export function define(command: Command, io: Io): void {
  command
    .description(
      'Removes the pods of manifests that `podwire up` was given; without any, all pods. With the last pod, the agents that `podwire up` started are stopped too, and the node is what it was before.',
    )
    .argument('[what...]', 'the same files, directories or URLs as for `podwire up`')
    .option('--timeout <seconds>', 'how long to wait for pods to end', readSeconds, 60)
    .action((what: string[]) => run(command, io, what));
  addDirectory(addOutput(command));
  addExamples(command, [
    ['podwire down examples/web.yaml', ''],
    ['podwire down', 'everything'],
  ]).addHelpText(
    'after',
    '\nExit code 4: a pod had not ended in time. Exit code 1: something of the node could not be put back; call it again.',
  );
}

async function run(command: Command, io: Io, what: readonly string[]): Promise<void> {
  const { timeout } = optionsOf(command) as { timeout: number };
  const places = placesIn(locateDirectory(command, io));
  const progress = startProgress(io);
  const sources = what.length === 0 ? undefined : sortPlaces(what);
  const outcome = await withInterrupt((signal) =>
    tearDownPods({ places, io, progress, signal, milliseconds: timeout * 1000 }, sources),
  );
  if (outcome.remaining.length > 0) io.exitCode = exitCodes.notAsItShould;
  const unrestored = outcome.node.filter(({ action, again }) => action === 'failed' || again === true);
  if (unrestored.length > 0) io.exitCode = exitCodes.failed;
  if (outputOf(command) === 'json') return writeJson(io, outcome);
  const paint = colorsFor(io, io.stdout);
  if (outcome.remaining.length > 0)
    return writeLines(io, [paint.red(`still there: ${outcome.remaining.join(' ')}`)]);
  const left = outcome.node.filter(({ action }) => action === 'failed' || action === 'kept');
  return writeLines(io, [describeEnd(outcome, unrestored.length > 0, paint), ...describeNode(left, paint)]);
}

function describeEnd({ removed, ended, node }: TakenDown, isUnrestored: boolean, paint: Colors): string {
  if (isUnrestored)
    return paint.yellow('no pod and no agent is left, but the node is not what it was before:');
  if (removed.length + ended.length + node.length === 0) return 'there was nothing to take down';
  return paint.green('all gone');
}
