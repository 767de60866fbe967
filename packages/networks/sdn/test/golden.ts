import { fileURLToPath } from 'node:url';
import { type Flow, formatFlow } from '@podwire/openflow';
import { RULE_VERSION } from '@podwire/network-sdn';
import { type ClusterOptions, podOf } from './cluster.js';

interface GoldenCase {
  readonly name: string;
  readonly options: ClusterOptions;
}

const cluster = { nodes: 2, pods: [podOf(1, 0, 42), podOf(1, 1, 0)] };

/** Small nodes whose flows are written down. */
export const goldenCases: readonly GoldenCase[] = [
  { name: 'subnet', options: { ...cluster, mode: 'subnet', migrates: true } },
  { name: 'multitenant', options: { ...cluster, mode: 'multitenant', multicast: [42] } },
  {
    name: 'multitenant-netdev',
    options: { ...cluster, mode: 'multitenant', datapath: 'netdev', multicast: [42] },
  },
];

/** Vitest runs the sources, node:test what is built from them: the lists stand beside the sources. */
export const goldenFile = (name: string): string =>
  fileURLToPath(new URL(`../test/golden/v${RULE_VERSION}-${name}.txt`, import.meta.url)).replace(
    '/dist/',
    '/',
  );

/** Flows as text, in the order in which packets meet them. */
export function listFlows(flows: readonly Flow[]): string[] {
  const rank = ({ table = 0, priority = 0 }: Flow): number => table * 0x1_0000 - priority;
  return [...flows].sort((a, b) => rank(a) - rank(b)).map(formatFlow);
}
