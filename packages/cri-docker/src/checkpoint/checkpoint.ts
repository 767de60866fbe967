/**
 * The checkpoint of a sandbox outside of Docker: enough to take it off its network when its container is gone. One file for each,
 * `<root>/sandbox/<container id>`, with the fields and the checksum of dockershim's, which can read them.
 */
import path from 'node:path';
import { PodwireError, describeError } from '@podwire/errors';
import { type CheckpointFiles, createCheckpointStore } from '@podwire/linux';
import { type PodSandboxConfig, Protocol } from '@podwire/cri';
import { compact, type Log } from '@podwire/platform';
import { usesHostNetwork } from '../sandboxes/namespaces.js';
import { checkpointChecksums } from './checksum.js';

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
  /** Undefined when there is none. One that cannot be understood is moved to `<root>/sandbox.unreadable`, and said. */
  read(id: string): Promise<SandboxCheckpoint | undefined>;
  remove(id: string): Promise<void>;
  /** Ids of the sandboxes that have one. */
  ids(): Promise<readonly string[]>;
}

/** @param root of the service. Its calls reject with PodwireError RECORD_IO. */
export function openCheckpoints(root: string, log: Log, fs?: CheckpointFiles): CheckpointDirectory {
  const directory = path.join(root, 'sandbox');
  const store = createCheckpointStore<StoredCheckpoint>(directory, {
    header: ['version', 'name', 'namespace'],
    checksums: checkpointChecksums,
    ...compact({ fs }),
  });
  const guard = <T>(action: string, id: string, work: Promise<T>): Promise<T> =>
    work.catch((cause: unknown) => {
      const file = path.join(directory, id);
      const message = `cannot ${action} the checkpoint ${file}: ${describeError(cause)}`;
      throw new PodwireError('RECORD_IO', message, { cause, details: { file } });
    });
  return {
    write: (id, checkpoint) => guard('write', id, store.write(id, toStored(checkpoint))),
    remove: (id) => guard('remove', id, store.remove(id)),
    ids: () => guard('list', '', store.keys()),
    async read(id) {
      const reading = await guard('read', id, store.read(id));
      if (reading.state === 'missing') return undefined;
      const why = reading.state === 'corrupt' ? reading.reason : findFault(reading.data);
      if (why === undefined) return fromStored((reading as { data: StoredCheckpoint }).data);
      const file = await guard('set aside', id, store.setAside(id));
      log.warn({ sandbox: id, why, file }, 'a checkpoint of a sandbox that cannot be used is set aside');
      return undefined;
    },
  };
}

/** As Go writes it: what is empty is left out, but for the numbers, which are pointers. */
interface StoredCheckpoint extends Pick<SandboxCheckpoint, 'version' | 'name' | 'namespace'> {
  readonly port_mappings?: readonly Partial<CheckpointPort>[] | null;
  readonly host_network?: boolean;
}

/** An empty list is not the same as none in the checksum, and dockershim has none. */
function toStored({ port_mappings, host_network, ...header }: SandboxCheckpoint): StoredCheckpoint {
  const ports = port_mappings.map(({ host_ip, ...port }) => ({
    ...port,
    ...(host_ip === '' ? {} : { host_ip }),
  }));
  return {
    ...header,
    ...(ports.length === 0 ? {} : { port_mappings: ports }),
    ...(host_network ? { host_network } : {}),
  };
}

function fromStored({ port_mappings, host_network, ...header }: StoredCheckpoint): SandboxCheckpoint {
  const ports = (port_mappings ?? []).map(
    ({ protocol = 'tcp', container_port = 0, host_port = 0, host_ip = '' }): CheckpointPort => ({
      ...{ protocol, container_port, host_port, host_ip },
    }),
  );
  return { ...header, port_mappings: ports, host_network: host_network === true };
}

function findFault({ version, name, namespace, port_mappings }: StoredCheckpoint): string | undefined {
  if (version !== 'v1') return `its version is ${JSON.stringify(version)}`;
  if (typeof name !== 'string' || typeof namespace !== 'string') return 'it does not name the pod';
  return Array.isArray(port_mappings ?? []) ? undefined : 'its port_mappings are no list';
}

/** The checkpoint of a sandbox that is asked for. */
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
