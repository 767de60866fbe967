/** Decisions where a network's model enforces no policy: there the model alone keeps pods apart. */
import { containsAddress, parseAddress, parsePrefix, type Prefix } from '@podwire/addresses';
import type { PodIdentity } from '@podwire/network-contract';
import type { Read } from '@podwire/planner';
import type { Connection, Decision } from '@podwire/policy';
import { enforcesPolicy, type Network } from '../../networks.js';
import type { Decide } from '../contract.js';

type NetworkPart = Pick<Network, 'view' | 'model'>;

export interface ModelKnowledge {
  readonly networks: readonly NetworkPart[];
  /** Facts that models resolve pods from. */
  readonly read: Read;
  readonly podAt: (address: string) => PodIdentity | undefined;
}

const apart: Decision = { verdict: 'deny', reason: 'apart' };
const unenforced: Decision = { verdict: 'allow', reason: 'unenforced' };

/** Leaves out what is not enforced at an end, and adds what the model of both ends keeps apart. Pure. */
export function withModels(decide: Decide, knowledge: ModelKnowledge): Decide {
  const unguarded = knowledge.networks
    .filter((network) => !enforcesPolicy(network))
    .map((network) => ({ network, pools: network.view.pools.map(({ cidr }) => parsePrefix(cidr)) }));
  if (unguarded.length === 0) return decide;
  return (connection) => {
    const [from, to] = [
      findNetwork(unguarded, connection.source),
      findNetwork(unguarded, connection.destination),
    ];
    if (from === undefined && to === undefined) return decide(connection);
    if (from !== undefined && from === to && isApart(from, connection, knowledge))
      return { verdict: 'deny', ingress: apart };
    const { egress, ingress } = decide(connection);
    const kept = {
      egress: from === undefined ? egress : unenforced,
      ingress: to === undefined ? ingress : unenforced,
    };
    const isDenied = kept.egress?.verdict === 'deny' || kept.ingress?.verdict === 'deny';
    return { verdict: isDenied ? 'deny' : 'allow', ...kept };
  };
}

interface Unguarded {
  readonly network: NetworkPart;
  readonly pools: readonly Prefix[];
}

function findNetwork(networks: readonly Unguarded[], text: string): NetworkPart | undefined {
  const address = parseAddress(text);
  return networks.find(({ pools }) => pools.some((pool) => containsAddress(pool, address)))?.network;
}

/** Ends that are not known, or belong to nothing yet, are taken for open. */
function isApart(
  { model, view }: NetworkPart,
  { source, destination }: Connection,
  { read, podAt }: Pick<ModelKnowledge, 'read' | 'podAt'>,
): boolean {
  const [from, to] = [podAt(source), podAt(destination)];
  if (from === undefined || to === undefined || model.resolve === undefined) return false;
  try {
    return model.reaches?.(model.resolve(from, view, read), model.resolve(to, view, read)) === false;
  } catch {
    return false;
  }
}
