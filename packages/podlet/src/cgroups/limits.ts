/** The limits of a whole pod, as the kubelet computes them: requests together, and a limit where every container has one. */
import type { Pod } from '@podwire/pod-spec';
import { type ContainerLimits, containerLimits } from '../runtime-config/resources.js';

export interface PodLimits {
  readonly cpuShares: bigint;
  /** Microseconds in each period; 0 is without limit. */
  readonly cpuQuota: bigint;
  readonly cpuPeriod: bigint;
  /** Bytes; 0 is without limit. */
  readonly memoryBytes: bigint;
}

const fewestShares = 2n;

/** Init containers run before the others, one at a time; sidecars stay, so they are counted with the others. */
export function podLimits(pod: Pod): PodLimits {
  const { containers, initContainers } = pod.spec;
  const limitsOf = (list: Pod['spec']['containers']) =>
    list.map((container) => containerLimits(pod, container, {}));
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always');
  const staying = limitsOf([...containers, ...sidecars]);
  const first = limitsOf(initContainers.filter((one) => !sidecars.includes(one)));
  const amount = (of: (limits: ContainerLimits) => bigint): bigint =>
    [sum(staying.map(of)), ...first.map(of)].reduce((most, each) => (each > most ? each : most));
  const limit = (of: (limits: ContainerLimits) => bigint): bigint =>
    [...staying, ...first].every((each) => of(each) > 0n) ? amount(of) : 0n;
  const shares = amount(({ cpuShares }) => cpuShares);
  return {
    cpuShares: shares < fewestShares ? fewestShares : shares,
    cpuQuota: limit(({ cpuQuota }) => cpuQuota),
    cpuPeriod: 100_000n,
    memoryBytes: limit(({ memoryBytes }) => memoryBytes),
  };
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, each) => total + each, 0n);
}
