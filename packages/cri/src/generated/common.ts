// Written by scripts/generate-messages.mjs from common.proto. Do not edit.
import {
  defineMessage,
  enumeration,
  int64,
  message,
  messages,
  one,
  string,
  textMap,
  type MessageType,
  uint32,
  uint64,
} from '@podwire/protobuf';

/**
 * What sandboxes and containers share. Every file here is our own wording of the public interface (CRI v1, and v1alpha2,
 * which has the same names and numbers on the wire): names and numbers are the interface's, comments are ours.
 * Fields for Windows are left out; a decoder skips what it does not know.
 */

/** Where a namespace of a container comes from. */
export const NamespaceMode = {
  /** Shared by all containers of the pod. */
  POD: 0,
  /** The container's own. */
  CONTAINER: 1,
  /** The machine's. */
  NODE: 2,
  /** That of the container `target_id`. */
  TARGET: 3,
} as const;

export type NamespaceMode = (typeof NamespaceMode)[keyof typeof NamespaceMode];

/** A number that can also be absent. */
export interface Int64Value {
  readonly value: bigint;
}

export const Int64Value: MessageType<Int64Value> = defineMessage({
  value: one(1, int64),
});

/** A number that can also be absent. */
export interface UInt64Value {
  readonly value: bigint;
}

export const UInt64Value: MessageType<UInt64Value> = defineMessage({
  value: one(1, uint64),
});

export interface KeyValue {
  readonly key: string;
  readonly value: string;
}

export const KeyValue: MessageType<KeyValue> = defineMessage({
  key: one(1, string),
  value: one(2, string),
});

export interface IDMapping {
  /** First id on the machine. */
  readonly hostId: number;
  /** First id inside the user namespace. */
  readonly containerId: number;
  /** How many ids follow on, at least 1. */
  readonly length: number;
}

export const IDMapping: MessageType<IDMapping> = defineMessage({
  hostId: one(1, uint32),
  containerId: one(2, uint32),
  length: one(3, uint32),
});

export interface UserNamespace {
  /** POD or NODE. */
  readonly mode: NamespaceMode;
  readonly uids: readonly IDMapping[];
  readonly gids: readonly IDMapping[];
}

export const UserNamespace: MessageType<UserNamespace> = defineMessage({
  mode: one(1, enumeration<NamespaceMode>()),
  uids: messages(2, () => IDMapping),
  gids: messages(3, () => IDMapping),
});

export interface NamespaceOption {
  /** POD or NODE. */
  readonly network: NamespaceMode;
  /** Note that the value 0 means POD here too, although a pod's default in Kubernetes is CONTAINER. */
  readonly pid: NamespaceMode;
  /** POD or NODE. */
  readonly ipc: NamespaceMode;
  /** Container whose namespace is joined where a mode is TARGET. */
  readonly targetId: string;
  readonly usernsOptions?: UserNamespace | undefined;
}

export const NamespaceOption: MessageType<NamespaceOption> = defineMessage({
  network: one(1, enumeration<NamespaceMode>()),
  pid: one(2, enumeration<NamespaceMode>()),
  ipc: one(3, enumeration<NamespaceMode>()),
  targetId: one(4, string),
  usernsOptions: message(5, () => UserNamespace),
});

export interface SELinuxOption {
  readonly user: string;
  readonly role: string;
  readonly type: string;
  readonly level: string;
}

export const SELinuxOption: MessageType<SELinuxOption> = defineMessage({
  user: one(1, string),
  role: one(2, string),
  type: one(3, string),
  level: one(4, string),
});

export const SecurityProfile_ProfileType = {
  RuntimeDefault: 0,
  Unconfined: 1,
  /** A profile of this machine, named by `localhost_ref`. */
  Localhost: 2,
} as const;

export type SecurityProfile_ProfileType =
  (typeof SecurityProfile_ProfileType)[keyof typeof SecurityProfile_ProfileType];

/** A seccomp or AppArmor profile. */
export interface SecurityProfile {
  readonly profileType: SecurityProfile_ProfileType;
  /** Path of the seccomp file, or name of the loaded AppArmor profile; only with Localhost. */
  readonly localhostRef: string;
}

export const SecurityProfile: MessageType<SecurityProfile> = defineMessage({
  profileType: one(1, enumeration<SecurityProfile_ProfileType>()),
  localhostRef: one(2, string),
});

export interface HugepageLimit {
  /** Like "2MB" or "1GB". */
  readonly pageSize: string;
  /** bytes */
  readonly limit: bigint;
}

export const HugepageLimit: MessageType<HugepageLimit> = defineMessage({
  pageSize: one(1, string),
  limit: one(2, uint64),
});

/** Limits for a cgroup. 0 or empty: not stated. */
export interface LinuxContainerResources {
  /** microseconds */
  readonly cpuPeriod: bigint;
  /** microseconds of each period */
  readonly cpuQuota: bigint;
  /** relative weight, 1024 for one core */
  readonly cpuShares: bigint;
  /** bytes */
  readonly memoryLimitInBytes: bigint;
  /** -1000 … 1000 */
  readonly oomScoreAdj: bigint;
  /** List like "0-2,7". */
  readonly cpusetCpus: string;
  /** List like "0,1". */
  readonly cpusetMems: string;
  readonly hugepageLimits: readonly HugepageLimit[];
  /** Files of cgroup v2 by name, with their content. */
  readonly unified: Readonly<Record<string, string>>;
  /** bytes, memory and swap together; -1: without limit */
  readonly memorySwapLimitInBytes: bigint;
}

export const LinuxContainerResources: MessageType<LinuxContainerResources> = defineMessage({
  cpuPeriod: one(1, int64),
  cpuQuota: one(2, int64),
  cpuShares: one(3, int64),
  memoryLimitInBytes: one(4, int64),
  oomScoreAdj: one(5, int64),
  cpusetCpus: one(6, string),
  cpusetMems: one(7, string),
  hugepageLimits: messages(8, () => HugepageLimit),
  unified: textMap(9),
  memorySwapLimitInBytes: one(10, int64),
});
