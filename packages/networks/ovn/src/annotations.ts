/** Annotations of a pod that its node reads. */
import { PodwireError } from '@podwire/errors';
import type { AddressRequest, Annotations, Bandwidth } from '@podwire/network-contract';
import {
  annotationNames,
  answeringAnnotations,
  formatRate,
  isOvnAnnotation,
  parseRate,
  rateAnnotations,
} from '@podwire/objects/kube-ovn-names';
import { compact } from '@podwire/platform';

/**
 * Annotations by which a pod asks for something. They come before the addresses, the MAC and the rates that its runtime asks for.
 * @throws PodwireError REQUEST_INVALID for what is no rate
 */
export function askFor({ annotations, addresses, mac, bandwidth }: AddressRequest): Annotations {
  const own = Object.entries(annotations).filter(
    ([name]) => isOvnAnnotation(name) && !answeringAnnotations.has(name),
  );
  checkRates(annotations);
  return {
    ...(addresses.length === 0 ? {} : { [annotationNames.addresses]: addresses.join(',') }),
    ...(mac === undefined ? {} : { [annotationNames.mac]: mac }),
    ...writeRates(bandwidth),
    ...Object.fromEntries(own),
  };
}

function checkRates(annotations: Annotations): void {
  for (const name of rateAnnotations) {
    const text = annotations[name] ?? '';
    if (text === '' || parseRate(text) !== undefined) continue;
    const message = `annotation ${name}: ${JSON.stringify(text)} is not a rate in Mbit/s`;
    throw new PodwireError('REQUEST_INVALID', message);
  }
}

/** Rates of a pod in bit/s; 0 is none. */
export type Rates = Pick<Bandwidth, 'ingressRate' | 'egressRate'>;

/** Without those that the annotations do not have, or that are no rates. */
export const readRates = (annotations: Annotations): Rates =>
  compact({
    ingressRate: parseRate(annotations[annotationNames.ingressRate] ?? ''),
    egressRate: parseRate(annotations[annotationNames.egressRate] ?? ''),
  });

export const writeRates = ({ ingressRate, egressRate }: Rates = {}): Annotations =>
  compact({
    [annotationNames.ingressRate]: writeRate(ingressRate),
    [annotationNames.egressRate]: writeRate(egressRate),
  });

const writeRate = (rate?: number): string | undefined => (rate === undefined ? undefined : formatRate(rate));
