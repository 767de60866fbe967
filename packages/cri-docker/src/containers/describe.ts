/** Docker's containers in the words of the interface. Pure. */
import { Container, ContainerState, ContainerStatus, MountPropagation } from '@podwire/cri';
import {
  type InspectedContainer,
  type InspectedImage,
  type ListedContainer,
  parseTime,
} from '../docker/index.js';
import { imageRefOf } from '../images/pull.js';
import { containerType, decodeLabels, labelKeys } from '../labels.js';
import { parseName } from '../names.js';

export function toContainer(
  { Id, Names, Image, ImageID, State, Labels }: Omit<ListedContainer, 'Created'>,
  createdAt: bigint,
): Container {
  return Container.fromPartial({
    id: Id,
    podSandboxId: Labels?.[labelKeys.sandboxId] ?? '',
    metadata: metadataOf(Names?.find((name) => parseName(name) !== undefined)),
    image: { image: Image },
    imageRef: ImageID,
    imageId: ImageID,
    state: listedStates.get(State) ?? ContainerState.CONTAINER_UNKNOWN,
    createdAt,
    ...decodeLabels(Labels, containerType),
  });
}

function metadataOf(name: string | undefined): { name: string; attempt: number } {
  const { container = '', attempt = 0 } = parseName(name) ?? {};
  return { name: container, attempt };
}

const listedStates = new Map<string, ContainerState>([
  ['created', ContainerState.CONTAINER_CREATED],
  ['running', ContainerState.CONTAINER_RUNNING],
  ['paused', ContainerState.CONTAINER_RUNNING],
  ['exited', ContainerState.CONTAINER_EXITED],
  ['dead', ContainerState.CONTAINER_EXITED],
]);

export function toContainerStatus(
  found: InspectedContainer,
  image: InspectedImage | undefined,
): ContainerStatus {
  const { Id, Name, Created, Image, Config, Mounts } = found;
  return ContainerStatus.fromPartial({
    id: Id,
    metadata: metadataOf(Name),
    createdAt: parseTime(Created),
    image: { image: image?.RepoTags?.find((tag) => tag !== '<none>:<none>') ?? Config.Image },
    imageRef: image === undefined ? Image : imageRefOf(image),
    imageId: Image,
    mounts: (Mounts ?? []).map(toMount),
    logPath: Config.Labels?.[labelKeys.logPath] ?? '',
    ...decodeLabels(Config.Labels, containerType),
    ...describeState(found),
  });
}

type StatePart = Pick<
  ContainerStatus,
  'state' | 'startedAt' | 'finishedAt' | 'exitCode' | 'reason' | 'message'
>;

/** A container that could not be started stays `created` in Docker, with the error and an exit code. */
export function describeState({ State, Created }: InspectedContainer): StatePart {
  const times = { startedAt: parseTime(State.StartedAt), finishedAt: parseTime(State.FinishedAt) };
  const base = { exitCode: 0, reason: '', message: State.Error, ...times };
  if (State.Running) return { ...base, state: ContainerState.CONTAINER_RUNNING, finishedAt: 0n };
  const exited = { ...base, state: ContainerState.CONTAINER_EXITED, exitCode: State.ExitCode };
  if (times.finishedAt !== 0n) return { ...exited, reason: exitReason(State) };
  if (State.ExitCode === 0) return { ...base, state: ContainerState.CONTAINER_CREATED };
  const at = parseTime(Created);
  return { ...exited, reason: 'ContainerCannotRun', startedAt: at, finishedAt: at };
}

function exitReason({ OOMKilled, ExitCode, Error: message }: InspectedContainer['State']): string {
  if (OOMKilled) return 'OOMKilled';
  if (ExitCode === 0) return 'Completed';
  return message === '' ? 'Error' : 'ContainerCannotRun';
}

function toMount(
  mount: NonNullable<InspectedContainer['Mounts']>[number],
): ContainerStatus['mounts'][number] {
  return {
    hostPath: mount.Source,
    containerPath: mount.Destination,
    readonly: !mount.RW,
    selinuxRelabel: false,
    propagation: propagationOf(mount.Propagation),
    uidMappings: [],
    gidMappings: [],
    recursiveReadOnly: false,
  };
}

function propagationOf(text: string): MountPropagation {
  if (/slave/.test(text)) return MountPropagation.PROPAGATION_HOST_TO_CONTAINER;
  if (/shared/.test(text)) return MountPropagation.PROPAGATION_BIDIRECTIONAL;
  return MountPropagation.PROPAGATION_PRIVATE;
}
