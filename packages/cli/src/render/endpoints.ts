/** Ports and rates of pods for people. */
import { bracketHost } from '@podwire/addresses';
import type { EndpointView } from '../api/shapes.js';

/** `8080→80/tcp` */
export function describePorts(mappings: EndpointView['portMappings']): string {
  const texts = mappings.map(({ hostIP, hostPort, containerPort, protocol }) => {
    const host = hostIP === undefined ? '' : `${bracketHost(hostIP)}:`;
    return `${host}${hostPort}→${containerPort}/${protocol}`;
  });
  return texts.join(' ') || '-';
}

/** `10M in, 5M out`, in bits per second. */
export function describeRates({
  ingressRate,
  egressRate,
}: NonNullable<EndpointView['bandwidth']> = {}): string {
  const texts = [
    ...(ingressRate === undefined ? [] : [`${formatRate(ingressRate)} in`]),
    ...(egressRate === undefined ? [] : [`${formatRate(egressRate)} out`]),
  ];
  return texts.join(', ') || '-';
}

export function formatRate(bits: number): string {
  const [factor, unit] = (
    [
      [1e9, 'G'],
      [1e6, 'M'],
      [1e3, 'k'],
    ] as const
  ).find(([size]) => bits >= size) ?? [1, ''];
  return `${Number((bits / factor).toPrecision(3))}${unit}`;
}
