/** `networks[].options`: what OpenShift has in its ClusterNetwork. */
import { formatPrefix, overlaps, parsePrefix } from '@podwire/addresses';
import type { NetworkView } from '@podwire/network-contract';
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
  /** How projects are kept apart: `subnet` not at all, `multitenant` each by its VNID. */
  mode: z.enum(['subnet', 'multitenant']).default('multitenant'),
  /** The addresses of all pods of the cluster: every HostSubnet is in one of them. */
  clusterNetworks: z.array(prefix).min(1),
  /** The addresses of services. */
  serviceNetwork: prefix,
  /** UDP port of tunnels, the same on all nodes. */
  vxlanPort: z.int().min(1).max(65_535).default(4789),
  /** `system` needs the kernel's module openvswitch, `netdev` does without. */
  datapath: z.enum(['system', 'netdev']).default('system'),
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
