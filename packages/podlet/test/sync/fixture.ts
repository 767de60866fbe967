import { createFakeRuntime, type FakeOptions, type FakeRuntime } from '@podwire/cri/fake';
import type { CriRuntime } from '@podwire/cri';
import type { PodSource, Snapshot, SourceName } from '../../src/contract.js';
import type { PodletLog, StatusSink } from '../../src/sync/sync-context.js';
import type { LoopSettings } from '../../src/settings.js';
import { createMerger } from '../../src/merge/merger.js';
import type { EnsureImage, PodPreparation, ProbeKind, Prober, ProbeTarget } from '../../src/parts.js';
import type { Pod } from '@podwire/pod-spec';
import { type Podlet, type PodletConfig, type PodletDependencies, startPodlet } from '../../src/podlet.js';
import { buildContainerConfig, buildSandboxConfig } from '../../src/runtime-config/index.js';
import { createTestClock, type TestClock } from '@podwire/platform/testing';

export const silent: PodletLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** A source that says what the test tells it to say. */
export interface TestSource extends PodSource {
  say(pods: readonly Pod[], more?: Partial<Snapshot>): void;
}

export function createTestSource(name: SourceName): TestSource {
  let latest: Snapshot | undefined;
  let emit: ((snapshot: Snapshot) => void) | undefined;
  return {
    name,
    say(pods, more = {}) {
      latest = { pods, problems: [], ...more };
      emit?.(latest);
    },
    run(tell, signal) {
      emit = tell;
      if (latest !== undefined) tell(latest);
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          if (emit === tell) emit = undefined;
          resolve();
        });
      });
    },
  };
}

export interface TestPreparation extends PodPreparation {
  readonly uids: Set<string>;
  readonly terminationMessages: Map<string, string>;
}

export function createTestPreparation(): TestPreparation {
  const uids = new Set<string>();
  const terminationMessages = new Map<string, string>();
  return {
    uids,
    terminationMessages,
    prepare: (pod) => {
      uids.add(pod.metadata.uid);
      return Promise.resolve({ mounts: new Map(), configMaps: new Map() });
    },
    writeHosts: (pod) => Promise.resolve(`/pods/${pod.metadata.uid}/hosts`),
    createTerminationLog: (pod, name) => Promise.resolve(`/pods/${pod.metadata.uid}/${name}`),
    readTerminationLog: (uid, name, attempt) =>
      Promise.resolve(terminationMessages.get(`${uid}/${name}/${attempt}`) ?? ''),
    discard: (uid) => {
      uids.delete(uid);
      return Promise.resolve();
    },
    list: () => Promise.resolve([...uids]),
  };
}

export interface TestProber extends Prober {
  readonly targets: Map<string, ProbeTarget>;
  /** Sets a probeResult, without telling. */
  set(uid: string, name: string, kind: ProbeKind, probeResult: boolean): void;
}

export function createTestProber(): TestProber {
  const targets = new Map<string, ProbeTarget>();
  const probeResults = new Map<string, boolean>();
  const key = (uid: string, name: string, kind: string) => `${uid}/${name}/${kind}`;
  return {
    targets,
    set: (uid, name, kind, probeResult) => void probeResults.set(key(uid, name, kind), probeResult),
    watch: (target) =>
      void targets.set(key(target.pod.metadata.uid, target.container.name, target.kind), target),
    forget(uid, name) {
      const prefix = name === undefined ? `${uid}/` : `${uid}/${name}/`;
      for (const map of [targets, probeResults]) {
        for (const each of map.keys()) if (each.startsWith(prefix)) map.delete(each);
      }
    },
    probeResult: (uid, name, kind) => probeResults.get(key(uid, name, kind)),
    close: () => Promise.resolve(),
  };
}

const ensureImage: EnsureImage = async (runtime, _pod, container, sandboxConfig, signal) => {
  const image = { image: container.image, annotations: {}, userSpecifiedImage: '', runtimeHandler: '' };
  const { image: found } = await runtime.imageStatus({ image, verbose: false }, { signal });
  if (found !== undefined) return found.id;
  const { imageRef } = await runtime.pullImage({ image, sandboxConfig, auth: undefined }, { signal });
  return imageRef;
};

export interface Bench {
  readonly clock: TestClock;
  readonly runtime: FakeRuntime;
  readonly file: TestSource;
  readonly api: TestSource;
  readonly preparation: TestPreparation;
  readonly prober: TestProber;
  readonly hooks: string[];
  /** Addresses of sandboxes by pod and attempt; may be emptied. */
  readonly addresses: Map<string, string[]>;
  start(
    more?: Partial<PodletDependencies>,
    settings?: Partial<LoopSettings>,
    config?: Omit<PodletConfig, 'settings'>,
  ): Podlet;
}

export interface BenchOptions extends FakeOptions {
  /** Goes between podlet and runtime. */
  readonly wrap?: (runtime: CriRuntime) => CriRuntime;
  readonly sources?: readonly SourceName[];
}

export function createBench(options: BenchOptions = {}): Bench {
  // Enough for every hop here, and no more: some of these tests stop at tens of thousands of moments.
  const clock = createTestClock({ turns: 5 });
  const addresses = new Map<string, string[]>();
  const runtime = createFakeRuntime({
    clock,
    hasEvents: false,
    addressesOf: ({ metadata }) => {
      const own = [`10.0.${addresses.size >> 8}.${(addresses.size & 255) + 1}`];
      addresses.set(`${metadata?.uid}/${metadata?.attempt}`, own);
      return own;
    },
    ...options,
  });
  const sources = {
    file: createTestSource('file'),
    api: createTestSource('api'),
    http: createTestSource('http'),
  };
  const preparation = createTestPreparation();
  const prober = createTestProber();
  const hooks: string[] = [];
  const names = options.sources ?? ['file'];
  const start: Bench['start'] = (more = {}, settings = {}, config = {}) =>
    startPodlet(
      { ...config, settings },
      {
        runtime: options.wrap?.(runtime) ?? runtime,
        sources: names.map((name) => sources[name]),
        merger: createMerger(clock),
        preparation,
        buildSandboxConfig,
        buildContainerConfig,
        ensureImage,
        runHook: (action, target) => {
          hooks.push(`${target.container.name}: ${action.exec?.command.join(' ') ?? 'other'}`);
          return Promise.resolve();
        },
        createProber: () => prober,
        node: {
          name: 'node1',
          addresses: ['192.0.2.1'],
          resolvConf: () => Promise.resolve('nameserver 192.0.2.53\n'),
          hosts: () => Promise.resolve('127.0.0.1 localhost\n'),
          clusterDns: [],
          clusterDomain: 'cluster.local',
        },
        directories: { root: '/var/lib/podlet', logs: '/var/log/pods' },
        clock,
        random: () => 0,
        log: silent,
        ...more,
      },
    );
  return {
    clock,
    runtime,
    file: sources.file,
    api: sources.api,
    preparation,
    prober,
    hooks,
    addresses,
    start,
  };
}

export type { StatusSink };
