/** Sandboxes that another service made, dockershim or cri-dockerd: left alone, or adopted where that is asked for. */
import { describeError } from '@podwire/errors';
import type { CheckpointPort, SandboxCheckpoint } from '../checkpoint/checkpoint.js';
import type { SandboxContext } from '../context.js';
import type { HostConfig } from '../docker/index.js';
import { parseName } from '../names.js';
import { pinSandbox } from './netns.js';

/** Brings what is known of a sandbox's network over. @returns whether there was anything */
export type AdoptNetwork = (sandboxId: string) => Promise<boolean>;

/**
 * Adopts one, running or not, and changes nothing of it. Its checkpoint comes last: with it, it is this service's after the next start
 * too. One that cannot be adopted stays the other's.
 */
export async function adoptSandbox(
  context: SandboxContext,
  id: string,
  adoptNetwork: AdoptNetwork,
  signal: AbortSignal,
): Promise<void> {
  const { docker, log, owners, checkpoints, networkReady } = context;
  try {
    const { Name, HostConfig, State } = await docker.inspectContainer(id, {}, { signal });
    const hostNetwork = HostConfig.NetworkMode === 'host';
    const hasNetwork = hostNetwork || (await adoptNetwork(id));
    if (!hasNetwork)
      log.warn({ sandbox: id }, 'no CNI result of this sandbox was found: DEL will not be called for it');
    if (!hostNetwork && State.Running) await pinSandbox(context, id, signal);
    await checkpoints.write(id, describe(Name, HostConfig));
    owners.adopt(id);
    if (State.Running) networkReady.set(id, true);
    log.info({ sandbox: id, name: Name }, 'a sandbox of another service is taken over');
  } catch (error) {
    log.warn({ sandbox: id, err: error }, `a sandbox cannot be taken over: ${describeError(error)}`);
  }
}

function describe(name: string, { NetworkMode, PortBindings }: HostConfig): SandboxCheckpoint {
  const { pod = '', namespace = '' } = parseName(name) ?? {};
  return {
    ...{ version: 'v1', name: pod, namespace },
    port_mappings: Object.entries(PortBindings ?? {}).flatMap(([port, bindings]) =>
      (bindings ?? []).map(({ HostPort, HostIp }) => ({
        ...parsePort(port),
        ...{ host_port: Number(HostPort), host_ip: HostIp ?? '' },
      })),
    ),
    host_network: NetworkMode === 'host',
  };
}

/** `80/tcp`. */
function parsePort(text: string): Pick<CheckpointPort, 'container_port' | 'protocol'> {
  const [port, protocol] = text.split('/');
  return {
    container_port: Number(port),
    protocol: protocol === 'udp' || protocol === 'sctp' ? protocol : 'tcp',
  };
}
