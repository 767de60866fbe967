/** `networks[].options` of the model. */
import type { NetworkView, NodeView } from '@podwire/network-contract';
import { formatAddress, formatPrefix, parseAddress, parsePrefix } from '@podwire/addresses';
import { z } from 'zod';

const canonical = (format: (text: string) => string) =>
  z.string().superRefine((text, context) => {
    const problem = problemOf(text, format);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });

function problemOf(text: string, format: (text: string) => string): string | undefined {
  try {
    return format(text) === text ? undefined : `write ${format(text)}`;
  } catch (error) {
    return (error as Error).message;
  }
}

const prefix = canonical((text) => formatPrefix(parsePrefix(text)));
const address = canonical((text) => formatAddress(parseAddress(text)));

export const optionsSchema = z.strictObject({
  encapsulation: z.enum(['geneve', 'vxlan']).default('geneve').meta({
    description: 'Of the tunnels between nodes, as ovn-controller has it: the MTU of pods follows from it.',
  }),
  serviceNetworks: z
    .array(prefix)
    .max(16)
    .default(['10.96.0.0/12'])
    .meta({ description: 'The addresses of services, as ADDRESS/LENGTH.' }),
  localDns: z.array(address).max(16).default([]).meta({
    description: 'Addresses of a DNS cache that every node has: pods speak to it with their own.',
  }),
  mirror: z.boolean().default(false).meta({
    description:
      'True: the interface `mirror0` of the node gets a copy of all packets on `br-int`. False: of those that are sent to pods with the annotation `ovn.kubernetes.io/mirror: "true"`.',
  }),
  datapath: z.enum(['system', 'netdev']).default('system').meta({
    description:
      "That of the bridge `br-int`: `system` needs the kernel's module openvswitch, `netdev` does without.",
  }),
});

export type OvnOptions = z.infer<typeof optionsSchema>;

/** The agent has parsed them. */
export const optionsOf = ({ options }: Pick<NetworkView, 'options'>): OvnOptions => options as OvnOptions;

/** For people. */
export function settings({ network }: Pick<NodeView, 'network'>): Readonly<Record<string, string>> {
  const { encapsulation, datapath } = optionsOf(network);
  return { encapsulation, datapath };
}
