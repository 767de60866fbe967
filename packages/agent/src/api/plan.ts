/** What an ADD would do, without doing it. */
import { parseRequest } from '@podwire/cni';
import type { Resource } from '@podwire/engine';
import { PodwireError } from '@podwire/errors';
import { z } from 'zod';
import type { EndpointContext } from '../endpoints/context.js';
import { draftEndpoint, wantedFamilies } from '../endpoints/draft.js';
import type { AgentRecord } from '../endpoints/registry.js';
import { endpointIdOf, readWish } from '../endpoints/wish.js';
import { chooseNetwork } from '../networks.js';

/** The body of POST /v1/plan: an ADD, everything of it optional. */
const planBody = z.strictObject({
  containerId: z.string().default('plan'),
  ifName: z.string().default('eth0'),
  netns: z.string().default('/run/netns/plan'),
  /** `K=V;K=V`, as in CNI_ARGS. */
  args: z.string().default(''),
  /** The plugin's configuration, with `runtimeConfig` for port mappings and the like. */
  config: z.record(z.string(), z.unknown()).default({}),
});

export interface Plan {
  /** The network of the agent's configuration. */
  readonly network: string;
  readonly addresses: readonly string[];
  /** What the node itself would get besides, such as the route of a new block. */
  readonly node: readonly Resource[];
  readonly resources: readonly Resource[];
  readonly answer: unknown;
}

/**
 * Plans as ADD would, on a copy of the addresses; which address the pod gets in the end may differ.
 * @throws CniError, PodwireError as ADD does
 */
export function planAdd(context: EndpointContext, body: unknown): Plan {
  const request = readRequest(body);
  const network = chooseNetwork(context.networks, request.config);
  const wish = readWish(request);
  const id = endpointIdOf(request);
  const ipam = network.copyIpam();
  const view = () => ({ ...context.node.view(network), blocks: ipam.blocks() });
  context.ports.check(id, wish.portMappings, wantedFamilies(wish, network, view()));
  const before = new Set(
    network.model.planNode(context.node.view(network)).map((each) => JSON.stringify(each)),
  );
  const draft: AgentRecord = draftEndpoint(
    { id, network, wish, namespace: { path: request.netns, device: 0, inode: 0 } },
    {
      ipam,
      view,
      random: context.random,
      now: context.clock(),
      isLinkTaken: (name) => context.endpoints.ofLink(name) !== undefined,
    },
  );
  return {
    network: network.view.name,
    addresses: draft.leases.map(({ address }) => address),
    node: network.model.planNode(view()).filter((each) => !before.has(JSON.stringify(each))),
    resources: draft.resources,
    answer: draft.answer,
  };
}

function readRequest(body: unknown) {
  const parsed = planBody.safeParse(body ?? {});
  if (!parsed.success) throw new PodwireError('REQUEST_INVALID', z.prettifyError(parsed.error));
  const { containerId, ifName, netns, args, config } = parsed.data;
  const environment = {
    CNI_COMMAND: 'ADD',
    CNI_CONTAINERID: containerId,
    CNI_IFNAME: ifName,
    CNI_NETNS: netns,
    CNI_ARGS: args,
    CNI_PATH: '/',
  };
  const complete = { cniVersion: '1.1.0', name: 'podwire', type: 'podwire-cni', ...config };
  const request = parseRequest(environment, Buffer.from(JSON.stringify(complete)));
  if (request.command === 'ADD') return request;
  throw new PodwireError('INTERNAL', 'an ADD was read as something else');
}
