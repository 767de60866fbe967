/** A rule of Calico's policies and profiles. */
import { z } from 'zod';
import { annotations } from '../shared/text.js';
import { destinationEntity, sourceEntity } from './entity.js';
import { calicoProtocol, protocolNumbers, readProtocol, unsupported } from './text.js';

const icmp = z
  .strictObject({
    type: z.int().min(0).max(254).optional().describe('The type: 8 is an echo request of IPv4.'),
    code: z.int().min(0).max(255).optional().describe('The code; needs a type.'),
  })
  .refine(({ type, code }) => code === undefined || type !== undefined, {
    path: ['code'],
    error: 'needs `type`',
  });

const fields = z.strictObject({
  action: z
    .enum(['Allow', 'Deny', 'Pass', 'Log'])
    .describe('Allow and Deny decide. Pass goes on with the next tier. Log writes a line and goes on.'),
  ipVersion: z
    .union([z.literal(4), z.literal(6)])
    .optional()
    .describe('Only packets of IPv4, or of IPv6.'),
  protocol: calicoProtocol.optional().describe('TCP, UDP, ICMP, ICMPv6, SCTP, UDPLite, or a number.'),
  notProtocol: calicoProtocol.optional().describe('Any protocol but this.'),
  icmp: icmp.optional().describe('Type and code of ICMP; needs the protocol ICMP or ICMPv6.'),
  notICMP: icmp.optional().describe('Any other type and code; needs the protocol ICMP or ICMPv6.'),
  source: sourceEntity.optional().describe('Who the packet is from. Absent: anyone.'),
  destination: destinationEntity.optional().describe('Who the packet is for. Absent: anyone.'),
  metadata: z
    .strictObject({ annotations: annotations.optional().describe('Notes.') })
    .optional()
    .describe('Notes of people and programs. Podwire does nothing with them.'),
  http: unsupported('what is in a connection is not looked at'),
});

type Fields = z.output<typeof fields>;
type Problem = readonly [path: readonly (string | number)[], message: string];

const { TCP, UDP, SCTP, ICMP, ICMPv6 } = protocolNumbers;

const hasPorts = (protocol: number | undefined): boolean =>
  protocol !== undefined && ([TCP, UDP, SCTP] as readonly number[]).includes(protocol);

function* findProblems(rule: Fields): Generator<Problem> {
  const protocol = rule.protocol === undefined ? undefined : readProtocol(rule.protocol);
  const isIcmp = protocol === ICMP || protocol === ICMPv6;
  if (rule.icmp !== undefined && !isIcmp) yield [['icmp'], 'needs the protocol ICMP or ICMPv6'];
  if (rule.notICMP !== undefined && !isIcmp) yield [['notICMP'], 'needs the protocol ICMP or ICMPv6'];
  yield* findFamilyProblems(rule);
  for (const [path, ports] of portLists(rule))
    if (ports !== undefined && ports.length > 0 && !hasPorts(protocol))
      yield [path, 'needs the protocol TCP, UDP or SCTP'];
}

function* findFamilyProblems({ ipVersion, protocol, notProtocol }: Fields): Generator<Problem> {
  for (const [field, word] of [
    ['protocol', protocol],
    ['notProtocol', notProtocol],
  ] as const) {
    const number = word === undefined ? undefined : readProtocol(word);
    if (number === ICMP && ipVersion === 6) yield [[field], 'is ICMP, which is of `ipVersion: 4`'];
    if (number === ICMPv6 && ipVersion === 4) yield [[field], 'is ICMPv6, which is of `ipVersion: 6`'];
  }
}

const portLists = ({ source = {}, destination = {} }: Fields) =>
  [
    [['source', 'ports'], source.ports],
    [['source', 'notPorts'], source.notPorts],
    [['destination', 'ports'], destination.ports],
    [['destination', 'notPorts'], destination.notPorts],
  ] as const;

const rule = fields.superRefine((read, context) => {
  for (const [path, message] of findProblems(read))
    context.addIssue({ code: 'custom', path: [...path], message });
});

export type CalicoRule = z.output<typeof rule>;

const most = 1024;

const withoutServices = (side: 'source' | 'destination', direction: string) =>
  rule.refine((read) => read[side]?.services === undefined, {
    path: [side, 'services'],
    error: `must not be there in a rule of ${direction}`,
  });

export const ingressRules = z.array(withoutServices('destination', 'ingress')).max(most).optional();
export const egressRules = z.array(withoutServices('source', 'egress')).max(most).optional();
