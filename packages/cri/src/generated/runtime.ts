// Written by scripts/generate-messages.mjs from runtime.proto. Do not edit.
import {
  bool,
  defineMessage,
  enumeration,
  message,
  messages,
  one,
  string,
  textMap,
  type MessageType,
} from '@podwire/protobuf';

/** The runtime itself: who it is, whether it is ready, how it is set. */

export const CgroupDriver = {
  SYSTEMD: 0,
  CGROUPFS: 1,
} as const;

export type CgroupDriver = (typeof CgroupDriver)[keyof typeof CgroupDriver];

export interface VersionRequest {
  /** The client's version of the interface. */
  readonly version: string;
}

export const VersionRequest: MessageType<VersionRequest> = defineMessage({
  version: one(1, string),
});

export interface VersionResponse {
  /** Of the interface between kubelet and runtime, "0.1.0" since always. */
  readonly version: string;
  readonly runtimeName: string;
  readonly runtimeVersion: string;
  /** "v1" or "v1alpha2". */
  readonly runtimeApiVersion: string;
}

export const VersionResponse: MessageType<VersionResponse> = defineMessage({
  version: one(1, string),
  runtimeName: one(2, string),
  runtimeVersion: one(3, string),
  runtimeApiVersion: one(4, string),
});

export interface StatusRequest {
  /** Fills `info` of the answer. */
  readonly verbose: boolean;
}

export const StatusRequest: MessageType<StatusRequest> = defineMessage({
  verbose: one(1, bool),
});

/** "RuntimeReady" and "NetworkReady" must be among them. */
export interface RuntimeCondition {
  readonly type: string;
  readonly status: boolean;
  /** One word in CamelCase. */
  readonly reason: string;
  readonly message: string;
}

export const RuntimeCondition: MessageType<RuntimeCondition> = defineMessage({
  type: one(1, string),
  status: one(2, bool),
  reason: one(3, string),
  message: one(4, string),
});

export interface RuntimeStatus {
  readonly conditions: readonly RuntimeCondition[];
}

export const RuntimeStatus: MessageType<RuntimeStatus> = defineMessage({
  conditions: messages(1, () => RuntimeCondition),
});

export interface RuntimeHandlerFeatures {
  readonly recursiveReadOnlyMounts: boolean;
  readonly userNamespaces: boolean;
}

export const RuntimeHandlerFeatures: MessageType<RuntimeHandlerFeatures> = defineMessage({
  recursiveReadOnlyMounts: one(1, bool),
  userNamespaces: one(2, bool),
});

export interface RuntimeHandler {
  /** Empty: the default one. */
  readonly name: string;
  readonly features?: RuntimeHandlerFeatures | undefined;
}

export const RuntimeHandler: MessageType<RuntimeHandler> = defineMessage({
  name: one(1, string),
  features: message(2, () => RuntimeHandlerFeatures),
});

export interface StatusResponse {
  readonly status?: RuntimeStatus | undefined;
  /** Only when asked verbosely; what stands here is each runtime's own affair. */
  readonly info: Readonly<Record<string, string>>;
  readonly runtimeHandlers: readonly RuntimeHandler[];
}

export const StatusResponse: MessageType<StatusResponse> = defineMessage({
  status: message(1, () => RuntimeStatus),
  info: textMap(2),
  runtimeHandlers: messages(3, () => RuntimeHandler),
});

export interface NetworkConfig {
  /** Where pods' addresses come from: one range, or two (one for each IP family) with a comma between. */
  readonly podCidr: string;
}

export const NetworkConfig: MessageType<NetworkConfig> = defineMessage({
  podCidr: one(1, string),
});

export interface RuntimeConfig {
  readonly networkConfig?: NetworkConfig | undefined;
}

export const RuntimeConfig: MessageType<RuntimeConfig> = defineMessage({
  networkConfig: message(1, () => NetworkConfig),
});

export interface UpdateRuntimeConfigRequest {
  readonly runtimeConfig?: RuntimeConfig | undefined;
}

export const UpdateRuntimeConfigRequest: MessageType<UpdateRuntimeConfigRequest> = defineMessage({
  runtimeConfig: message(1, () => RuntimeConfig),
});

export type UpdateRuntimeConfigResponse = Readonly<Record<string, never>>;

export const UpdateRuntimeConfigResponse: MessageType<UpdateRuntimeConfigResponse> = defineMessage({});

export type RuntimeConfigRequest = Readonly<Record<string, never>>;

export const RuntimeConfigRequest: MessageType<RuntimeConfigRequest> = defineMessage({});

export interface LinuxRuntimeConfiguration {
  readonly cgroupDriver: CgroupDriver;
}

export const LinuxRuntimeConfiguration: MessageType<LinuxRuntimeConfiguration> = defineMessage({
  cgroupDriver: one(1, enumeration<CgroupDriver>()),
});

/** How the runtime is set, so that the kubelet does as it does. */
export interface RuntimeConfigResponse {
  readonly linux?: LinuxRuntimeConfiguration | undefined;
}

export const RuntimeConfigResponse: MessageType<RuntimeConfigResponse> = defineMessage({
  linux: message(1, () => LinuxRuntimeConfiguration),
});
