import { parseQuantity } from '@podwire/apimachinery';
import { isNodeCritical } from '../admission/index.js';
import type { Container, Pod } from '@podwire/pod-spec';

/** The resources of a container's processes, in the kernel's units (cgroups v1, Documentation/scheduler). */
export interface ContainerLimits {
  /** 2 … 262144; 1024 is a processor's worth. */
  readonly cpuShares: bigint;
  /** Microseconds in each period; 0 is without limit. */
  readonly cpuQuota: bigint;
  readonly cpuPeriod: bigint;
  /** Bytes; 0 is without limit. */
  readonly memoryBytes: bigint;
  readonly oomScoreAdjustment: bigint;
}

export interface LimitOptions {
  /** Fixed for all: 0 where CAP_SYS_RESOURCE is missing and no score can be lowered. By quality of service when absent. */
  readonly oomScoreAdjustment?: number;
  /** Of the machine; without it a container that asks for less than it may have gets the middle of its range. */
  readonly memoryBytes?: bigint;
}

/** As processors are counted: 1500 is one and a half. */
function parseMilli(text: string): bigint | undefined {
  return parseQuantity(text, 1000n);
}

const period = 100_000n;
const fewestShares = 2n;
const mostShares = 262_144n;
/** Below a millisecond the kernel refuses a quota. */
const smallestQuota = 1000n;

export function containerLimits(pod: Pod, container: Container, options: LimitOptions): ContainerLimits {
  const { limits = {}, requests = {} } = container.resources;
  const cpuLimit = parseMilli(limits['cpu'] ?? '0') ?? 0n;
  const cpuRequest = parseMilli(requests['cpu'] ?? limits['cpu'] ?? '0') ?? 0n;
  return {
    cpuShares: toShares(cpuRequest),
    cpuQuota: toQuota(cpuLimit),
    cpuPeriod: period,
    memoryBytes: parseQuantity(limits['memory'] ?? '0') ?? 0n,
    oomScoreAdjustment: oomScoreAdjustment(pod, container, options),
  };
}

function toShares(milli: bigint): bigint {
  const shares = (milli * 1024n) / 1000n;
  if (shares < fewestShares) return fewestShares;
  return shares > mostShares ? mostShares : shares;
}

function toQuota(milli: bigint): bigint {
  if (milli <= 0n) return 0n;
  const quota = (milli * period) / 1000n;
  return quota < smallestQuota ? smallestQuota : quota;
}

export type QualityOfService = 'Guaranteed' | 'Burstable' | 'BestEffort';

/** Kubernetes' classes: all limits given and equal to the requests, some given, none given. */
export function qualityOfService({ spec }: Pick<Pod, 'spec'>): QualityOfService {
  const containers = [...spec.initContainers, ...spec.containers];
  const given = containers.some(
    ({ resources }) => hasAmounts(resources.limits) || hasAmounts(resources.requests),
  );
  if (!given) return 'BestEffort';
  return containers.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
}

const counted = ['cpu', 'memory'] as const;

function hasAmounts(amounts: Readonly<Record<string, string>> | undefined): boolean {
  return counted.some((name) => (parseMilli(amounts?.[name] ?? '0') ?? 0n) > 0n);
}

function isGuaranteed({ resources: { limits = {}, requests = {} } }: Container): boolean {
  return counted.every((name) => {
    const limit = parseMilli(limits[name] ?? '0') ?? 0n;
    const request = parseMilli(requests[name] ?? limits[name] ?? '0');
    return limit > 0n && limit === request;
  });
}

/**
 * The kubelet's numbers (pkg/kubelet/qos, policy.go): what the node needs and guaranteed pods die last, pods without any request
 * first.
 */
function oomScoreAdjustment(pod: Pod, container: Container, options: LimitOptions): bigint {
  if (options.oomScoreAdjustment !== undefined) return BigInt(options.oomScoreAdjustment);
  const quality = qualityOfService(pod);
  if (quality === 'Guaranteed' || isNodeCritical(pod)) return -997n;
  if (quality === 'BestEffort') return 1000n;
  return burstableScore(container, options.memoryBytes);
}

function burstableScore({ resources }: Container, machine: bigint | undefined): bigint {
  if (machine === undefined || machine <= 0n) return 500n;
  const request = parseQuantity(resources.requests?.['memory'] ?? resources.limits?.['memory'] ?? '0') ?? 0n;
  const score = 1000n - (1000n * request) / machine;
  if (score < 3n) return 3n;
  return score > 999n ? 999n : score;
}
