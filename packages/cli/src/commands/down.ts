import { PodwireError } from '@podwire/errors';
import type { Command } from 'commander';
import { addExamples, addOutput, optionsOf, outputOf, readSeconds } from '../command.js';
import { withInterrupt } from '../interrupt.js';
import { type Colors, colorsFor, exitCodes, type Io, printable, writeJson, writeLines } from '../io.js';
import { addDirectory, locateDirectory, openPodApi, type Places, placesIn } from '../pods/locate.js';
import { type Meant, sortWords } from '../pods/sort-words.js';
import { type TakenDown, tearDownPods } from '../pods/teardown.js';
import { startProgress } from '../render/progress.js';
import { describeNode } from '../render/node-changes.js';
import { sortPlaces } from './up.js';

export function define(command: Command, io: Io): void {
  command
    .description(
      'Removes the pods of manifests that `podwire up` was given, or single pods by name; without any, all pods. A manifest that has other pods stays, and is read without the removed one until `podwire up` is given it again. With the last pod, the agents that `podwire up` started are stopped too, and the node is what it was before.',
    )
    .argument('[what...]', 'files, directories or URLs as for `podwire up`, or names of pods')
    .option('-n, --namespace <name>', 'the namespace of pods that are named')
    .option('--timeout <seconds>', 'how long to wait for pods to end', readSeconds, 60)
    .action((what: string[]) => runDown(command, io, what));
  addDirectory(addOutput(command));
  addExamples(command, [
    ['podwire down examples/web.yaml', ''],
    ['podwire down shop/web', 'one pod'],
    ['podwire down', 'everything'],
  ]).addHelpText(
    'after',
    '\nExit code 4: a pod had not ended in time. Exit code 1: something of the node could not be put back; call it again.',
  );
}

/** @param words without any: everything */
export async function runDown(command: Command, io: Io, words: readonly string[]): Promise<void> {
  const { timeout, namespace } = optionsOf(command) as { timeout: number; namespace?: string };
  const places = placesIn(locateDirectory(command, io));
  const progress = startProgress(io);
  const outcome = await withInterrupt(async (signal) => {
    const meant = words.length === 0 ? undefined : await sort(places, words, namespace, signal);
    return tearDownPods({ places, io, progress, signal, milliseconds: timeout * 1000 }, meant);
  });
  if (outcome.remaining.length > 0) io.exitCode = exitCodes.notAsItShould;
  const unrestored = outcome.node.filter(({ action, again }) => action === 'failed' || again === true);
  if (unrestored.length > 0) io.exitCode = exitCodes.failed;
  if (outputOf(command) === 'json') return writeJson(io, outcome);
  const paint = colorsFor(io, io.stdout);
  const left = outcome.node.filter(({ action }) => action === 'failed' || action === 'kept');
  return writeLines(io, [...renderPods(outcome, unrestored.length > 0, paint), ...describeNode(left, paint)]);
}

/** Without a pod agent there are no pods to be named: it says itself that none answers. */
async function sort(
  { podSocket }: Places,
  words: readonly string[],
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<Meant> {
  try {
    return await sortWords(openPodApi(podSocket, { signal }), words, namespace);
  } catch (error) {
    if (!(error instanceof PodwireError && error.code === 'PODLET_UNREACHABLE')) throw error;
    return { ...sortPlaces(words), pods: [] };
  }
}

function renderPods(outcome: TakenDown, isUnrestored: boolean, paint: Colors): string[] {
  const { pods, remaining, others } = outcome;
  const list = (names: readonly string[]): string => printable(names.join(' '));
  if (remaining.length > 0) {
    const gone = pods.length === 0 ? [] : [`ended: ${list(pods)}`];
    return [...gone, paint.red(`still there: ${list(remaining)}`)];
  }
  if (others.length === 0) return [describeEnd(outcome, isUnrestored, paint)];
  const nothing = wasNothing(outcome) ? 'there was nothing to take down' : 'no pod of it was left';
  return [
    pods.length === 0 ? nothing : paint.green(`ended: ${list(pods)}`),
    `still running: ${list(others)}`,
  ];
}

function describeEnd(outcome: TakenDown, isUnrestored: boolean, paint: Colors): string {
  if (isUnrestored)
    return paint.yellow('no pod and no agent is left, but the node is not what it was before:');
  return wasNothing(outcome) ? 'there was nothing to take down' : paint.green('all gone');
}

const wasNothing = ({ removed, pods, ended, node }: TakenDown): boolean =>
  removed.length + pods.length + ended.length + node.length === 0;
