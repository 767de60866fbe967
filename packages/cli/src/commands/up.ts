import path from 'node:path';
import { redactUrl } from '@podwire/errors';
import type { LocalApi } from '@podwire/local-api';
import type { Command } from 'commander';
import { openAgentApi } from '../api/locate.js';
import { addExamples, addOutput, optionsOf, outputOf, readSeconds } from '../command.js';
import { withInterrupt } from '../interrupt.js';
import { colorsFor, exitCodes, type Io, widthOf, writeJson, writeLines, printable } from '../io.js';
import { addLogRotation } from '../pod-agent/options.js';
import { type LogRotationWords, readLogRotation } from '../pod-agent/log-rotation.js';
import { bringUp } from '../pods/bring-up.js';
import { isOf, waitForPods } from '../pods/follow.js';
import { renderProblems, requirePresent } from '../pods/problems.js';
import { evaluatePod } from '../pods/readiness.js';
import { readWarnings } from '../pods/warnings.js';
import { renderUnready } from '../pods/not-started.js';
import { addDirectory, locateDirectory, openPodApi, placesIn } from '../pods/locate.js';
import type { PodsView } from '../pods/names.js';
import type { Sources } from '../pods/sort-words.js';
import { startProgress } from '../render/progress.js';
import { joinPods } from '../pods/list.js';

interface UpOptions extends LogRotationWords {
  readonly runtime: string;
  readonly cniConfDir?: string;
  readonly cniBinDir?: string[];
  readonly timeout: number;
  readonly detach?: boolean;
}

export function define(command: Command, io: Io): void {
  command
    .description(
      'Runs the pods of manifests on this machine and shows their progress. It starts a pod agent, and a node agent for the pod network, which keep running. Without a container engine the embedded runtime runs a container’s `command` as a process with the files of this machine: for trying Podwire out, not for isolating untrusted code. Manifests are watched: editing, adding or deleting one changes the pods.',
    )
    .argument('<what...>', 'manifest files, directories of them, or URLs')
    .option('--runtime <name>', 'embedded, docker, containerd, or the path of a CRI socket', 'embedded')
    .option('--cni-conf-dir <dir>', 'another CNI network than Podwire’s own (embedded and docker)')
    .option('--cni-bin-dir <dir...>', 'where its plugins are')
    .option('--timeout <seconds>', 'how long to wait for pods to be ready', readSeconds, 60)
    .option('-d, --detach', 'do not wait')
    .action((what: string[]) => run(command, io, what));
  addDirectory(addOutput(addLogRotation(command)));
  addExamples(command, [
    ['podwire up examples/web.yaml', ''],
    ['podwire up /etc/podwire/pods https://example.org/pods.yaml', ''],
    ['podwire up web.yaml --runtime containerd', ''],
    ['podwire down web.yaml', 'ends its pods'],
  ]).addHelpText(
    'after',
    '\nExit code 4: a pod is not ready in time or has failed, or a manifest cannot be used.',
  );
}

async function run(command: Command, io: Io, what: readonly string[]): Promise<void> {
  const options = optionsOf(command) as unknown as UpOptions;
  const { files, urls } = sortPlaces(what);
  requirePresent(files);
  const directory = locateDirectory(command, io);
  const places = placesIn(directory);
  const progress = startProgress(io);
  const outcome = await withInterrupt(async (signal) => {
    await bringUp({
      directory,
      places,
      runtime: options.runtime,
      ...networkOf(options),
      more: logWordsOf(options),
      progress,
      signal,
    });
    const api = openPodApi(places.podSocket, { signal, timeout: 30_000 });
    const known = await api.post<Sources>('/v1/sources', { files, urls });
    const own = [...files, ...urls];
    const found =
      options.detach === true
        ? await lookOnce(api, own)
        : await waitForPods({
            ...{ api, io, progress, signal },
            places: own,
            milliseconds: options.timeout * 1000,
          });
    const nodeAgent = openAgentApi({ socket: places.agentApi, signal, timeout: 2_000 });
    const warnings = await readWarnings(nodeAgent, found.pods);
    return { ...found, problems: withoutOthers(found.problems, own, known), warnings };
  });
  await report(command, io, outcome, options.detach === true);
}

async function lookOnce(api: LocalApi, own: readonly string[]): Promise<PodsView> {
  const { pods, problems } = await api.get<PodsView>('/v1/pods');
  return { pods: pods.filter(isOf(own)), problems };
}

/** Problems in places that an earlier call was given are left out. Of a pod that has a twin only its name is known. */
function withoutOthers(
  problems: PodsView['problems'],
  own: readonly string[],
  { files, urls }: Sources,
): PodsView['problems'] {
  const isOwn = isOf(own);
  const isOthers = isOf(
    [...files, ...urls].filter((place) => !own.includes(place) && !own.map(redactUrl).includes(place)),
  );
  return problems.filter((problem) => isOwn(problem) || !isOthers(problem));
}

/** Absolute, since the pod agent lives elsewhere. */
export function sortPlaces(what: readonly string[]): { files: string[]; urls: string[] } {
  const isUrl = (each: string): boolean => /^https?:\/\//.test(each);
  return {
    files: what.filter((each) => !isUrl(each)).map((each) => path.resolve(each)),
    urls: what.filter(isUrl),
  };
}

/** @throws PodwireError CONFIG_INVALID here, not in the log of a pod agent that does not come up */
export function logWordsOf(options: LogRotationWords): string[] {
  const { maxBytes, maxFiles } = readLogRotation(options);
  return ['--container-log-max-size', String(maxBytes), '--container-log-max-files', String(maxFiles)];
}

function networkOf({ cniConfDir, cniBinDir }: UpOptions) {
  if (cniConfDir === undefined) return {};
  const pluginDirectories = (cniBinDir ?? ['/opt/cni/bin']).map((each) => path.resolve(each));
  return { network: { configDirectory: path.resolve(cniConfDir), pluginDirectories } };
}

/** @param detached the command did not wait, so a pod that is not ready is no failure */
async function report(
  command: Command,
  io: Io,
  { pods, problems, warnings }: PodsView & { readonly warnings: readonly string[] },
  detached: boolean,
): Promise<void> {
  const wrong = detached ? ['failed'] : ['failed', 'waiting'];
  const bad = pods.filter((pod) => wrong.includes(evaluatePod(pod).state));
  for (const warning of warnings)
    io.stderr.write(`${colorsFor(io, io.stderr).yellow('warning:')} ${printable(warning)}\n`);
  if (bad.length > 0 || problems.length > 0) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') return writeJson(io, { pods, problems, warnings });
  for (const line of renderProblems(problems))
    io.stderr.write(`${colorsFor(io, io.stderr).red('✗')} ${line}\n`);
  if (pods.length === 0) return void io.stderr.write('no pods\n');
  const { renderPodTable } = await import('../pods/table.js');
  const options = { now: io.now(), width: widthOf(io) };
  const rows = joinPods({ pods, endpoints: [] });
  writeLines(io, renderPodTable(rows, options, colorsFor(io, io.stdout)));
  for (const line of renderUnready(bad)) io.stderr.write(`${printable(line)}\n`);
}
