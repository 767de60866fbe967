// Written by scripts/generate-messages.mjs from container.proto. Do not edit.
import {
  bool,
  defineMessage,
  enumeration,
  int32,
  int64,
  many,
  message,
  messages,
  one,
  string,
  textMap,
  type MessageType,
  uint32,
} from '@podwire/protobuf';
import {
  IDMapping,
  Int64Value,
  KeyValue,
  LinuxContainerResources,
  NamespaceOption,
  SELinuxOption,
  SecurityProfile,
} from './common.js';
import { ImageSpec } from './image.js';
import { PodSandboxConfig } from './sandbox.js';

/** Containers: what they are made of, and what became of them. */

export const MountPropagation = {
  PROPAGATION_PRIVATE: 0,
  /** Mounts made later on the host appear in the container (rslave). */
  PROPAGATION_HOST_TO_CONTAINER: 1,
  /** And the other way round (rshared). */
  PROPAGATION_BIDIRECTIONAL: 2,
} as const;

export type MountPropagation = (typeof MountPropagation)[keyof typeof MountPropagation];

export const ContainerState = {
  CONTAINER_CREATED: 0,
  CONTAINER_RUNNING: 1,
  CONTAINER_EXITED: 2,
  CONTAINER_UNKNOWN: 3,
} as const;

export type ContainerState = (typeof ContainerState)[keyof typeof ContainerState];

export interface Mount {
  readonly containerPath: string;
  /** Symbolic links are followed. A path that is missing is made as a directory by some runtimes and refused by others. */
  readonly hostPath: string;
  readonly readonly: boolean;
  readonly selinuxRelabel: boolean;
  readonly propagation: MountPropagation;
  /** These two are spelled so in the interface. */
  readonly uidMappings: readonly IDMapping[];
  readonly gidMappings: readonly IDMapping[];
  /** Only with `readonly` and private propagation. */
  readonly recursiveReadOnly: boolean;
}

export const Mount: MessageType<Mount> = defineMessage({
  containerPath: one(1, string),
  hostPath: one(2, string),
  readonly: one(3, bool),
  selinuxRelabel: one(4, bool),
  propagation: one(5, enumeration<MountPropagation>()),
  uidMappings: messages(6, () => IDMapping),
  gidMappings: messages(7, () => IDMapping),
  recursiveReadOnly: one(8, bool),
});

export interface Device {
  readonly containerPath: string;
  readonly hostPath: string;
  /** Letters of "rwm": read, write, make nodes. */
  readonly permissions: string;
}

export const Device: MessageType<Device> = defineMessage({
  containerPath: one(1, string),
  hostPath: one(2, string),
  permissions: one(3, string),
});

export interface CDIDevice {
  /** Like vendor.com/class=name. */
  readonly name: string;
}

export const CDIDevice: MessageType<CDIDevice> = defineMessage({
  name: one(1, string),
});

/** Names without CAP_; "ALL" for all. */
export interface Capability {
  readonly addCapabilities: readonly string[];
  readonly dropCapabilities: readonly string[];
  readonly addAmbientCapabilities: readonly string[];
}

export const Capability: MessageType<Capability> = defineMessage({
  addCapabilities: many(1, string),
  dropCapabilities: many(2, string),
  addAmbientCapabilities: many(3, string),
});

export interface LinuxContainerSecurityContext {
  readonly capabilities?: Capability | undefined;
  readonly privileged: boolean;
  readonly namespaceOptions?: NamespaceOption | undefined;
  readonly selinuxOptions?: SELinuxOption | undefined;
  /** Not together with `run_as_username`. */
  readonly runAsUser?: Int64Value | undefined;
  /** Only with a user. */
  readonly runAsGroup?: Int64Value | undefined;
  readonly runAsUsername: string;
  readonly readonlyRootfs: boolean;
  readonly supplementalGroups: readonly bigint[];
  readonly noNewPrivs: boolean;
  readonly maskedPaths: readonly string[];
  readonly readonlyPaths: readonly string[];
  readonly seccomp?: SecurityProfile | undefined;
  readonly apparmor?: SecurityProfile | undefined;
  /** Older form of `apparmor`. */
  readonly apparmorProfile: string;
  /** Older form of `seccomp`. */
  readonly seccompProfilePath: string;
}

export const LinuxContainerSecurityContext: MessageType<LinuxContainerSecurityContext> = defineMessage({
  capabilities: message(1, () => Capability),
  privileged: one(2, bool),
  namespaceOptions: message(3, () => NamespaceOption),
  selinuxOptions: message(4, () => SELinuxOption),
  runAsUser: message(5, () => Int64Value),
  runAsGroup: message(12, () => Int64Value),
  runAsUsername: one(6, string),
  readonlyRootfs: one(7, bool),
  supplementalGroups: many(8, int64),
  noNewPrivs: one(11, bool),
  maskedPaths: many(13, string),
  readonlyPaths: many(14, string),
  seccomp: message(15, () => SecurityProfile),
  apparmor: message(16, () => SecurityProfile),
  apparmorProfile: one(9, string),
  seccompProfilePath: one(10, string),
});

export interface LinuxContainerConfig {
  readonly resources?: LinuxContainerResources | undefined;
  readonly securityContext?: LinuxContainerSecurityContext | undefined;
}

export const LinuxContainerConfig: MessageType<LinuxContainerConfig> = defineMessage({
  resources: message(1, () => LinuxContainerResources),
  securityContext: message(2, () => LinuxContainerSecurityContext),
});

export interface ContainerMetadata {
  readonly name: string;
  /** Counts up when the container is made again. */
  readonly attempt: number;
}

export const ContainerMetadata: MessageType<ContainerMetadata> = defineMessage({
  name: one(1, string),
  attempt: one(2, uint32),
});

export interface ContainerConfig {
  readonly metadata?: ContainerMetadata | undefined;
  readonly image?: ImageSpec | undefined;
  /** Takes the place of the image's entry point. */
  readonly command: readonly string[];
  /** Takes the place of the image's command. */
  readonly args: readonly string[];
  /** Empty: the image's. */
  readonly workingDir: string;
  readonly envs: readonly KeyValue[];
  readonly mounts: readonly Mount[];
  readonly devices: readonly Device[];
  readonly labels: Readonly<Record<string, string>>;
  /** Handed back unchanged. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Below the sandbox's `log_directory`. Lines are "TIME stdout|stderr F|P TEXT". Empty: no log is kept. */
  readonly logPath: string;
  readonly stdin: boolean;
  /** The first client that attaches ends stdin when it leaves. */
  readonly stdinOnce: boolean;
  readonly tty: boolean;
  readonly linux?: LinuxContainerConfig | undefined;
  readonly CDIDevices: readonly CDIDevice[];
}

export const ContainerConfig: MessageType<ContainerConfig> = defineMessage({
  metadata: message(1, () => ContainerMetadata),
  image: message(2, () => ImageSpec),
  command: many(3, string),
  args: many(4, string),
  workingDir: one(5, string),
  envs: messages(6, () => KeyValue),
  mounts: messages(7, () => Mount),
  devices: messages(8, () => Device),
  labels: textMap(9),
  annotations: textMap(10),
  logPath: one(11, string),
  stdin: one(12, bool),
  stdinOnce: one(13, bool),
  tty: one(14, bool),
  linux: message(15, () => LinuxContainerConfig),
  CDIDevices: messages(17, () => CDIDevice),
});

export interface CreateContainerRequest {
  readonly podSandboxId: string;
  readonly config?: ContainerConfig | undefined;
  /** The same that the sandbox was made with. */
  readonly sandboxConfig?: PodSandboxConfig | undefined;
}

export const CreateContainerRequest: MessageType<CreateContainerRequest> = defineMessage({
  podSandboxId: one(1, string),
  config: message(2, () => ContainerConfig),
  sandboxConfig: message(3, () => PodSandboxConfig),
});

export interface CreateContainerResponse {
  readonly containerId: string;
}

export const CreateContainerResponse: MessageType<CreateContainerResponse> = defineMessage({
  containerId: one(1, string),
});

export interface StartContainerRequest {
  readonly containerId: string;
}

export const StartContainerRequest: MessageType<StartContainerRequest> = defineMessage({
  containerId: one(1, string),
});

export type StartContainerResponse = Readonly<Record<string, never>>;

export const StartContainerResponse: MessageType<StartContainerResponse> = defineMessage({});

export interface StopContainerRequest {
  readonly containerId: string;
  /** Seconds between SIGTERM and SIGKILL; 0: killed at once. */
  readonly timeout: bigint;
}

export const StopContainerRequest: MessageType<StopContainerRequest> = defineMessage({
  containerId: one(1, string),
  timeout: one(2, int64),
});

export type StopContainerResponse = Readonly<Record<string, never>>;

export const StopContainerResponse: MessageType<StopContainerResponse> = defineMessage({});

export interface RemoveContainerRequest {
  readonly containerId: string;
}

export const RemoveContainerRequest: MessageType<RemoveContainerRequest> = defineMessage({
  containerId: one(1, string),
});

export type RemoveContainerResponse = Readonly<Record<string, never>>;

export const RemoveContainerResponse: MessageType<RemoveContainerResponse> = defineMessage({});

export interface ContainerStateValue {
  readonly state: ContainerState;
}

export const ContainerStateValue: MessageType<ContainerStateValue> = defineMessage({
  state: one(1, enumeration<ContainerState>()),
});

/** What is stated must all hold. */
export interface ContainerFilter {
  /** The whole id, or its beginning. */
  readonly id: string;
  readonly state?: ContainerStateValue | undefined;
  readonly podSandboxId: string;
  /** Labels that must be there with just these values. */
  readonly labelSelector: Readonly<Record<string, string>>;
}

export const ContainerFilter: MessageType<ContainerFilter> = defineMessage({
  id: one(1, string),
  state: message(2, () => ContainerStateValue),
  podSandboxId: one(3, string),
  labelSelector: textMap(4),
});

export interface ListContainersRequest {
  readonly filter?: ContainerFilter | undefined;
}

export const ListContainersRequest: MessageType<ListContainersRequest> = defineMessage({
  filter: message(1, () => ContainerFilter),
});

export interface Container {
  readonly id: string;
  readonly podSandboxId: string;
  readonly metadata?: ContainerMetadata | undefined;
  readonly image?: ImageSpec | undefined;
  /** Digest, or id where the image has none. */
  readonly imageRef: string;
  readonly state: ContainerState;
  /** nanoseconds since 1970 */
  readonly createdAt: bigint;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly imageId: string;
}

export const Container: MessageType<Container> = defineMessage({
  id: one(1, string),
  podSandboxId: one(2, string),
  metadata: message(3, () => ContainerMetadata),
  image: message(4, () => ImageSpec),
  imageRef: one(5, string),
  state: one(6, enumeration<ContainerState>()),
  createdAt: one(7, int64),
  labels: textMap(8),
  annotations: textMap(9),
  imageId: one(10, string),
});

export interface ListContainersResponse {
  readonly containers: readonly Container[];
}

export const ListContainersResponse: MessageType<ListContainersResponse> = defineMessage({
  containers: messages(1, () => Container),
});

export interface ContainerStatusRequest {
  readonly containerId: string;
  /** Fills `info` of the answer. */
  readonly verbose: boolean;
}

export const ContainerStatusRequest: MessageType<ContainerStatusRequest> = defineMessage({
  containerId: one(1, string),
  verbose: one(2, bool),
});

export interface ContainerStatus {
  readonly id: string;
  readonly metadata?: ContainerMetadata | undefined;
  readonly state: ContainerState;
  /** nanoseconds since 1970 */
  readonly createdAt: bigint;
  /** nanoseconds since 1970; 0: not yet */
  readonly startedAt: bigint;
  /** nanoseconds since 1970; 0: not yet */
  readonly finishedAt: bigint;
  /** Means something only when exited; 128 + signal for one that was killed. */
  readonly exitCode: number;
  readonly image?: ImageSpec | undefined;
  /** Digest, or id where the image has none. */
  readonly imageRef: string;
  /** One word in CamelCase: Completed, Error, OOMKilled. */
  readonly reason: string;
  readonly message: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  /** Whole path of the log on the host. */
  readonly logPath: string;
  readonly resources?: ContainerResources | undefined;
  readonly imageId: string;
}

export const ContainerStatus: MessageType<ContainerStatus> = defineMessage({
  id: one(1, string),
  metadata: message(2, () => ContainerMetadata),
  state: one(3, enumeration<ContainerState>()),
  createdAt: one(4, int64),
  startedAt: one(5, int64),
  finishedAt: one(6, int64),
  exitCode: one(7, int32),
  image: message(8, () => ImageSpec),
  imageRef: one(9, string),
  reason: one(10, string),
  message: one(11, string),
  labels: textMap(12),
  annotations: textMap(13),
  mounts: messages(14, () => Mount),
  logPath: one(15, string),
  resources: message(16, () => ContainerResources),
  imageId: one(17, string),
});

export interface ContainerStatusResponse {
  readonly status?: ContainerStatus | undefined;
  /** Only when asked verbosely; what stands here is each runtime's own affair. */
  readonly info: Readonly<Record<string, string>>;
}

export const ContainerStatusResponse: MessageType<ContainerStatusResponse> = defineMessage({
  status: message(1, () => ContainerStatus),
  info: textMap(2),
});

export interface ContainerResources {
  readonly linux?: LinuxContainerResources | undefined;
}

export const ContainerResources: MessageType<ContainerResources> = defineMessage({
  linux: message(1, () => LinuxContainerResources),
});

export interface UpdateContainerResourcesRequest {
  readonly containerId: string;
  readonly linux?: LinuxContainerResources | undefined;
  /** For extensions of a runtime; not the container's annotations. */
  readonly annotations: Readonly<Record<string, string>>;
}

export const UpdateContainerResourcesRequest: MessageType<UpdateContainerResourcesRequest> = defineMessage({
  containerId: one(1, string),
  linux: message(2, () => LinuxContainerResources),
  annotations: textMap(4),
});

export type UpdateContainerResourcesResponse = Readonly<Record<string, never>>;

export const UpdateContainerResourcesResponse: MessageType<UpdateContainerResourcesResponse> = defineMessage(
  {},
);

/** Lets go of the log file, which somebody has moved away, and begins a new one at the old path. */
export interface ReopenContainerLogRequest {
  readonly containerId: string;
}

export const ReopenContainerLogRequest: MessageType<ReopenContainerLogRequest> = defineMessage({
  containerId: one(1, string),
});

export type ReopenContainerLogResponse = Readonly<Record<string, never>>;

export const ReopenContainerLogResponse: MessageType<ReopenContainerLogResponse> = defineMessage({});

export interface CheckpointContainerRequest {
  readonly containerId: string;
  /** Where the archive goes. */
  readonly location: string;
  /** seconds; 0: the runtime's default */
  readonly timeout: bigint;
}

export const CheckpointContainerRequest: MessageType<CheckpointContainerRequest> = defineMessage({
  containerId: one(1, string),
  location: one(2, string),
  timeout: one(3, int64),
});

export type CheckpointContainerResponse = Readonly<Record<string, never>>;

export const CheckpointContainerResponse: MessageType<CheckpointContainerResponse> = defineMessage({});
