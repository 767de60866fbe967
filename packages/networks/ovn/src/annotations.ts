/** Annotations of a pod that its node reads. */
import { PodwireError } from '@podwire/errors';
import type { AddressRequest, Annotations, Bandwidth } from '@podwire/network-contract';
import { annotationNames, isOvnAnnotation, parseRate } from '@podwire/objects/kube-ovn-names';

/** A pod that brings these would have given itself its addresses. */
const answers: ReadonlySet<string> = new Set([annotationNames.isAllocated, annotationNames.isRouted]);

/** Annotations by which a pod asks for something. They come before addresses and a MAC that its runtime asks for. */
export function askFor({ annotations, addresses, mac }: AddressRequest): Annotations {
  const own = Object.entries(annotations).filter(([name]) => isOvnAnnotation(name) && !answers.has(name));
  return {
    ...(addresses.length === 0 ? {} : { [annotationNames.addresses]: addresses.join(',') }),
    ...(mac === undefined ? {} : { [annotationNames.mac]: mac }),
    ...Object.fromEntries(own),
  };
}

/**
 * Rates that the annotations ask for, in Mbit/s; 0 is none. Those of the runtime's own capability count where there is no annotation.
 * @throws PodwireError REQUEST_INVALID for what is no rate
 */
export function readBandwidth(annotations: Annotations = {}, bandwidth: Bandwidth = {}): Bandwidth {
  const ingress = readRate(annotations, annotationNames.ingressRate);
  const egress = readRate(annotations, annotationNames.egressRate);
  return {
    ...bandwidth,
    ...(ingress === undefined ? {} : { ingressRate: ingress }),
    ...(egress === undefined ? {} : { egressRate: egress }),
  };
}

function readRate(annotations: Annotations, name: string): number | undefined {
  const text = annotations[name];
  if (text === undefined || text === '') return undefined;
  const rate = parseRate(text);
  if (rate !== undefined) return rate;
  throw new PodwireError(
    'REQUEST_INVALID',
    `annotation ${name}: ${JSON.stringify(text)} is not a rate in Mbit/s`,
  );
}
