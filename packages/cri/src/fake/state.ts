/** The state of the fake. Messages are made once for each change and handed out as they are: lists of 500 pods cost nothing. */
import { CriError } from '../error.js';
import {
  type Container,
  type ContainerConfig,
  type ContainerStatus,
  type Image,
  PodSandboxState,
  type PodSandbox,
  type PodSandboxConfig,
  type PodSandboxStatus,
} from '../messages.js';
import type { FakeProgram } from './programs.js';

export interface SandboxRecord {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly runtimeHandler: string;
  readonly createdAt: bigint;
  readonly addresses: readonly string[];
  state: PodSandboxState;
  item: PodSandbox;
}

export interface ContainerRecord {
  readonly id: string;
  readonly sandboxId: string;
  readonly config: ContainerConfig;
  readonly program: FakeProgram;
  status: ContainerStatus;
  item: Container;
  /** Ends what waits for the process: its own end, and a stop. */
  readonly gone: AbortController;
}

export interface FakeState {
  readonly sandboxes: Map<string, SandboxRecord>;
  readonly containers: Map<string, ContainerRecord>;
  /** By every name, digest and id. */
  readonly images: Map<string, Image>;
  readonly nextId: () => string;
}

export function createState(): FakeState {
  let last = 0;
  return {
    sandboxes: new Map(),
    containers: new Map(),
    images: new Map(),
    // Counted from the left, so that the beginning of an id says which one it is.
    nextId: () => `f${String((last += 1)).padStart(7, '0')}`.padEnd(64, '0'),
  };
}

export function getSandbox({ sandboxes }: FakeState, id: string): SandboxRecord {
  const sandbox = sandboxes.get(id);
  if (sandbox === undefined) throw new CriError('NOT_FOUND', `there is no sandbox ${id}`);
  return sandbox;
}

export function getContainer({ containers }: FakeState, id: string): ContainerRecord {
  const container = containers.get(id);
  if (container === undefined) throw new CriError('NOT_FOUND', `there is no container ${id}`);
  return container;
}

export const containersOf = ({ containers }: FakeState, sandboxId: string): ContainerRecord[] =>
  [...containers.values()].filter((container) => container.sandboxId === sandboxId);

export function sandboxItem(sandbox: Omit<SandboxRecord, 'item'>): PodSandbox {
  const { id, config, state, createdAt, runtimeHandler } = sandbox;
  const { metadata, labels, annotations } = config;
  return { id, metadata, labels, annotations, state, createdAt, runtimeHandler };
}

export function sandboxStatus(sandbox: SandboxRecord): PodSandboxStatus {
  const { addresses, config, state } = sandbox;
  const [ip = '', ...others] = state === PodSandboxState.SANDBOX_READY ? addresses : [];
  const options = config.linux?.securityContext?.namespaceOptions;
  return {
    ...sandbox.item,
    network: { ip, additionalIps: others.map((address) => ({ ip: address })) },
    linux: { namespaces: { options } },
  };
}

export function containerItem(sandboxId: string, status: ContainerStatus): Container {
  const { id, metadata, image, imageRef, imageId, state, createdAt, labels, annotations } = status;
  return {
    id,
    podSandboxId: sandboxId,
    metadata,
    image,
    imageRef,
    imageId,
    state,
    createdAt,
    labels,
    annotations,
  };
}
