// Written by scripts/generate-messages.mjs from stats.proto. Do not edit.
import {
  defineMessage,
  int64,
  message,
  messages,
  one,
  string,
  textMap,
  type MessageType,
} from '@podwire/protobuf';
import { UInt64Value } from './common.js';
import { ContainerMetadata } from './container.js';
import { PodSandboxMetadata } from './sandbox.js';

/** What containers, sandboxes and images use. Timestamps: nanoseconds since 1970. */

export interface ContainerStatsRequest {
  readonly containerId: string;
}

export const ContainerStatsRequest: MessageType<ContainerStatsRequest> = defineMessage({
  containerId: one(1, string),
});

export interface ContainerStatsResponse {
  readonly stats?: ContainerStats | undefined;
}

export const ContainerStatsResponse: MessageType<ContainerStatsResponse> = defineMessage({
  stats: message(1, () => ContainerStats),
});

export interface ContainerStatsFilter {
  readonly id: string;
  readonly podSandboxId: string;
  readonly labelSelector: Readonly<Record<string, string>>;
}

export const ContainerStatsFilter: MessageType<ContainerStatsFilter> = defineMessage({
  id: one(1, string),
  podSandboxId: one(2, string),
  labelSelector: textMap(3),
});

export interface ListContainerStatsRequest {
  readonly filter?: ContainerStatsFilter | undefined;
}

export const ListContainerStatsRequest: MessageType<ListContainerStatsRequest> = defineMessage({
  filter: message(1, () => ContainerStatsFilter),
});

export interface ListContainerStatsResponse {
  readonly stats: readonly ContainerStats[];
}

export const ListContainerStatsResponse: MessageType<ListContainerStatsResponse> = defineMessage({
  stats: messages(1, () => ContainerStats),
});

export interface ContainerAttributes {
  readonly id: string;
  readonly metadata?: ContainerMetadata | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export const ContainerAttributes: MessageType<ContainerAttributes> = defineMessage({
  id: one(1, string),
  metadata: message(2, () => ContainerMetadata),
  labels: textMap(3),
  annotations: textMap(4),
});

export interface ContainerStats {
  readonly attributes?: ContainerAttributes | undefined;
  readonly cpu?: CpuUsage | undefined;
  readonly memory?: MemoryUsage | undefined;
  readonly writableLayer?: FilesystemUsage | undefined;
  readonly swap?: SwapUsage | undefined;
}

export const ContainerStats: MessageType<ContainerStats> = defineMessage({
  attributes: message(1, () => ContainerAttributes),
  cpu: message(2, () => CpuUsage),
  memory: message(3, () => MemoryUsage),
  writableLayer: message(4, () => FilesystemUsage),
  swap: message(5, () => SwapUsage),
});

export interface CpuUsage {
  readonly timestamp: bigint;
  /** Core-nanoseconds since the beginning, over all cores. */
  readonly usageCoreNanoSeconds?: UInt64Value | undefined;
  /** Core-nanoseconds each second, lately. */
  readonly usageNanoCores?: UInt64Value | undefined;
}

export const CpuUsage: MessageType<CpuUsage> = defineMessage({
  timestamp: one(1, int64),
  usageCoreNanoSeconds: message(2, () => UInt64Value),
  usageNanoCores: message(3, () => UInt64Value),
});

export interface MemoryUsage {
  readonly timestamp: bigint;
  /** bytes */
  readonly workingSetBytes?: UInt64Value | undefined;
  /** Limit less the working set. */
  readonly availableBytes?: UInt64Value | undefined;
  readonly usageBytes?: UInt64Value | undefined;
  readonly rssBytes?: UInt64Value | undefined;
  readonly pageFaults?: UInt64Value | undefined;
  readonly majorPageFaults?: UInt64Value | undefined;
}

export const MemoryUsage: MessageType<MemoryUsage> = defineMessage({
  timestamp: one(1, int64),
  workingSetBytes: message(2, () => UInt64Value),
  availableBytes: message(3, () => UInt64Value),
  usageBytes: message(4, () => UInt64Value),
  rssBytes: message(5, () => UInt64Value),
  pageFaults: message(6, () => UInt64Value),
  majorPageFaults: message(7, () => UInt64Value),
});

export interface SwapUsage {
  readonly timestamp: bigint;
  readonly swapAvailableBytes?: UInt64Value | undefined;
  readonly swapUsageBytes?: UInt64Value | undefined;
}

export const SwapUsage: MessageType<SwapUsage> = defineMessage({
  timestamp: one(1, int64),
  swapAvailableBytes: message(2, () => UInt64Value),
  swapUsageBytes: message(3, () => UInt64Value),
});

export interface PodSandboxStatsRequest {
  readonly podSandboxId: string;
}

export const PodSandboxStatsRequest: MessageType<PodSandboxStatsRequest> = defineMessage({
  podSandboxId: one(1, string),
});

export interface PodSandboxStatsResponse {
  readonly stats?: PodSandboxStats | undefined;
}

export const PodSandboxStatsResponse: MessageType<PodSandboxStatsResponse> = defineMessage({
  stats: message(1, () => PodSandboxStats),
});

export interface PodSandboxStatsFilter {
  readonly id: string;
  readonly labelSelector: Readonly<Record<string, string>>;
}

export const PodSandboxStatsFilter: MessageType<PodSandboxStatsFilter> = defineMessage({
  id: one(1, string),
  labelSelector: textMap(2),
});

export interface ListPodSandboxStatsRequest {
  readonly filter?: PodSandboxStatsFilter | undefined;
}

export const ListPodSandboxStatsRequest: MessageType<ListPodSandboxStatsRequest> = defineMessage({
  filter: message(1, () => PodSandboxStatsFilter),
});

export interface ListPodSandboxStatsResponse {
  readonly stats: readonly PodSandboxStats[];
}

export const ListPodSandboxStatsResponse: MessageType<ListPodSandboxStatsResponse> = defineMessage({
  stats: messages(1, () => PodSandboxStats),
});

export interface PodSandboxAttributes {
  readonly id: string;
  readonly metadata?: PodSandboxMetadata | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export const PodSandboxAttributes: MessageType<PodSandboxAttributes> = defineMessage({
  id: one(1, string),
  metadata: message(2, () => PodSandboxMetadata),
  labels: textMap(3),
  annotations: textMap(4),
});

export interface PodSandboxStats {
  readonly attributes?: PodSandboxAttributes | undefined;
  readonly linux?: LinuxPodSandboxStats | undefined;
}

export const PodSandboxStats: MessageType<PodSandboxStats> = defineMessage({
  attributes: message(1, () => PodSandboxAttributes),
  linux: message(2, () => LinuxPodSandboxStats),
});

export interface LinuxPodSandboxStats {
  readonly cpu?: CpuUsage | undefined;
  readonly memory?: MemoryUsage | undefined;
  readonly network?: NetworkUsage | undefined;
  readonly process?: ProcessUsage | undefined;
  readonly containers: readonly ContainerStats[];
}

export const LinuxPodSandboxStats: MessageType<LinuxPodSandboxStats> = defineMessage({
  cpu: message(1, () => CpuUsage),
  memory: message(2, () => MemoryUsage),
  network: message(3, () => NetworkUsage),
  process: message(4, () => ProcessUsage),
  containers: messages(5, () => ContainerStats),
});

export interface NetworkUsage {
  readonly timestamp: bigint;
  readonly defaultInterface?: NetworkInterfaceUsage | undefined;
  /** All the others. */
  readonly interfaces: readonly NetworkInterfaceUsage[];
}

export const NetworkUsage: MessageType<NetworkUsage> = defineMessage({
  timestamp: one(1, int64),
  defaultInterface: message(2, () => NetworkInterfaceUsage),
  interfaces: messages(3, () => NetworkInterfaceUsage),
});

export interface NetworkInterfaceUsage {
  readonly name: string;
  readonly rxBytes?: UInt64Value | undefined;
  readonly rxErrors?: UInt64Value | undefined;
  readonly txBytes?: UInt64Value | undefined;
  readonly txErrors?: UInt64Value | undefined;
}

export const NetworkInterfaceUsage: MessageType<NetworkInterfaceUsage> = defineMessage({
  name: one(1, string),
  rxBytes: message(2, () => UInt64Value),
  rxErrors: message(3, () => UInt64Value),
  txBytes: message(4, () => UInt64Value),
  txErrors: message(5, () => UInt64Value),
});

export interface ProcessUsage {
  readonly timestamp: bigint;
  readonly processCount?: UInt64Value | undefined;
}

export const ProcessUsage: MessageType<ProcessUsage> = defineMessage({
  timestamp: one(1, int64),
  processCount: message(2, () => UInt64Value),
});

export type ImageFsInfoRequest = Readonly<Record<string, never>>;

export const ImageFsInfoRequest: MessageType<ImageFsInfoRequest> = defineMessage({});

export interface FilesystemIdentifier {
  readonly mountpoint: string;
}

export const FilesystemIdentifier: MessageType<FilesystemIdentifier> = defineMessage({
  mountpoint: one(1, string),
});

export interface FilesystemUsage {
  readonly timestamp: bigint;
  readonly fsId?: FilesystemIdentifier | undefined;
  /** bytes */
  readonly usedBytes?: UInt64Value | undefined;
  readonly inodesUsed?: UInt64Value | undefined;
}

export const FilesystemUsage: MessageType<FilesystemUsage> = defineMessage({
  timestamp: one(1, int64),
  fsId: message(2, () => FilesystemIdentifier),
  usedBytes: message(3, () => UInt64Value),
  inodesUsed: message(4, () => UInt64Value),
});

export interface ImageFsInfoResponse {
  readonly imageFilesystems: readonly FilesystemUsage[];
  /** Where containers' own layers lie elsewhere than images. */
  readonly containerFilesystems: readonly FilesystemUsage[];
}

export const ImageFsInfoResponse: MessageType<ImageFsInfoResponse> = defineMessage({
  imageFilesystems: messages(1, () => FilesystemUsage),
  containerFilesystems: messages(2, () => FilesystemUsage),
});
