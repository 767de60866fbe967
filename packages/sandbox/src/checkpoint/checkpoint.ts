/**
 * What is kept of a sandbox outside of Docker: enough to take it off its network when its container is gone. One file for each,
 * `<root>/sandbox/<container id>`, with the fields of dockershim's.
 */
import path from 'node:path';
import { PodwireError, describeError } from '@podwire/errors';
import { type CheckpointFiles, createCheckpointStore } from '@podwire/linux';
import { type PodSandboxConfig, Protocol } from '@podwire/cri';
import type { Log } from '../rim.js';
import { usesHostNetwork } from '../sandboxes/namespaces.js';

export interface CheckpointPort {
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  readonly container_port: number;
  readonly host_port: number;
  readonly host_ip: string;
}

export interface SandboxCheckpoint {
  readonly version: 'v1';
  readonly name: string;
  readonly namespace: string;
  readonly port_mappings: readonly CheckpointPort[];
  readonly host_network: boolean;
}

export interface CheckpointDirectory {
  write(id: string, checkpoint: SandboxCheckpoint): Promise<void>;
  /** Undefined when there is none. One that cannot be understood is deleted, and said. */
  read(id: string): Promise<SandboxCheckpoint | undefined>;
  remove(id: string): Promise<void>;
  /** Ids of the sandboxes that have one. */
  ids(): Promise<readonly string[]>;
}

/** @param root of the service. Its calls reject with PodwireError RECORD_IO. */
export function openCheckpoints(root: string, log: Log, fs?: CheckpointFiles): CheckpointDirectory {
  const directory = path.join(root, 'sandbox');
  const store = createCheckpointStore<SandboxCheckpoint>(directory, {
    header: ['version', 'name', 'namespace'],
    ...(fs === undefined ? {} : { fs }),
  });
  const guard = <T>(action: string, id: string, work: Promise<T>): Promise<T> =>
    work.catch((cause: unknown) => {
      const file = path.join(directory, id);
      const message = `cannot ${action} the checkpoint ${file}: ${describeError(cause)}`;
      throw new PodwireError('RECORD_IO', message, { cause, details: { file } });
    });
  return {
    write: (id, checkpoint) => guard('write', id, store.write(id, checkpoint)),
    remove: (id) => guard('remove', id, store.remove(id)),
    ids: () => guard('list', '', store.keys()),
    async read(id) {
      const reading = await guard('read', id, store.read(id));
      if (reading.state === 'missing') return undefined;
      const why = reading.state === 'corrupt' ? reading.reason : findFault(reading.data);
      if (why === undefined) return (reading as { data: SandboxCheckpoint }).data;
      log.warn({ sandbox: id, why }, 'a corrupt checkpoint of a sandbox is deleted');
      await guard('remove', id, store.remove(id));
      return undefined;
    },
  };
}

function findFault({ version, name, namespace, port_mappings }: SandboxCheckpoint): string | undefined {
  if (version !== 'v1') return `its version is ${JSON.stringify(version)}`;
  if (typeof name !== 'string' || typeof namespace !== 'string') return 'it does not name the pod';
  // Go writes an empty list as null, so that of a node that comes from dockershim may have one.
  return port_mappings === null || Array.isArray(port_mappings) ? undefined : 'its port_mappings are no list';
}

/** What is kept of a sandbox that is asked for. */
export function makeCheckpoint(config: PodSandboxConfig): SandboxCheckpoint {
  return {
    version: 'v1',
    name: config.metadata?.name ?? '',
    namespace: config.metadata?.namespace ?? '',
    port_mappings: config.portMappings.map((mapping) => ({
      protocol: protocolName(mapping.protocol),
      container_port: mapping.containerPort,
      host_port: mapping.hostPort,
      host_ip: mapping.hostIp,
    })),
    host_network: usesHostNetwork(config),
  };
}

export function protocolName(protocol: Protocol): 'tcp' | 'udp' | 'sctp' {
  if (protocol === Protocol.UDP) return 'udp';
  return protocol === Protocol.SCTP ? 'sctp' : 'tcp';
}
