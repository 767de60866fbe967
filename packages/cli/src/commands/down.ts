import type { LocalApi } from '@podwire/local-api';
import type { Command } from 'commander';
import { addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { withInterrupt } from '../interrupt.js';
import { colorsFor, exitCodes, type Io, writeJson, writeLines } from '../io.js';
import { addDirectory, locateDirectory, openPodApi, type Places, placesIn } from '../pods/locate.js';
import { fullName } from '../pods/names.js';
import { forgetStarted, readStarted } from '../pods/started.js';
import { endProcesses } from '../process-mark.js';
import { type Progress, startProgress } from '../render/progress.js';
import { isOf, sortPlaces } from './up.js';

interface Sources {
  readonly files: readonly string[];
  readonly urls: readonly string[];
}

export function define(command: Command, io: Io): void {
  command
    .description(
      'Takes down the pods of manifests that `podwire up` was given; without any, of all. When nothing is left, the agents that `podwire up` has started are ended too.',
    )
    .argument('[what...]', 'the same files, directories or URLs as for `podwire up`')
    .option('--timeout <seconds>', 'how long to wait for pods to end', '60')
    .action((what: string[]) => run(command, io, what));
  addDirectory(addOutput(command));
  addExamples(command, [
    ['podwire down examples/web.yaml', ''],
    ['podwire down', 'everything'],
  ]).addHelpText('after', '\nExit code 4: a pod had not ended in time.');
}

async function run(command: Command, io: Io, what: readonly string[]): Promise<void> {
  const { timeout } = optionsOf(command) as { timeout: string };
  const places = placesIn(locateDirectory(command, io));
  const progress = startProgress(io);
  const outcome = await withInterrupt(async (signal) => {
    const api = openPodApi(places.podSocket, { signal });
    const { changed, left } = await dropSources(api, what);
    const deadline = AbortSignal.timeout(Number(timeout) * 1000);
    const remaining = await waitUntilGone(api, io, progress, changed, AbortSignal.any([signal, deadline]));
    const ended = left === 0 && remaining.length === 0 ? await endStarted(places, progress) : [];
    return { removed: changed, remaining, ended };
  });
  if (outcome.remaining.length > 0) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') return writeJson(io, outcome);
  const paint = colorsFor(io, io.stdout);
  if (outcome.remaining.length > 0)
    return writeLines(io, [paint.red(`still there: ${outcome.remaining.join(' ')}`)]);
  return writeLines(io, [
    outcome.removed.length === 0 ? 'there was nothing to take down' : paint.green('all gone'),
  ]);
}

async function dropSources(
  api: LocalApi,
  what: readonly string[],
): Promise<{ changed: string[]; left: number }> {
  const all = await api.get<Sources>('/v1/sources');
  const { files, urls } = what.length === 0 ? all : sortPlaces(what);
  const answer = await api.delete<Sources & { changed: string[] }>('/v1/sources', { files, urls });
  return { changed: answer.changed, left: answer.files.length + answer.urls.length };
}

/** @returns the names of pods that are still there */
async function waitUntilGone(
  api: LocalApi,
  io: Io,
  progress: Progress,
  removed: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const { followPods } = await import('../pods/follow.js');
  const concerns = isOf(removed);
  const silent = { ...io, stderr: { write: () => undefined } };
  const work = () =>
    followPods({ api, io: silent, progress: quiet, concerns, signal }, (pods) => pods.length === 0);
  const board = await progress.step('pods ended', work);
  return [...board.pods.values()].filter(concerns).map(fullName);
}

const quiet: Progress = { show: () => undefined, step: (_what, work) => work(), end: () => undefined };

/** The pod agent first: it has nothing left that needs the node agent. */
async function endStarted(places: Places, progress: Progress): Promise<string[]> {
  const { podlet, agent } = readStarted(places);
  const marks = [podlet, agent].filter((mark) => mark !== undefined);
  if (marks.length === 0) return [];
  await progress.step('agents ended', async () => {
    for (const mark of marks) await endProcesses([mark]);
  });
  forgetStarted(places);
  return marks.map(({ what }) => what);
}
