import { ContainerConfig, PodSandboxConfig } from '@podwire/cri';
import { compact } from '@podwire/platform';

/** How far a sandbox is; the extension of its record's file. Only `ready` ones can be READY. */
export const phases = ['creating', 'ready', 'stopping', 'stopped'] as const;
export type Phase = (typeof phases)[number];

/** The facts of a sandbox that are known before anything is made for it, and do not change. */
export interface SandboxRecord {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly runtimeHandler: string;
  /** Nanoseconds since 1970. */
  readonly createdAt: bigint;
  /** The file that pins its network namespace; absent with the host's network. */
  readonly netns?: string;
  /** The directory of its shared memory; absent with the host's IPC namespace. */
  readonly shm?: string;
  readonly bootId: string;
}

export interface ContainerRecord {
  readonly id: string;
  readonly sandboxId: string;
  readonly config: ContainerConfig;
  readonly createdAt: bigint;
  /** The directory that it sees as `/`. */
  readonly root: string;
  readonly imageRef: string;
}

const version = 1;

/** The configuration as the interface's own bytes: JSON has no 64-bit numbers. */
const packed = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const unpacked = (text: string): Uint8Array => Buffer.from(text, 'base64');

export function formatSandbox(record: SandboxRecord): string {
  const { config, createdAt, ...plain } = record;
  const { namespace, name, uid } = config.metadata ?? {};
  const facts = { pod: `${namespace}/${name}`, uid, ...plain, createdAt: String(createdAt) };
  return JSON.stringify({ version, ...facts, config: packed(PodSandboxConfig.encode(config).finish()) });
}

export function formatContainer(record: ContainerRecord): string {
  const { config, createdAt, ...plain } = record;
  const facts = { name: config.metadata?.name, ...plain, createdAt: String(createdAt) };
  return JSON.stringify({ version, ...facts, config: packed(ContainerConfig.encode(config).finish()) });
}

type Stored<T> = Omit<T, 'config' | 'createdAt'> & {
  readonly version: number;
  readonly config: string;
  readonly createdAt: string;
};

function parse<T>(text: string): Stored<T> {
  const stored = JSON.parse(text) as Stored<T>;
  if (stored.version !== version) throw new Error(`a record of version ${String(stored.version)}`);
  return stored;
}

/** @throws Error when the text is no such record */
export function parseSandbox(text: string): SandboxRecord {
  const { id, runtimeHandler, netns, shm, bootId, createdAt, config } = parse<SandboxRecord>(text);
  return {
    ...{ id, runtimeHandler, bootId, createdAt: BigInt(createdAt) },
    config: PodSandboxConfig.decode(unpacked(config)),
    ...compact({ netns, shm }),
  };
}

/** @throws Error when the text is no such record */
export function parseContainer(text: string): ContainerRecord {
  const { id, sandboxId, root, imageRef, createdAt, config } = parse<ContainerRecord>(text);
  const decoded = ContainerConfig.decode(unpacked(config));
  return { id, sandboxId, root, imageRef, createdAt: BigInt(createdAt), config: decoded };
}

/** Stands for a sandbox whose record cannot be used, so that it is seen and can be removed. */
export const unknownSandbox = (id: string, places: { netns: string; shm: string }): SandboxRecord => ({
  ...{ id, ...places, runtimeHandler: '', bootId: '', createdAt: 0n },
  config: PodSandboxConfig.fromPartial({ metadata: { name: id } }),
});

export const unknownContainer = (id: string, sandboxId: string): ContainerRecord => ({
  ...{ id, sandboxId, root: '/', imageRef: '', createdAt: 0n },
  config: ContainerConfig.fromPartial({ metadata: { name: id } }),
});
