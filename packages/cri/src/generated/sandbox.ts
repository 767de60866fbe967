// Written by scripts/generate-messages.mjs from sandbox.proto. Do not edit.
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
  Int64Value,
  LinuxContainerResources,
  NamespaceOption,
  SELinuxOption,
  SecurityProfile,
} from './common.js';

/** Pod sandboxes: the namespaces, the network and the cgroup that a pod's containers join. */

export const Protocol = {
  TCP: 0,
  UDP: 1,
  SCTP: 2,
} as const;

export type Protocol = (typeof Protocol)[keyof typeof Protocol];

/** Goes into the resolv.conf of the pod's containers. All three lists empty: the file stays what the runtime makes it. */
export interface DNSConfig {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

export const DNSConfig: MessageType<DNSConfig> = defineMessage({
  servers: many(1, string),
  searches: many(2, string),
  options: many(3, string),
});

export interface PortMapping {
  readonly protocol: Protocol;
  readonly containerPort: number;
  /** 0: no port of the host. */
  readonly hostPort: number;
  /** Address of the host; empty: all. */
  readonly hostIp: string;
}

export const PortMapping: MessageType<PortMapping> = defineMessage({
  protocol: one(1, enumeration<Protocol>()),
  containerPort: one(2, int32),
  hostPort: one(3, int32),
  hostIp: one(4, string),
});

export interface LinuxSandboxSecurityContext {
  readonly namespaceOptions?: NamespaceOption | undefined;
  readonly selinuxOptions?: SELinuxOption | undefined;
  readonly runAsUser?: Int64Value | undefined;
  /** Only together with `run_as_user`. */
  readonly runAsGroup?: Int64Value | undefined;
  readonly readonlyRootfs: boolean;
  readonly supplementalGroups: readonly bigint[];
  /** True if some container of the pod will be privileged. */
  readonly privileged: boolean;
  readonly seccomp?: SecurityProfile | undefined;
  readonly apparmor?: SecurityProfile | undefined;
  /** Older form of `seccomp`: "unconfined", "runtime/default" or "localhost/PATH". */
  readonly seccompProfilePath: string;
}

export const LinuxSandboxSecurityContext: MessageType<LinuxSandboxSecurityContext> = defineMessage({
  namespaceOptions: message(1, () => NamespaceOption),
  selinuxOptions: message(2, () => SELinuxOption),
  runAsUser: message(3, () => Int64Value),
  runAsGroup: message(8, () => Int64Value),
  readonlyRootfs: one(4, bool),
  supplementalGroups: many(5, int64),
  privileged: one(6, bool),
  seccomp: message(9, () => SecurityProfile),
  apparmor: message(10, () => SecurityProfile),
  seccompProfilePath: one(7, string),
});

export interface LinuxPodSandboxConfig {
  /** Parent cgroup: a path, or a slice's name where systemd is the driver. */
  readonly cgroupParent: string;
  readonly securityContext?: LinuxSandboxSecurityContext | undefined;
  readonly sysctls: Readonly<Record<string, string>>;
  /** What the sandbox itself costs. */
  readonly overhead?: LinuxContainerResources | undefined;
  /** Sum of the containers' resources. */
  readonly resources?: LinuxContainerResources | undefined;
}

export const LinuxPodSandboxConfig: MessageType<LinuxPodSandboxConfig> = defineMessage({
  cgroupParent: one(1, string),
  securityContext: message(2, () => LinuxSandboxSecurityContext),
  sysctls: textMap(3),
  overhead: message(4, () => LinuxContainerResources),
  resources: message(5, () => LinuxContainerResources),
});

/** What names a sandbox: the pod, and which attempt of it. */
export interface PodSandboxMetadata {
  readonly name: string;
  readonly uid: string;
  readonly namespace: string;
  /** Counts up when the sandbox of a pod is made again. */
  readonly attempt: number;
}

export const PodSandboxMetadata: MessageType<PodSandboxMetadata> = defineMessage({
  name: one(1, string),
  uid: one(2, string),
  namespace: one(3, string),
  attempt: one(4, uint32),
});

export interface PodSandboxConfig {
  readonly metadata?: PodSandboxMetadata | undefined;
  /** Empty with the host's network. */
  readonly hostname: string;
  /** Directory of the containers' log files on the host; a container's `log_path` is relative to it. */
  readonly logDirectory: string;
  readonly dnsConfig?: DNSConfig | undefined;
  readonly portMappings: readonly PortMapping[];
  readonly labels: Readonly<Record<string, string>>;
  /** Handed back unchanged. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly linux?: LinuxPodSandboxConfig | undefined;
}

export const PodSandboxConfig: MessageType<PodSandboxConfig> = defineMessage({
  metadata: message(1, () => PodSandboxMetadata),
  hostname: one(2, string),
  logDirectory: one(3, string),
  dnsConfig: message(4, () => DNSConfig),
  portMappings: messages(5, () => PortMapping),
  labels: textMap(6),
  annotations: textMap(7),
  linux: message(8, () => LinuxPodSandboxConfig),
});

export interface RunPodSandboxRequest {
  readonly config?: PodSandboxConfig | undefined;
  /** Empty: the default one. An unknown one is refused. */
  readonly runtimeHandler: string;
}

export const RunPodSandboxRequest: MessageType<RunPodSandboxRequest> = defineMessage({
  config: message(1, () => PodSandboxConfig),
  runtimeHandler: one(2, string),
});

export interface RunPodSandboxResponse {
  readonly podSandboxId: string;
}

export const RunPodSandboxResponse: MessageType<RunPodSandboxResponse> = defineMessage({
  podSandboxId: one(1, string),
});

export interface StopPodSandboxRequest {
  readonly podSandboxId: string;
}

export const StopPodSandboxRequest: MessageType<StopPodSandboxRequest> = defineMessage({
  podSandboxId: one(1, string),
});

export type StopPodSandboxResponse = Readonly<Record<string, never>>;

export const StopPodSandboxResponse: MessageType<StopPodSandboxResponse> = defineMessage({});

export interface RemovePodSandboxRequest {
  readonly podSandboxId: string;
}

export const RemovePodSandboxRequest: MessageType<RemovePodSandboxRequest> = defineMessage({
  podSandboxId: one(1, string),
});

export type RemovePodSandboxResponse = Readonly<Record<string, never>>;

export const RemovePodSandboxResponse: MessageType<RemovePodSandboxResponse> = defineMessage({});

export interface UpdatePodSandboxResourcesRequest {
  readonly podSandboxId: string;
  readonly overhead?: LinuxContainerResources | undefined;
  readonly resources?: LinuxContainerResources | undefined;
}

export const UpdatePodSandboxResourcesRequest: MessageType<UpdatePodSandboxResourcesRequest> = defineMessage({
  podSandboxId: one(1, string),
  overhead: message(2, () => LinuxContainerResources),
  resources: message(3, () => LinuxContainerResources),
});

export type UpdatePodSandboxResourcesResponse = Readonly<Record<string, never>>;

export const UpdatePodSandboxResourcesResponse: MessageType<UpdatePodSandboxResourcesResponse> =
  defineMessage({});
