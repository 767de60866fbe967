import { parseQuantity } from '@podwire/apimachinery';
import type { Bandwidth } from '@podwire/cni';

/** "Ingress" is what comes to the pod. */
export const bandwidthAnnotations = {
  ingressRate: 'kubernetes.io/ingress-bandwidth',
  egressRate: 'kubernetes.io/egress-bandwidth',
} as const;

/** The limits of kubelet: 1 kbit/s and 1 Pbit/s (`pkg/util/bandwidth`). */
const leastRate = 1_000n;
const mostRate = 10n ** 15n;

/**
 * Kubelet passes this where the pod asks for nothing. Debian's `bandwidth` refuses a rate without a burst; the node agent takes this
 * number for "none given" and has a default that really shapes short transfers.
 */
const burst = 2_147_483_647;

/** The problem of an annotation. */
export interface RateProblem {
  readonly annotation: string;
  /** `must be a quantity …, is "fast"`. */
  readonly message: string;
}

export interface BandwidthReading {
  /** Bits per second and bits. Absent when nothing (valid) is asked for. */
  readonly bandwidth?: Bandwidth;
  readonly problems: readonly RateProblem[];
}

/** Rates out of a pod's annotations, as quantities of Kubernetes in bits per second. */
export function readBandwidth(annotations: Readonly<Record<string, unknown>>): BandwidthReading {
  const ingress = readRate(annotations, bandwidthAnnotations.ingressRate);
  const egress = readRate(annotations, bandwidthAnnotations.egressRate);
  const bandwidth: Bandwidth = {
    ...(ingress.rate === undefined ? {} : { ingressRate: ingress.rate, ingressBurst: burst }),
    ...(egress.rate === undefined ? {} : { egressRate: egress.rate, egressBurst: burst }),
  };
  const problems = [...ingress.problems, ...egress.problems];
  return { problems, ...(Object.keys(bandwidth).length === 0 ? {} : { bandwidth }) };
}

interface RateReading {
  readonly rate?: number;
  readonly problems: readonly RateProblem[];
}

function readRate(annotations: Readonly<Record<string, unknown>>, annotation: string): RateReading {
  const value = annotations[annotation];
  // A value that is no text is a matter of the manifest as a whole.
  if (typeof value !== 'string') return { problems: [] };
  const rate = parseQuantity(value);
  const problem = (message: string): RateReading => ({ problems: [{ annotation, message }] });
  if (rate === undefined)
    return problem(`must be a quantity in bits per second such as 10M, is ${JSON.stringify(value)}`);
  if (rate < leastRate || rate > mostRate)
    return problem(`must lie between 1k and 1P bits per second, is ${value}`);
  return { rate: Number(rate), problems: [] };
}
