import {
  decidePath,
  hostEndpointsByLink,
  type HostInspection,
  type PodInspection,
  type PolicyCompiler,
} from '@podwire/policy';
import type { Decide } from '../contract.js';
import type { PolicyInputs } from '../inputs/inputs.js';

interface Own {
  readonly node: string;
  readonly failsafes: HostInspection['failsafes'];
}

type Facts = Pick<PolicyInputs, 'podAt' | 'nodeAt' | 'isLocal'> & {
  readonly hosts: Pick<PolicyInputs['hosts'], 'linkOf' | 'linkToPods'>;
};

/** For connections of one moment: what applies to a pod is looked up once. */
export function createDecider(
  compiler: Pick<PolicyCompiler, 'inspect' | 'state'>,
  inputs: Facts,
  own: Own,
): Decide {
  const inspected = new Map<string, PodInspection | undefined>();
  const inspect = (address: string): PodInspection | undefined => {
    const pod = inputs.podAt(address);
    if (pod === undefined) return undefined;
    if (!inspected.has(pod)) inspected.set(pod, compiler.inspect(pod));
    return inspected.get(pod);
  };
  const findHost = createHostFinder(compiler, inputs, own);
  const linkTo = (address: string): string | undefined =>
    inputs.podAt(address) === undefined ? undefined : inputs.hosts.linkToPods;
  return (connection) => {
    const { source, destination } = connection;
    return decidePath({
      ...{ connection, source: inspect(source), destination: inspect(destination) },
      sourceNode: inputs.nodeAt(source),
      sourceHost: findHost(source, destination, linkTo(destination)),
      destinationHost: findHost(destination, source),
    });
  };
}

/** Only for this node: the host endpoints of others are not compiled here. The node and its own pods are not parted by them. */
function createHostFinder(
  compiler: Pick<PolicyCompiler, 'state'>,
  inputs: Facts,
  { node, failsafes }: Own,
): (address: string, other: string, link?: string) => HostInspection | undefined {
  const byLink = hostEndpointsByLink(compiler.state.endpoints.values());
  const isOwn = (address: string): boolean => inputs.isLocal(address) || inputs.nodeAt(address) === node;
  return (address, other, link = inputs.hosts.linkOf(address) ?? '*') => {
    if (byLink.size === 0 || inputs.nodeAt(address) !== node || isOwn(other)) return undefined;
    const endpoint = byLink.get(link) ?? byLink.get('*');
    return endpoint && { endpoint, view: compiler.state, failsafes };
  };
}
