import { parseQuantity } from '@podwire/apimachinery';
import { type Container, isSidecar, type Pod } from '@podwire/pod-spec';

/** In thousandths of a processor, and in bytes. */
export interface Amounts {
  readonly cpu: bigint;
  readonly memory: bigint;
}

export const nothing: Amounts = { cpu: 0n, memory: 0n };

/** Each pod that comes is held against all that are there, and pods never change. */
const known = new WeakMap<object, Amounts>();

/**
 * The resources that a pod asks of its node at once: its containers and sidecars together, or one of its init containers beside the sidecars
 * before it, whichever is more; and its overhead (Kubernetes API, PodRequests).
 */
export function podRequests(pod: Pick<Pod, 'spec'>): Amounts {
  const amounts = known.get(pod) ?? readRequests(pod);
  known.set(pod, amounts);
  return amounts;
}

function readRequests({ spec }: Pick<Pod, 'spec'>): Amounts {
  let sidecars = nothing;
  let most = nothing;
  for (const container of spec.initContainers) {
    const beside = add(sidecars, requestsOf(container));
    if (isSidecar(container)) sidecars = beside;
    most = maximum(most, beside);
  }
  const running = spec.containers.map(requestsOf).reduce(add, sidecars);
  return add(maximum(most, running), overheadOf(spec['overhead']));
}

function requestsOf({ resources: { requests = {} } }: Container): Amounts {
  return amountsOf(requests);
}

function overheadOf(overhead: unknown): Amounts {
  return typeof overhead === 'object' && overhead !== null
    ? amountsOf(overhead as Record<string, unknown>)
    : nothing;
}

function amountsOf(amounts: Readonly<Record<string, unknown>>): Amounts {
  const read = (name: string, parts: bigint): bigint => {
    const amount = amounts[name];
    return (typeof amount === 'string' ? parseQuantity(amount, parts) : undefined) ?? 0n;
  };
  return { cpu: read('cpu', 1000n), memory: read('memory', 1n) };
}

export function add(one: Amounts, other: Amounts): Amounts {
  return { cpu: one.cpu + other.cpu, memory: one.memory + other.memory };
}

function maximum(one: Amounts, other: Amounts): Amounts {
  return {
    cpu: one.cpu > other.cpu ? one.cpu : other.cpu,
    memory: one.memory > other.memory ? one.memory : other.memory,
  };
}
