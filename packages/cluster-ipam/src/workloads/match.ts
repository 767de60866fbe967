/** Which workload a pod belongs to, and which addresses workloads keep. In memory, following the copy. */
import { formatAddress, parseAddress } from '@podwire/addresses';
import type { Stored, Workload } from '@podwire/cluster';
import type { PodName } from '../contract.js';
import type { Core } from '../core.js';

/** The one that names the pod; or else the longest beginning of its name. */
export function workloadOf(
  core: Core,
  network: string,
  { namespace, name }: PodName,
): Stored<Workload> | undefined {
  if (core.copy.workloads.size === 0) return undefined;
  const exact = core.copy.workloads.get(core.keys.workload(network, namespace, name));
  if (exact !== undefined) return exact;
  let best: Stored<Workload> | undefined;
  for (const stored of core.copy.workloads.values()) {
    const { value } = stored;
    if (value.network !== network || value.namespace !== namespace || !value.name.endsWith('*')) continue;
    const isLonger = best === undefined || value.name.length > best.value.name.length;
    if (isLonger && name.startsWith(value.name.slice(0, -1))) best = stored;
  }
  return best;
}

export const nameOf = ({ namespace, name }: Workload): string => `${namespace}/${name}`;

/** The workload whose static address it is, or for one of whose sticky pods it is kept. */
export function keptFor(core: Core, network: string, address: string): string | undefined {
  return core.kept.get(`${network} ${address}`);
}

/** All addresses that workloads keep, with whose they are. Looks at every workload. */
export function keptAddresses({ copy }: Core): Map<string, string> {
  const kept = new Map<string, string>();
  for (const { value } of copy.workloads.values()) {
    const assigned = value.sticky ? Object.values(value.assigned).flat() : [];
    for (const address of [...value.addresses, ...assigned]) {
      kept.set(`${value.network} ${formatAddress(parseAddress(address))}`, nameOf(value));
    }
  }
  return kept;
}
