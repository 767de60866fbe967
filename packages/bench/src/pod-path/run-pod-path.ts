/** The pod path, measured: from a manifest to a pod that takes connections. */
import {
  createPrivateHost,
  installPlugin,
  type PrivateHost,
  startAgent,
  worldAddresses,
} from '@podwire/testkit';
import { type Containerd, startContainerd } from '@podwire/testkit/containerd';
import { startKubelet, withPrivateFiles } from '@podwire/testkit/kubernetes';
import { summarize, type Summary } from '../statistics.js';
import type { BenchCall } from '../call.js';
import { type Burst, measureBurst } from './burst.js';
import { measureComingUp } from './coming-up.js';
import { type IdleFigures, measureIdlePods } from './idle.js';
import { isReady, startPodAgent } from './pod-agent.js';

export interface PodPathOptions {
  /** Pods one after the other, for each runtime. */
  readonly pods: number;
  readonly warmUp: number;
  /** Pods at once. */
  readonly burst: number;
  readonly idlePods: number;
  readonly idleSeconds: number;
  /** `podwire podlet` and `podwire agent`, up to their options. */
  readonly podlet: readonly string[];
  readonly agent: readonly string[];
  /** True if the kubelet 1.20.2 is there; without it there is nothing to compare the burst with. */
  readonly kubelet: boolean;
}

export const defaultPodPathOptions = {
  pods: 40,
  warmUp: 5,
  burst: 50,
  idlePods: 500,
  idleSeconds: 20,
} as const;

export interface RuntimeFigures {
  readonly runtime: 'embedded' | 'containerd';
  readonly reachable: Summary;
  readonly ownShare: Summary;
}

export interface PodPathResult {
  readonly runtimes: readonly RuntimeFigures[];
  readonly burst: { readonly podwire: Burst; readonly kubelet: Burst | undefined };
  readonly idle: IdleFigures;
}

/** @throws Error when a pod does not come up: there is no figure for what does not work */
export async function runPodPath(options: PodPathOptions, call: BenchCall): Promise<PodPathResult> {
  const runtimes = [
    await inHost('embedded', (host) => measureRuntime(host, 'embedded', options, call)),
    await inHost('containerd', (host) => measureRuntime(host, 'containerd', options, call)),
  ];
  const burst = {
    podwire: await inHost('burst', (host) => burstOfPodwire(host, options, call)),
    kubelet: !options.kubelet
      ? undefined
      : await inHost('kubelet', (host) => burstOfKubelet(host, options, call)),
  };
  call.progress({ phase: `${options.idlePods} pods that do nothing`, done: 0, total: 1 });
  const idle = await inHost('idle', (host) =>
    measureIdlePods(
      host,
      options.podlet,
      { pods: options.idlePods, idleSeconds: options.idleSeconds },
      call.signal,
    ),
  );
  return { runtimes, burst, idle };
}

/** A host of its own for each part, which goes with it. */
async function inHost<T>(name: string, work: (host: PrivateHost) => Promise<T>): Promise<T> {
  const host = await createPrivateHost({ name, world: true });
  try {
    return await work(host);
  } finally {
    await host.close();
  }
}

interface Network {
  readonly binDir: string;
  readonly confDir: string;
}

/** Podwire's own network, for all that are compared. */
async function startNetwork(host: PrivateHost, agent: readonly string[]): Promise<Network> {
  const networks = [{ name: 'default', model: 'routed', pools: [{ cidr: '10.62.0.0/16' }] }];
  const node = await startAgent(host, { entry: agent, config: { networks } });
  return installPlugin(host, node.socket);
}

async function measureRuntime(
  host: PrivateHost,
  runtime: RuntimeFigures['runtime'],
  options: PodPathOptions,
  { signal, progress }: BenchCall,
): Promise<RuntimeFigures> {
  const network = await startNetwork(host, options.agent);
  const words =
    runtime === 'embedded'
      ? embeddedWords(network)
      : ['--runtime', (await startContainerd(host, network)).socket];
  const agent = await startPodAgent({ host, name: 'podlet', entry: options.podlet, words });
  const total = options.pods + options.warmUp;
  const show = (done: number): void =>
    progress({ phase: `one pod after the other, ${runtime}`, done, total });
  const figures = await measureComingUp(host, agent, options, signal, show);
  await agent.stop();
  return { runtime, reachable: summarize(figures.reachable), ownShare: summarize(figures.ownShare) };
}

const embeddedWords = ({ binDir, confDir }: Network): string[] => [
  ...['--runtime', 'embedded', '--cni-conf-dir', confDir, '--cni-bin-dir', binDir],
];

async function burstOfPodwire(host: PrivateHost, options: PodPathOptions, call: BenchCall): Promise<Burst> {
  const network = await startNetwork(host, options.agent);
  const containerd = await startContainerd(host, network);
  const agent = await startPodAgent({
    host,
    name: 'podlet',
    entry: options.podlet,
    words: ['--runtime', containerd.socket],
  });
  call.progress({ phase: `${options.burst} pods at once, podwire`, done: 0, total: 1 });
  await warmUp(containerd, agent.manifests, call.signal);
  const burst = await measureBurst(containerd.runtime, agent.manifests, 'burst', options.burst, call.signal);
  await agent.until((pods) => pods.length > options.burst && pods.every(isReady));
  await agent.stop();
  return burst;
}

/** The kubelet alone, with static pods of a directory: the same runtime, network and manifests, and nothing that would slow it. */
async function burstOfKubelet(host: PrivateHost, options: PodPathOptions, call: BenchCall): Promise<Burst> {
  // All of it: pinned namespaces are mounts, and those are this host's own.
  const files = await withPrivateFiles(host);
  const network = await startNetwork(files, options.agent);
  const containerd = await startContainerd(files, network);
  const kubelet = await startKubelet(files, {
    runtime: containerd.socket,
    nodeAddress: worldAddresses.host.ipv4,
    // As quick as it can be made: no control groups of its own, and a directory that is looked at often.
    config: { maxPods: options.burst + 10, fileCheckFrequency: '1s', cgroupsPerQOS: false },
  });
  call.progress({ phase: `${options.burst} pods at once, kubelet`, done: 0, total: 1 });
  await warmUp(containerd, kubelet.manifests, call.signal);
  const burst = await measureBurst(
    containerd.runtime,
    kubelet.manifests,
    'burst',
    options.burst,
    call.signal,
  );
  await kubelet.stop();
  return burst;
}

/** One pod before all others, as a warm-up for each candidate. */
async function warmUp({ runtime }: Containerd, manifests: string, signal: AbortSignal): Promise<void> {
  await measureBurst(runtime, manifests, 'first', 1, signal);
}
