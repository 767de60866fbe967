/** The calls of both services, from the generated definitions: one table for client, server and fake. */
import { ImageServiceDefinition, RuntimeServiceDefinition } from './generated/services.js';
import type { CriRuntime } from './services.js';

/** Versions of the interface, the preferred one first. Messages are the same; the version stands in a call's path. */
export const apiVersions = ['v1', 'v1alpha2'] as const;
export type ApiVersion = (typeof apiVersions)[number];

/** 16 MiB, what kubelet and runtimes allow: lists of many containers do not fit in gRPC's default of 4. */
export const maxMessageBytes = 16 * 1024 * 1024;

export type MethodName = keyof CriRuntime;

export interface Codec {
  encode(message: unknown): { finish(): Uint8Array };
  decode(bytes: Uint8Array): unknown;
}

/** One call. `name` is `runPodSandbox`, `rpc` is `RunPodSandbox`. */
export interface Method {
  readonly name: MethodName;
  readonly rpc: string;
  readonly service: 'RuntimeService' | 'ImageService';
  readonly request: Codec;
  readonly response: Codec;
  readonly isStream: boolean;
}

interface Definition {
  readonly name: string;
  readonly requestType: Codec;
  readonly responseType: Codec;
  readonly responseStream: boolean;
}

/** Of the generated ones those that CriRuntime has; servers answer UNIMPLEMENTED to the others. */
const {
  checkpointContainer: _checkpoint,
  updatePodSandboxResources: _resources,
  listMetricDescriptors: _descriptors,
  listPodSandboxMetrics: _metrics,
  ...runtimeDefinitions
} = RuntimeServiceDefinition.methods;

const definitions: Readonly<Record<MethodName, Definition>> = {
  ...runtimeDefinitions,
  ...ImageServiceDefinition.methods,
};

export const methods: Readonly<Record<MethodName, Method>> = Object.fromEntries(
  Object.entries(definitions).map(([name, definition]) => [name, toMethod(name as MethodName, definition)]),
) as Record<MethodName, Method>;

function toMethod(name: MethodName, definition: Definition): Method {
  return {
    name,
    rpc: definition.name,
    service: name in ImageServiceDefinition.methods ? 'ImageService' : 'RuntimeService',
    request: definition.requestType,
    response: definition.responseType,
    isStream: definition.responseStream,
  };
}

/** `/runtime.v1.RuntimeService/Version` */
export const pathOf = ({ service, rpc }: Method, version: ApiVersion): string =>
  `/runtime.${version}.${service}/${rpc}`;

/** The bytes of a message, without a copy. */
export function encodeMessage(codec: Codec, message: unknown): Buffer {
  const bytes = codec.encode(message).finish();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
