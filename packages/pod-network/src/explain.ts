import { createRuntime, defaultConfigDirectory } from '@podwire/cni';
import { compact } from '@podwire/platform';
import { scanDirectory } from './config/scan.js';
import type { ChosenNetwork } from './config/network-choice.js';
import type { NetworkChoice } from './contract.js';
import { defaultPluginPath, type PodNetworkOptions, type PodNetworkSystem } from './options.js';
import { evaluateReadiness, probeStatus } from './readiness.js';
import { completeSystem } from './system.js';
import type { Watched } from './watched.js';

type ConfigLocation = Pick<PodNetworkOptions, 'configDirectory' | 'network'>;

/** The choice of a running pod network, after a scan of its own. */
export async function explainWatched(location: ConfigLocation, watched: Watched): Promise<NetworkChoice> {
  const { chooser } = watched;
  watched.ask();
  await chooser.scan();
  return describeChoice(location, {
    chosen: chooser.current(),
    files: chooser.files(),
    lookedAt: chooser.scannedAt(),
    status: watched.status(),
  });
}

export interface ExplainOptions
  extends ConfigLocation, Pick<PodNetworkOptions, 'pluginPath' | 'env' | 'probeTimeoutMs'> {
  /** Ranges of the node, for networks that need them. */
  readonly podCidrs?: readonly string[];
  readonly signal?: AbortSignal;
  readonly system?: Partial<Pick<PodNetworkSystem, 'exec' | 'clock'>>;
}

/**
 * The choice of a pod network that starts now, and the reasons. Only VERSION and STATUS of plugins are called; nothing is watched, written or
 * attached. Never throws on account of what it finds.
 */
export async function explainDirectory(options: ExplainOptions): Promise<NetworkChoice> {
  const { probeTimeoutMs: timeoutMs = 5_000, signal = new AbortController().signal, podCidrs = [] } = options;
  const { clock, exec } = completeSystem(options.system);
  const pluginPath = options.pluginPath ?? defaultPluginPath;
  const runtime = createRuntime({ pluginPath, exec, ...(options.env && { env: options.env }) });
  const { network, files, problem } = await scanDirectory({
    directory: options.configDirectory ?? defaultConfigDirectory,
    ...compact({ pinned: options.network }),
    validate: (candidate) => runtime.validate(candidate, { signal, timeoutMs }),
  });
  const chosen = network && { network, kept: false };
  const probe = network && (await probeStatus(runtime, network, { signal, timeoutMs }));
  const status = evaluateReadiness({ chosen, problem, probe, podCidrs });
  return describeChoice(options, { chosen, files, lookedAt: clock.now(), status });
}

interface ChoiceFacts extends Pick<NetworkChoice, 'files' | 'lookedAt' | 'status'> {
  readonly chosen: ChosenNetwork | undefined;
}

function describeChoice(location: ConfigLocation, { chosen, ...facts }: ChoiceFacts): NetworkChoice {
  return {
    directory: location.configDirectory ?? defaultConfigDirectory,
    ...compact({ pinned: location.network }),
    ...(chosen === undefined ? {} : { network: describeNetwork(chosen) }),
    ...facts,
  };
}

function describeNetwork({ network, kept }: ChosenNetwork): NonNullable<NetworkChoice['network']> {
  return {
    name: network.name,
    file: network.file ?? '',
    plugins: network.plugins.map(({ type }) => type),
    kept,
  };
}
