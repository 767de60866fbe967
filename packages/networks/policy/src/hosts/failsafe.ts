/** Ports that keep a node within reach and its cluster alive, whatever policy says. */
import type { Resource } from '@podwire/engine';
import type { FailsafePort, Failsafes } from '../contract.js';
import { type Direction, element, set } from '../names.js';

const ports = (protocol: FailsafePort['protocol'], ...list: number[]): FailsafePort[] =>
  list.map((port) => ({ protocol, port }));

/** BGP, etcd, Typha, the API server; DHCP and name service. Felix's `FailsafeInboundHostPorts` and `…Outbound…` have the same. */
const ofCluster = ports('tcp', 179, 2379, 2380, 5473, 6443, 6666, 6667);

export const usualFailsafes: Failsafes = {
  ingress: [...ports('tcp', 22), ...ofCluster, ...ports('udp', 68)],
  egress: [...ofCluster, ...ports('udp', 53, 67)],
};

export const failsafeSet = (direction: Direction): string => `failsafe-${direction}`;

export const planFailsafes = (failsafes: Failsafes): Resource[] =>
  (['ingress', 'egress'] as const).flatMap((direction) => [
    set({ name: failsafeSet(direction), key: ['inet_proto', 'inet_service'] }),
    ...failsafes[direction].map(({ protocol, port }) =>
      element(failsafeSet(direction), [
        { type: 'inet_proto', value: protocol },
        { type: 'inet_service', value: port },
      ]),
    ),
  ]);
