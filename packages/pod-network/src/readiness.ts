import { CniError, isAtLeast, type NetworkConfig, PluginError, type Runtime } from '@podwire/cni';
import type { ChosenNetwork } from './config/network-choice.js';
import type { NetworkStatus } from './contract.js';

/** The answer of STATUS for a network. */
export interface Probe {
  /** Whose; a changed configuration is asked anew. */
  readonly source: string;
  /** Undefined when it can serve. */
  readonly problem: string | undefined;
}

export interface ReadinessFacts {
  readonly chosen: ChosenNetwork | undefined;
  /** Why none is chosen. */
  readonly problem: string;
  readonly probe: Probe | undefined;
  readonly podCidrs: readonly string[];
}

/** Kubelet's reason for NetworkReady=false. */
const notReadyReason = 'NetworkPluginNotReady';

/** Pure: NetworkReady of the CRI out of what is known. */
export function evaluateReadiness(facts: ReadinessFacts): NetworkStatus {
  const lack = findLack(facts);
  if (lack !== undefined) return { ready: false, reason: notReadyReason, message: lack };
  const { chosen, problem } = facts;
  const message = chosen?.kept === true ? `network ${chosen.network.name} is kept: ${problem}` : '';
  return { ready: true, reason: '', message };
}

function findLack({ chosen, problem, probe, podCidrs }: ReadinessFacts): string | undefined {
  const unusable = findUnusable(chosen, problem, podCidrs);
  if (unusable !== undefined || chosen === undefined) return unusable;
  if (!hasStatus(chosen.network)) return undefined;
  return probe?.source === chosen.network.source
    ? probe.problem
    : `the plugins of network ${chosen.network.name} were not asked for their STATUS yet`;
}

/** The reason why an ADD would be pointless; STATUS is left out, since the plugins themselves answer an ADD. */
export function findUnusable(
  chosen: ChosenNetwork | undefined,
  problem: string,
  podCidrs: readonly string[],
): string | undefined {
  if (chosen === undefined) return problem;
  const { network } = chosen;
  if (
    podCidrs.length === 0 &&
    network.plugins.some(({ capabilities }) => capabilities?.['ipRanges'] === true)
  ) {
    return `network ${network.name} needs ipRanges, but the node has no pod CIDR yet`;
  }
  return undefined;
}

function hasStatus({ cniVersion }: NetworkConfig): boolean {
  return isAtLeast(cniVersion, '1.1.0');
}

/** Asks the plugins (STATUS, CNI 1.1.0). Never throws: whatever is wrong is the answer. */
export async function probeStatus(
  runtime: Runtime,
  network: NetworkConfig,
  options: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<Probe> {
  const { source } = network;
  if (!hasStatus(network)) return { source, problem: undefined };
  try {
    await runtime.status(network, options);
    return { source, problem: undefined };
  } catch (error) {
    return { source, problem: describeProblem(network, CniError.from(error)) };
  }
}

/** In the plugin's own words; 50: no ADD can be served, 51: pods that run may be cut off too. */
function describeProblem({ name }: NetworkConfig, error: CniError): string {
  const who = error instanceof PluginError ? `plugin ${error.plugin}` : 'its plugins';
  const words = error.details === undefined ? error.message : `${error.message}: ${error.details}`;
  const limited = error.code === 51 ? ', and pods may have lost connectivity' : '';
  return `network ${name} is not available${limited}: ${who} (code ${error.code}): ${words}`;
}
