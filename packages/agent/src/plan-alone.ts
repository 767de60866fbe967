/** Planning without an agent: from a configuration and requests alone. Looks at nothing else, so it is always the same. */
import { createHash } from 'node:crypto';
import { DesiredState } from '@podwire/desired-state';
import { createIpam } from '@podwire/ipam';
import { silentLog } from '@podwire/platform';
import { resourceKinds } from './resource-kinds.js';
import { type Plan, planAdds } from './api/plan.js';
import type { AgentConfig } from './config/index.js';
import { createEndpointRegistry } from './endpoints/registry.js';
import { indexModels, networkModels } from './models.js';
import { createNetworks } from './networks.js';
import { NodeState } from './node/node.js';
import type { RouterHistory } from './node/router-history.js';

/** State that a node would know of itself. */
export interface SupposedNode {
  /** MTU of the uplink in bytes; 1500 when absent. A network with an `mtu` of its own uses that. */
  readonly mtu?: number;
  /** True when absent. */
  readonly ipv6?: boolean;
}

/**
 * Plans these ADDs on an empty node, one after the other. MAC addresses are made up from their order, so equal
 * input gives equal plans.
 * @param bodies as the body of POST /v1/plan
 * @throws CniError, PodwireError as ADD does
 */
export function planWithoutAgent(
  config: AgentConfig,
  bodies: readonly unknown[],
  { mtu = 1500, ipv6 = true }: SupposedNode = {},
): Plan[] {
  const clock = (): number => 0;
  const networks = createNetworks(config, { models: indexModels(networkModels), createIpam, clock });
  const uplink = { index: 2, name: 'uplink', mtu, up: true, loopback: false, own: false };
  const readHost = () => ({ links: [uplink], defaultRoutes: [], addresses: [], nextHops: [], ipv6 });
  const desired = new DesiredState({ kinds: resourceKinds, log: silentLog });
  const node = new NodeState({
    name: config.nodeName,
    networks,
    kinds: resourceKinds,
    desired,
    readHost,
    routerHistory: freshNode,
  });
  node.rediscover();
  return planAdds(
    {
      networks,
      node,
      desired,
      engine: { kinds: resourceKinds },
      endpoints: createEndpointRegistry(),
      random: countedBytes(),
      clock,
    },
    bodies,
  );
}

/** As a kernel starts: it forwards nothing, and takes routes from routers. */
const freshNode: RouterHistory = {
  look: () => ({ forwarded: { 4: false, 6: false }, bridges: { 4: [], 6: [] }, advertised: ['default'] }),
};

/** Bytes that look random and are the same every time. */
function countedBytes(): (bytes: number) => Uint8Array {
  let count = 0;
  return (bytes) => createHash('sha512').update(String(++count)).digest().subarray(0, bytes);
}
