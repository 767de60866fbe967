/** A node with a client and a server, each behind a link of its own, and a port that the last of many rules opens for the client. */
import fs from 'node:fs';
import type { PrivateHost, TestNamespace } from '@podwire/testkit';
import { createPrivateHost } from '@podwire/testkit';

export interface PolicedPods {
  readonly node: PrivateHost;
  readonly client: TestNamespace;
  readonly server: TestNamespace;
  /** Of the server, IPv4. */
  readonly address: string;
  readonly port: number;
  close(): Promise<void>;
}

export async function createNode(name: string): Promise<PrivateHost> {
  const node = await createPrivateHost({ name });
  for (const key of ['net/ipv4/ip_forward', 'net/ipv6/conf/all/forwarding'])
    node.namespace.inside(() => fs.writeFileSync(`/proc/sys/${key}`, '1'));
  return node;
}

const firstPort = 8_000;

/** One rule of many: from which other pod, to which port. The last is for the client; all others are for pods that send nothing. */
export interface AllowedFlow {
  readonly source: string;
  readonly port: number;
}

export const describeFlows = (count: number, client: string): AllowedFlow[] =>
  Array.from({ length: count }, (_, index) => ({
    source: index === count - 1 ? client : `10.99.${index >> 8}.${index & 255}`,
    port: firstPort + index,
  }));
