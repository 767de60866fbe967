import { defaultConfigDirectory, type NetworkConfig, type Runtime } from '@podwire/cni';
import { PodwireError } from '@podwire/errors';
import { compact, silentLog } from '@podwire/platform';
import { createNetworkChooser, type NetworkChooser } from './config/network-choice.js';
import type { NetworkStatus } from './contract.js';
import { defaultPluginPath, type PodNetworkOptions, type PodNetworkSystem } from './options.js';
import { findUnusable, evaluateReadiness, type Probe, probeStatus } from './readiness.js';

/** Milliseconds. STATUS is called only while a client asks. */
const interestMs = 30_000;

/** Configuration and STATUS, and what they mean together. */
export interface Watched {
  readonly chooser: NetworkChooser;
  readonly status: () => NetworkStatus;
  /** @throws PodwireError NETWORK_NOT_READY */
  readonly network: () => NetworkConfig;
  readonly podCidrs: () => readonly string[];
  readonly setPodCidrs: (cidrs: readonly string[]) => void;
  /** A client has asked. */
  readonly ask: () => void;
  /** Calls STATUS if a client has asked. */
  readonly probe: () => Promise<void>;
}

export function watchReadiness(
  options: PodNetworkOptions,
  { clock, startWatching }: PodNetworkSystem,
  runtime: Runtime,
  timeoutMs: number,
  signal: AbortSignal,
): Watched {
  const { log = silentLog } = options;
  let probe: Probe | undefined;
  let podCidrs: readonly string[] = [];
  let askedAt = clock.elapsed();
  const probeNow = async (network: NetworkConfig): Promise<void> => {
    const before = probe?.problem;
    const said = await probeStatus(runtime, network, { signal, timeoutMs });
    // Another one was chosen meanwhile, and was asked when it was chosen.
    if (chooser.current()?.network.source !== network.source) return;
    probe = said;
    if (probe.problem !== undefined && probe.problem !== before)
      log.warn({ problem: probe.problem }, 'the network is not available');
  };
  const chooser = createNetworkChooser({
    directory: options.configDirectory ?? defaultConfigDirectory,
    ...compact({ pinned: options.network }),
    pluginPath: options.pluginPath ?? defaultPluginPath,
    validate: (network) => runtime.validate(network, { signal, timeoutMs }),
    ...{ clock, log, startWatching },
    debounceMs: options.debounceMs ?? 50,
    onScan: async (chosen) => {
      if (chosen !== undefined && chosen.network.source !== probe?.source) await probeNow(chosen.network);
    },
  });
  return {
    chooser,
    status: () =>
      evaluateReadiness({ chosen: chooser.current(), problem: chooser.problem(), probe, podCidrs }),
    network: () => {
      const chosen = chooser.current();
      const lack = findUnusable(chosen, chooser.problem(), podCidrs);
      if (lack !== undefined || chosen === undefined)
        throw new PodwireError('NETWORK_NOT_READY', lack ?? 'there is no network');
      return chosen.network;
    },
    podCidrs: () => podCidrs,
    setPodCidrs: (cidrs) => {
      // The first one sticks, as with kubelet: pods have addresses of it.
      if (podCidrs.length === 0) podCidrs = cidrs.filter((cidr) => cidr !== '');
      else if (cidrs.join() !== podCidrs.join())
        log.warn({ podCidrs, refused: cidrs }, 'the pod CIDR of this node is settled');
    },
    ask: () => void (askedAt = clock.elapsed()),
    probe: async () => {
      const chosen = chooser.current();
      if (chosen !== undefined && clock.elapsed() - askedAt < interestMs) await probeNow(chosen.network);
    },
  };
}
