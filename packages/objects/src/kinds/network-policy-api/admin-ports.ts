/** Ports as `policy.networking.k8s.io/v1alpha1` writes them. */
import { z } from 'zod';
import { isExactlyOne, portName, portNumber, protocol } from '../shared/text.js';
import { type EgressPeer, hasPeersWithoutPorts } from './peers.js';

const number = z.strictObject({
  protocol: protocol.default('TCP').describe('TCP, UDP or SCTP.'),
  port: portNumber.describe('The number.'),
});

const range = z
  .strictObject({
    protocol: protocol.default('TCP').describe('TCP, UDP or SCTP.'),
    start: portNumber.describe('The first port.'),
    end: portNumber.describe('The last port.'),
  })
  .refine(({ start, end }) => start <= end, { path: ['end'], error: 'must not be below `start`' });

const port = z
  .strictObject({
    portNumber: number.optional().describe('One port.'),
    portRange: range.optional().describe('Ports from `start` to `end`.'),
    namedPort: portName.optional().describe('A port of the destination’s pod by its name.'),
  })
  .refine(isExactlyOne, { error: 'must have exactly one of portNumber, portRange and namedPort' });

export const ports = z
  .array(port)
  .min(1)
  .max(100)
  .optional()
  .describe('Ports of the destination, any of them. Absent: all traffic.');

export type AdminPort = z.output<typeof port>;

/** The rule of the API's own schema about named ports. */
export const keepsNamedPorts = (rule: {
  readonly to: readonly EgressPeer[];
  readonly ports?: readonly AdminPort[] | undefined;
}): boolean =>
  !hasPeersWithoutPorts(rule.to) || (rule.ports ?? []).every(({ namedPort }) => namedPort === undefined);

export const namedPortProblem = {
  path: ['ports'],
  error: 'must name no port where a peer is `nodes` or `networks`, which have no named ports',
};
