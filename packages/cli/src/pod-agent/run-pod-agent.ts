/** The pod agent as a process: sources, runtime, workers and its own API, put together. */
import fs from 'node:fs';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { peerCredentials } from '@podwire/linux';
import {
  buildContainerConfig,
  buildSandboxConfig,
  type CgroupLocation,
  createContainerLogs,
  createCredentials,
  createEnsureImage,
  createFileSource,
  LastGood,
  createRunHook,
  createHttpSource,
  createImageCollector,
  createMerger,
  PodCheckpoints,
  createPodPreparation,
  createProber,
  createPullSecretFiles,
  loadProbeResults,
  noSink,
  type SourcePlaces,
  SourceSet,
  findCgroupDriver,
  type Pod,
  type FindConfigMap,
  type HeldPods,
  type FindPullSecret,
  type Podlet,
  type PodletApi,
  type RotationPolicy,
  readLogTail,
  readNode,
  startPodlet,
  startPodletServer,
  withCheckpoints,
  withProbeResults,
  withPodCgroups,
} from '@podwire/podlet';
import type { CriRuntime } from '@podwire/cri';
import { compact, deadlineSignal, type Log, systemClock as clock, untilAborted } from '@podwire/platform';
import { createTracer, type Span } from '@podwire/tracing';
import { ownVersion } from '../checkout.js';
import { bringEarlierState, hasPods } from './earlier-state.js';
import { openExporter } from './export-spans.js';
import { openHeldPods } from './held-file.js';
import { isOfApi, type KubernetesSide, openKubernetes } from './kubernetes.js';
import { openRuntime } from './open-runtime.js';
import { LiveSettings } from './live-settings.js';
import { readLogRotation } from './log-rotation.js';
import { openService, type PodAgentConfiguration, withoutFile } from './service.js';
import type { PodAgentSettings } from './settings.js';
import { loadSources, type SavedSources, saveSources } from './source-file.js';

/** Runs until `stopped`; pods go on. @throws PodwireError, CriError: what could not be started */
export async function runPodAgent(
  settings: PodAgentSettings,
  log: Log,
  stopped: AbortController,
  configuration: PodAgentConfiguration = withoutFile,
): Promise<void> {
  const { podletState, earlierPodletState } = settings.places;
  fs.mkdirSync(podletState, { recursive: true, mode: 0o700 });
  if (earlierPodletState !== undefined) bringEarlierState(earlierPodletState, podletState);
  // The latest first; also when the rest cannot be opened: what is open keeps the process.
  const ends: (() => Promise<void>)[] = [];
  try {
    await openPodAgent(settings, log, stopped, ends, configuration);
    await untilAborted(stopped.signal);
  } catch (error) {
    if (!stopped.signal.aborted) throw error; // a call that was given up for the end
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

/** @param ends takes how to close each thing once it is open */
async function openPodAgent(
  settings: PodAgentSettings,
  log: Log,
  stopped: AbortController,
  ends: (() => Promise<void>)[],
  configuration: PodAgentConfiguration,
): Promise<void> {
  const service = openService(log, ends);
  const exporter = await openExporter(process.env, log);
  ends.push(async () => exporter?.close());
  const onSpan = (span: Span): void => exporter?.add(span);
  // A runtime in this process makes spans too; the pod agent, which keeps them, comes after it.
  const listeners = [onSpan];
  const tracer = createTracer({
    random: randomBytes,
    onEnd: (span) => listeners.forEach((tell) => tell(span)),
  });
  const opened = await openRuntime(settings, tracer, log);
  ends.push(() => opened.close());
  const { runtimeName, runtimeVersion } = await opened.runtime.version({ version: 'v1' });
  const kubernetes =
    settings.kubeconfig === undefined ? undefined : await openKubernetes(settings, clock, log, runtimeName);
  ends.push(async () => kubernetes?.close());
  const sources = openSources(settings, log);
  const held = openHeldPods(settings.places, clock, log);
  const checkpoints = new PodCheckpoints(path.join(settings.places.podletState, 'checkpoints'));
  const restored = kubernetes === undefined ? [] : await loadCheckpoints(checkpoints, log);
  const cgroups = await placeCgroups(settings, opened.runtime, log, stopped.signal);
  const rotation = { ...settings.logRotation };
  const live = openLiveSettings(settings, { configuration, sources, rotation, log });
  ends.push(service.listen(() => live.reload()));
  const earlierResults = await loadProbeResults(describeDirectories(settings));
  const kept = { checkpoints, restored, earlierResults };
  const parts = { rotation, opened, cgroups, kubernetes, sources, held, ...kept, log, onSpan };
  const podlet = startParts(settings, parts);
  ends.push(() => podlet.stop());
  listeners.push((span) => podlet.record(span));
  kubernetes?.onRefusal(({ metadata }, message) => podlet.noteStatusRefusal(metadata.uid, message));
  const server = await startPodletServer(
    describeApi(settings, podlet, { ...parts, stopped, live }, `${runtimeName} ${runtimeVersion}`),
    {
      socket: settings.places.podSocket,
      peerCredentials,
      onBroken: (err) => log.debug({ err }, 'an API request ended early'),
    },
  );
  ends.push(() => server.stop());
  log.info({ socket: settings.places.podSocket, ms: Math.round(performance.now()) }, 'ready');
  service.ready(() => `${podlet.pods().length} pods on ${runtimeName}`);
}

interface Sources {
  readonly file: SourceSet;
  readonly http: SourceSet;
}

function openSources(settings: PodAgentSettings, log: Log): Sources {
  const saved = loadSources(settings.places);
  if (saved.problem !== undefined)
    log.warn(
      { problem: saved.problem },
      'places that were added before are not known any more; give them again',
    );
  return createSources(settings, saved);
}

/** Those of the command line, and those that `podwire up` added before a restart. */
function createSources(settings: PodAgentSettings, saved: SavedSources): Sources {
  const { nodeName: node, nameSuffix, headers } = settings;
  const united = (given: readonly string[], kept: readonly string[]): string[] => [
    ...new Set([...given, ...kept]),
  ];
  return {
    file: new SourceSet('file', united(settings.files, saved.files), (path) =>
      createFileSource({ path, node, nameSuffix, clock, lastGood: lastGoodOf(settings) }),
    ),
    http: new SourceSet('http', united(settings.urls, saved.urls), (url) =>
      createHttpSource({ url, headers, node, nameSuffix, clock }),
    ),
  };
}

/** Checkpoints of API pods, for starts without the API server. Without an API source they would never be deleted. */
async function loadCheckpoints(checkpoints: PodCheckpoints, log: Log): Promise<readonly Pod[]> {
  const { pods, problems } = await checkpoints.load();
  for (const problem of problems) log.warn({ problem }, 'a checkpoint cannot be used');
  return pods;
}

const driverDeadline = 30_000;

/** The embedded runtime limits nothing, so its pods need none. */
async function placeCgroups(
  { runtime: name, cgroupDriver, cgroupRoot: root }: PodAgentSettings,
  runtime: CriRuntime,
  log: Log,
  signal: AbortSignal,
): Promise<CgroupLocation | undefined> {
  if (name === 'embedded') return undefined;
  const driver = cgroupDriver ?? (await findCgroupDriver(runtime, deadlineSignal(driverDeadline, signal)));
  if (driver !== undefined) return { driver, ...compact({ root }) };
  log.warn(
    {},
    'the runtime does not tell its cgroup driver: pods are where it puts them; see --cgroup-driver',
  );
  return undefined;
}

type Merger = ReturnType<typeof createMerger>;
type PodNode = ReturnType<typeof readNode>;
type PodDirectories = Parameters<typeof createPodPreparation>[0]['directories'];

interface Parts {
  readonly rotation: RotationPolicy;
  readonly cgroups: CgroupLocation | undefined;
  readonly opened: Awaited<ReturnType<typeof openRuntime>>;
  readonly kubernetes: KubernetesSide | undefined;
  readonly sources: Sources;
  readonly held: HeldPods;
  readonly checkpoints: PodCheckpoints;
  readonly restored: readonly Pod[];
  readonly earlierResults: Awaited<ReturnType<typeof loadProbeResults>>;
  readonly log: Log;
  readonly onSpan: (span: Span) => void;
}

function startParts(settings: PodAgentSettings, parts: Parts): Podlet {
  const { cgroups, kubernetes, sources, held, checkpoints, log, onSpan, rotation } = parts;
  const { restored, earlierResults } = parts;
  const { runtime } = parts.opened;
  const node = describeNode(settings, cgroups);
  const directories = describeDirectories(settings);
  const merger = withCheckpoints(createMerger(clock), checkpoints, (problem) =>
    log.warn({ problem }, 'a checkpoint cannot be written'),
  );
  const findConfigMap = createFindConfigMap(merger, kubernetes);
  const findPullSecret = createFindPullSecret(settings, kubernetes);
  const preparation = createPodPreparation({ directories, node, findConfigMap });
  const credentials = createCredentials({ files: settings.credentials, findPullSecret });
  return startPodlet(
    { restored, earlierResults },
    {
      ...{ runtime, merger, node, directories, clock, log, onSpan },
      ...{ buildSandboxConfig, buildContainerConfig, createProber, readLogTail },
      sink: withProbeResults(kubernetes?.sink ?? noSink, directories, (message) => log.warn({}, message)),
      sources: [
        held.filter(sources.file),
        held.filter(sources.http),
        ...(kubernetes === undefined ? [] : [kubernetes.source]),
      ],
      preparation: cgroups === undefined ? preparation : withPodCgroups(preparation, cgroups),
      ensureImage: createEnsureImage({ credentials }),
      runHook: createRunHook({ runtime, clock }),
      random: Math.random,
      containerLogs: createContainerLogs({ rotation, runtime, directories, clock, log }),
      collectImages: createCollectImages(settings, runtime, merger, log),
    },
  );
}

function describeNode(settings: PodAgentSettings, cgroups: CgroupLocation | undefined): PodNode {
  const { nodeName, nodeLabels, allowedUnsafeSysctls, clusterDns, clusterDomain } = settings;
  return readNode({
    ...{ name: nodeName, labels: nodeLabels, allowedUnsafeSysctls, clusterDns, clusterDomain },
    ...leastOomScore(),
    // Processes of the embedded runtime are confined by no profile.
    ...compact({ cgroups, appArmor: settings.runtime === 'embedded' ? false : undefined }),
  });
}

function describeDirectories({ places, logs, logLinks }: PodAgentSettings): PodDirectories {
  const { podletState: root, earlierPodletState } = places;
  const earlierRoot = hasPods(earlierPodletState) ? earlierPodletState : undefined;
  return { root, logs, ...compact({ earlierRoot, logLinks }) };
}

/** Config maps beside manifests on this machine come first: they need no request. */
function createFindConfigMap(merger: Merger, kubernetes: KubernetesSide | undefined): FindConfigMap {
  return async (namespace, name, signal) =>
    merger.configMaps().find((each) => each.namespace === namespace && each.name === name) ??
    (await kubernetes?.findConfigMap(namespace, name, signal));
}

/** A pod of the API has the secrets of its namespace there, and only those. */
function createFindPullSecret(
  { pullSecrets }: PodAgentSettings,
  kubernetes: KubernetesSide | undefined,
): FindPullSecret {
  const findInFiles = pullSecrets === undefined ? undefined : createPullSecretFiles(pullSecrets);
  return async (pod, name) =>
    isOfApi(pod) ? kubernetes?.findPullSecret(pod, name) : findInFiles?.(pod, name);
}

function createCollectImages(
  settings: PodAgentSettings,
  runtime: CriRuntime,
  merger: Merger,
  log: Log,
): (signal: AbortSignal) => Promise<void> {
  const collector = createImageCollector({ runtime, clock, keep: () => imagesOf(merger.pods(), settings) });
  return async (signal) => {
    const { removed, problems } = await collector.collect(signal);
    if (removed.length + problems.length > 0) log.info({ removed, problems }, 'images collected');
  };
}

function imagesOf(pods: ReturnType<Merger['pods']>, { sandboxImage }: PodAgentSettings): string[] {
  const used = pods.flatMap(({ spec }) =>
    [...spec.initContainers, ...spec.containers].map(({ image }) => image),
  );
  return sandboxImage === undefined ? used : [...used, sandboxImage];
}

/** Lowering oom_score_adj needs CAP_SYS_RESOURCE (proc(5)); without it runtimes fail when asked to. */
function leastOomScore(): { oomScoreAdjustment?: number } {
  const text = fs.readFileSync('/proc/self/status', 'utf8');
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(text)?.[1] ?? '0'}`);
  const capSysResource = 24n;
  return (effective >> capSysResource) % 2n === 1n ? {} : { oomScoreAdjustment: 0 };
}

interface ApiParts {
  readonly stopped: AbortController;
  readonly live: LiveSettings;
}

function describeApi(
  settings: PodAgentSettings,
  podlet: Podlet,
  { opened, sources, held, stopped, live }: Pick<Parts, 'opened' | 'sources' | 'held'> & ApiParts,
  runtimeName: string,
): PodletApi {
  const { network } = opened;
  return {
    node: settings.nodeName,
    version: ownVersion(),
    startedAt: Date.now(),
    runtimeName,
    runtime: opened.runtime,
    sources: keepingSources(settings, sources),
    held,
    restart: (uid, names) => podlet.restart(uid, names),
    pods: () => podlet.pods(),
    problems: () => podlet.problems(),
    manifest: (uid) => podlet.manifest(uid),
    events: () => podlet.events(),
    subscribeEvents: (listener) => podlet.subscribeEvents(listener),
    subscribe: (listener) => podlet.subscribe(listener),
    spans: (uid) => podlet.trace(uid),
    configuration: live,
    ...(network === undefined ? {} : { explainNetwork: () => network.explain() }),
    shutDown: () => stopped.abort(new Error('asked over the API')),
  };
}

/** Places of the file that have come or gone become sources or stop being ones, as if they were added over the API. */
function openLiveSettings(
  settings: PodAgentSettings,
  {
    configuration,
    sources,
    rotation,
    log,
  }: Pick<Parts, 'sources' | 'log'> & {
    readonly configuration: PodAgentConfiguration;
    readonly rotation: { -readonly [Key in keyof RotationPolicy]: RotationPolicy[Key] };
  },
): LiveSettings {
  const { given, initial, readAgain, setLogLevel } = configuration;
  const places = keepingSources(settings, sources);
  return new LiveSettings({
    ...{ initial, readAgain, log, now: Date.now },
    apply(before, after) {
      // First, since it may be refused.
      Object.assign(rotation, readLogRotation({ ...after, ...given }));
      follow(
        places.file,
        listOf(before['manifests']).map(resolvePath),
        listOf(after['manifests']).map(resolvePath),
      );
      follow(places.http, listOf(before['url']), listOf(after['url']));
      setLogLevel(after['logLevel']);
    },
  });
}

const resolvePath = (file: string): string => path.resolve(file);
const listOf = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : [value].flat();

function follow(places: SourcePlaces, before: readonly string[], after: readonly string[]): void {
  for (const gone of before) if (!after.includes(gone)) places.remove(gone);
  for (const fresh of after) if (!before.includes(fresh)) places.add(fresh);
}

/** Below the pod agent's directory, which only root may read. */
function lastGoodOf({ places }: PodAgentSettings): LastGood {
  return new LastGood(path.join(places.podletState, 'manifests'));
}

function forgetGood(lastGood: LastGood, target: string): void {
  for (const file of lastGood.load(target).keys()) lastGood.remove(file);
}

/** Writes down each addition and removal, so that it is known after a restart. */
function keepingSources(settings: PodAgentSettings, sources: Sources): Record<keyof Sources, SourcePlaces> {
  const save = (changed: boolean): boolean => {
    if (changed)
      saveSources(settings.places, { files: sources.file.origins(), urls: sources.http.origins() });
    return changed;
  };
  const keeping = (set: SourceSet): SourcePlaces => ({
    origins: () => set.origins(),
    known: (origin) => set.known(origin),
    add: (origin) => save(set.add(origin)),
    remove: (origin) => save(set.remove(origin)),
  });
  const file = keeping(sources.file);
  const removeFile = (origin: string): boolean => {
    const removed = file.remove(origin);
    if (removed) forgetGood(lastGoodOf(settings), origin);
    return removed;
  };
  return { file: { ...file, remove: removeFile }, http: keeping(sources.http) };
}
