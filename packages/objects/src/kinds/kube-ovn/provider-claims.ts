/** Interfaces of nodes that ProviderNetworks claim. Pure. */
import { providerInterface } from './annotation-names.js';

interface Spec {
  readonly defaultInterface: string;
  readonly customInterfaces: readonly { readonly interface: string; readonly nodes: readonly string[] }[];
  readonly excludeNodes: readonly string[];
}

/** The parts of a ProviderNetwork that are read here. */
interface Network {
  readonly metadata: { readonly name: string };
  readonly spec: Spec;
}

/**
 * Why one network cannot be beside another one: both claim an interface of a node that one of them names, or of every node. Where
 * they exclude nodes, that is for the nodes to see: which ones there are is not known here.
 */
export function refuseProvider(own: Network, other: Network): string | undefined {
  const found = findShared(own.spec, other.spec);
  if (found === undefined) return undefined;
  return `${found.link} is the interface of ProviderNetwork ${other.metadata.name} ${found.where} already`;
}

function findShared(own: Spec, other: Spec): { readonly link: string; readonly where: string } | undefined {
  const node = namedNodes(own, other).find(
    (name) => providerInterface(own, name) === providerInterface(other, name),
  );
  if (node !== undefined) return { link: providerInterface(own, node), where: `on the node ${node}` };
  const areForAll = [own, other].every(isForAll) && own.defaultInterface === other.defaultInterface;
  return areForAll ? { link: own.defaultInterface, where: 'on every node' } : undefined;
}

/** Nodes with an interface of their own in one of them, and excluded from neither. */
function namedNodes(own: Spec, other: Spec): string[] {
  const excluded = new Set([...own.excludeNodes, ...other.excludeNodes]);
  const named = [own, other].flatMap(({ customInterfaces }) =>
    customInterfaces.flatMap(({ nodes }) => nodes),
  );
  return named.filter((name) => !excluded.has(name));
}

const isForAll = ({ customInterfaces, excludeNodes }: Spec): boolean =>
  customInterfaces.length + excludeNodes.length === 0;
