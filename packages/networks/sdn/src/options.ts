/** `networks[].options`: what OpenShift has in its ClusterNetwork. */
import { formatPrefix, overlaps, parsePrefix } from '@podwire/addresses';
import type { NetworkView, NodeView } from '@podwire/network-contract';
import { z } from 'zod';

const prefix = z.string().superRefine((text, context) => {
  const problem = problemOf(text);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem, continue: false });
});

function problemOf(text: string): string | undefined {
  try {
    if (parsePrefix(text).family === 6) return `${text} is IPv6, and the model sdn has IPv4 alone`;
    return formatPrefix(parsePrefix(text)) === text ? undefined : `write ${formatPrefix(parsePrefix(text))}`;
  } catch (error) {
    return (error as Error).message;
  }
}

const fields = z.strictObject({
  mode: z.enum(['subnet', 'multitenant']).default('multitenant').meta({
    description: 'How projects are kept apart: `subnet` not at all, `multitenant` each by its VNID.',
  }),
  clusterNetworks: z.array(prefix).min(1).meta({
    description:
      'The addresses of all pods of the cluster, as ADDRESS/LENGTH: every HostSubnet is in one of them.',
    example: '[10.128.0.0/14]',
  }),
  serviceNetwork: prefix.meta({ description: 'The addresses of services.', example: '172.30.0.0/16' }),
  vxlanPort: z
    .int()
    .min(1)
    .max(65_535)
    .default(4789)
    .meta({ description: 'UDP port of tunnels, the same on all nodes.' }),
  datapath: z.enum(['system', 'netdev']).default('system').meta({
    description: "`system` needs the kernel's module openvswitch, `netdev` does without.",
  }),
});

export type SdnOptions = z.infer<typeof fields>;

/** Fields that are wrong have been named: they are not compared. */
export const optionsSchema = fields.superRefine(({ clusterNetworks, serviceNetwork }, context) => {
  const all = [...clusterNetworks, serviceNetwork];
  for (const [index, one] of all.entries()) {
    const other = all.slice(0, index).find((earlier) => overlaps(parsePrefix(earlier), parsePrefix(one)));
    const path = one === serviceNetwork ? ['serviceNetwork'] : ['clusterNetworks', index];
    if (other !== undefined) context.addIssue({ code: 'custom', path, message: `${one} overlaps ${other}` });
  }
});

/** The agent has parsed them. */
export const optionsOf = ({ options }: Pick<NetworkView, 'options'>): SdnOptions => options as SdnOptions;

/** For people. A bridge that has another datapath is made anew. */
export function settings({ network }: Pick<NodeView, 'network'>): Readonly<Record<string, string>> {
  const { mode, datapath } = optionsOf(network);
  return { mode, datapath };
}
