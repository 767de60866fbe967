// Written by scripts/generate-messages.mjs from sandbox-status.proto. Do not edit.
import {
  bool,
  defineMessage,
  enumeration,
  int64,
  message,
  messages,
  one,
  string,
  textMap,
  type MessageType,
} from '@podwire/protobuf';
import { NamespaceOption } from './common.js';
import { ContainerStatus } from './container.js';
import { PodSandboxMetadata } from './sandbox.js';

/** What became of sandboxes. Apart from sandbox.proto because a sandbox's status can carry those of its containers. */

export const PodSandboxState = {
  SANDBOX_READY: 0,
  SANDBOX_NOTREADY: 1,
} as const;

export type PodSandboxState = (typeof PodSandboxState)[keyof typeof PodSandboxState];

export interface PodSandboxStatusRequest {
  readonly podSandboxId: string;
  /** Fills `info` of the answer. */
  readonly verbose: boolean;
}

export const PodSandboxStatusRequest: MessageType<PodSandboxStatusRequest> = defineMessage({
  podSandboxId: one(1, string),
  verbose: one(2, bool),
});

export interface PodIP {
  readonly ip: string;
}

export const PodIP: MessageType<PodIP> = defineMessage({
  ip: one(1, string),
});

export interface PodSandboxNetworkStatus {
  /** The primary address; empty with the host's network. */
  readonly ip: string;
  /** Those after the primary one. */
  readonly additionalIps: readonly PodIP[];
}

export const PodSandboxNetworkStatus: MessageType<PodSandboxNetworkStatus> = defineMessage({
  ip: one(1, string),
  additionalIps: messages(2, () => PodIP),
});

export interface Namespace {
  readonly options?: NamespaceOption | undefined;
}

export const Namespace: MessageType<Namespace> = defineMessage({
  options: message(2, () => NamespaceOption),
});

export interface LinuxPodSandboxStatus {
  readonly namespaces?: Namespace | undefined;
}

export const LinuxPodSandboxStatus: MessageType<LinuxPodSandboxStatus> = defineMessage({
  namespaces: message(1, () => Namespace),
});

export interface PodSandboxStatus {
  readonly id: string;
  readonly metadata?: PodSandboxMetadata | undefined;
  readonly state: PodSandboxState;
  /** nanoseconds since 1970 */
  readonly createdAt: bigint;
  readonly network?: PodSandboxNetworkStatus | undefined;
  readonly linux?: LinuxPodSandboxStatus | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly runtimeHandler: string;
}

export const PodSandboxStatus: MessageType<PodSandboxStatus> = defineMessage({
  id: one(1, string),
  metadata: message(2, () => PodSandboxMetadata),
  state: one(3, enumeration<PodSandboxState>()),
  createdAt: one(4, int64),
  network: message(5, () => PodSandboxNetworkStatus),
  linux: message(6, () => LinuxPodSandboxStatus),
  labels: textMap(7),
  annotations: textMap(8),
  runtimeHandler: one(9, string),
});

export interface PodSandboxStatusResponse {
  readonly status?: PodSandboxStatus | undefined;
  /** Only when asked verbosely; what stands here is each runtime's own affair. */
  readonly info: Readonly<Record<string, string>>;
  /** Only from runtimes that send events. */
  readonly containersStatuses: readonly ContainerStatus[];
  /** nanoseconds since 1970, when sandbox and containers were looked at */
  readonly timestamp: bigint;
}

export const PodSandboxStatusResponse: MessageType<PodSandboxStatusResponse> = defineMessage({
  status: message(1, () => PodSandboxStatus),
  info: textMap(2),
  containersStatuses: messages(3, () => ContainerStatus),
  timestamp: one(4, int64),
});

export interface PodSandboxStateValue {
  readonly state: PodSandboxState;
}

export const PodSandboxStateValue: MessageType<PodSandboxStateValue> = defineMessage({
  state: one(1, enumeration<PodSandboxState>()),
});

/** What is stated must all hold. */
export interface PodSandboxFilter {
  /** The whole id, or its beginning. */
  readonly id: string;
  readonly state?: PodSandboxStateValue | undefined;
  /** Labels that must be there with just these values. */
  readonly labelSelector: Readonly<Record<string, string>>;
}

export const PodSandboxFilter: MessageType<PodSandboxFilter> = defineMessage({
  id: one(1, string),
  state: message(2, () => PodSandboxStateValue),
  labelSelector: textMap(3),
});

export interface ListPodSandboxRequest {
  readonly filter?: PodSandboxFilter | undefined;
}

export const ListPodSandboxRequest: MessageType<ListPodSandboxRequest> = defineMessage({
  filter: message(1, () => PodSandboxFilter),
});

export interface PodSandbox {
  readonly id: string;
  readonly metadata?: PodSandboxMetadata | undefined;
  readonly state: PodSandboxState;
  /** nanoseconds since 1970 */
  readonly createdAt: bigint;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly runtimeHandler: string;
}

export const PodSandbox: MessageType<PodSandbox> = defineMessage({
  id: one(1, string),
  metadata: message(2, () => PodSandboxMetadata),
  state: one(3, enumeration<PodSandboxState>()),
  createdAt: one(4, int64),
  labels: textMap(5),
  annotations: textMap(6),
  runtimeHandler: one(7, string),
});

export interface ListPodSandboxResponse {
  readonly items: readonly PodSandbox[];
}

export const ListPodSandboxResponse: MessageType<ListPodSandboxResponse> = defineMessage({
  items: messages(1, () => PodSandbox),
});
