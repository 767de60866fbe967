/** The store is always within reach: without it nothing would ever open a link again that policy has closed. */
import type { FailsafePort } from '@podwire/network-policy';

interface Configured {
  readonly failsafeOutbound: readonly FailsafePort[];
}

const usualPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** @param store as in the configuration; endpoints are URLs; absent on a node that is alone */
export function withStorePorts<C extends Configured>(config: C, store: object | undefined): C {
  const endpoints = store !== undefined && 'endpoints' in store ? (store.endpoints as readonly string[]) : [];
  const known = new Set(config.failsafeOutbound.map(({ protocol, port }) => `${protocol}:${port}`));
  const ports = new Set(endpoints.map(portOf).filter((port) => !known.has(`tcp:${port}`)));
  const own = [...ports].map((port): FailsafePort => ({ protocol: 'tcp', port }));
  return { ...config, failsafeOutbound: [...config.failsafeOutbound, ...own] };
}

function portOf(endpoint: string): number {
  const { protocol, port } = new URL(endpoint);
  return port === '' ? (usualPorts[protocol] ?? 443) : Number(port);
}
