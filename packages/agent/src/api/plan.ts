/** Plans an ADD without doing it. */
import { setImmediate } from 'node:timers/promises';
import { type AttachmentRequest, parseRequest } from '@podwire/cni';
import { type Engine, inApplyOrder, type Resource } from '@podwire/engine';
import { endpointKey } from '@podwire/network-contract';
import { PodwireError } from '@podwire/errors';
import type { Ipam } from '@podwire/ipam';
import { z } from 'zod';
import type { PlanningInput } from '../endpoints/context.js';
import { planEndpoint, wantedFamilies } from '../endpoints/plan-endpoint.js';
import { createHostPorts, type HostPorts } from '../endpoints/host-ports.js';
import { createEndpointRegistry, type EndpointRegistry, podName } from '../endpoints/registry.js';
import { endpointIdOf, podIdentityOf, readAddRequest } from '../endpoints/read-request.js';
import { chooseNetwork, type Network } from '../networks.js';

/** Input of a plan, with the kinds of its resources. */
export type PlanContext = PlanningInput & { readonly engine: Pick<Engine, 'kinds'> };

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
  /** Resources of the node itself that would be added, such as the route of a new block. */
  readonly node: readonly Resource[];
  readonly resources: readonly Resource[];
  readonly answer: unknown;
}

/**
 * Plans as ADD would, on a copy of the addresses, and changes nothing of its input; which address the pod gets in the end
 * may differ.
 * @throws CniError, PodwireError as ADD does
 */
export function planAdd(context: PlanContext, body: unknown): Plan {
  return planAdds(context, [body])[0]!;
}

/**
 * Plans several pods that come one after the other, so each finds what those before it have taken. A pod that is on the
 * node already is planned as if it were not.
 * @throws CniError, PodwireError as ADD does
 */
export function planAdds(context: PlanContext, bodies: readonly unknown[]): Plan[] {
  return [...planEach(context, bodies)];
}

/** A larger list would only keep memory and processor busy: a node has a few hundred pods. */
const maxPlans = 1_000;
/** Plans, some 10 ms, after which the agent looks at what else there is to do. */
const plansInOneTurn = 20;

/**
 * The same for a list from outside: CNI requests are served in between.
 * @throws CniError, PodwireError as ADD does; REQUEST_INVALID for more than 1,000
 */
export async function planAddsInTurns(
  context: PlanContext,
  bodies: readonly unknown[],
  signal: AbortSignal,
): Promise<Plan[]> {
  if (bodies.length > maxPlans) {
    const message = `at most ${maxPlans} ADDs are planned at once, not ${bodies.length}; ask for them in parts`;
    throw new PodwireError('REQUEST_INVALID', message);
  }
  const plans: Plan[] = [];
  for (const plan of planEach(context, bodies)) {
    if (plans.push(plan) % plansInOneTurn === 0) await setImmediate(undefined, { signal });
  }
  return plans;
}

function* planEach(context: PlanContext, bodies: readonly unknown[]): Generator<Plan, void> {
  const requests = bodies.map(readRequest);
  const names = new Set(requests.map((request) => podName({ pod: podIdentityOf(request) })));
  const scratch = copyAllocations(context, names);
  for (const request of requests) yield planOne(context, scratch, request);
}

/** Copies of what an ADD writes into. */
interface Allocations {
  readonly ipams: ReadonlyMap<Network, Ipam>;
  readonly ports: HostPorts;
  readonly endpoints: EndpointRegistry;
}

function copyAllocations(
  { networks, node, endpoints }: PlanningInput,
  without: ReadonlySet<string | undefined>,
): Allocations {
  const ipams = new Map(networks.map((network) => [network, network.copyIpam(node.view(network).blocks)]));
  const allocations: Allocations = { ipams, ports: createHostPorts(), endpoints: createEndpointRegistry() };
  for (const record of endpoints.all()) {
    const name = podName(record);
    if (name !== undefined && without.has(name)) {
      for (const ipam of ipams.values()) ipam.release(endpointKey(record.id));
    } else {
      allocations.endpoints.put(record);
      allocations.ports.claim(record);
    }
  }
  return allocations;
}

function planOne(context: PlanContext, allocations: Allocations, request: AttachmentRequest): Plan {
  const network = chooseNetwork(context.networks, request.config);
  const ipam = allocations.ipams.get(network)!;
  const wanted = readAddRequest(request);
  const id = endpointIdOf(request);
  const own = context.node.view(network);
  // In a cluster the node has blocks in stock, and has them in its kernel already.
  const stock = own.underlay === undefined ? [] : own.blocks;
  const view = () => ({ ...own, blocks: [...new Set([...stock, ...ipam.blocks()])] });
  allocations.ports.check(id, wanted.portMappings, wantedFamilies(wanted, network, view()));
  const before = new Set(network.model.planNode(view()).map((each) => JSON.stringify(each)));
  const record = planEndpoint(
    { id, network, request: wanted, namespace: { path: request.netns, device: 0, inode: 0 } },
    {
      ipam,
      view,
      read: context.desired.read,
      random: context.random,
      now: context.clock(),
      isLinkTaken: (name) => allocations.endpoints.ofLink(name) !== undefined,
    },
  );
  allocations.endpoints.put(record);
  allocations.ports.claim(record);
  return {
    network: network.view.name,
    addresses: record.leases.map(({ address }) => address),
    node: network.model.planNode(view()).filter((each) => !before.has(JSON.stringify(each))),
    // As the engine makes them.
    resources: inApplyOrder(context.engine.kinds, record.resources),
    answer: record.answer,
  };
}

function readRequest(body: unknown): AttachmentRequest {
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
