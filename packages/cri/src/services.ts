/**
 * The two services of the Container Runtime Interface as promises. The gRPC client, the sandbox service, the embedded runtime
 * and the fake all are this, and one compliance suite tests them all. Which package name (v1, v1alpha2) a peer speaks
 * is the transport's affair: the messages are the same.
 */
import type { ImageServiceDefinition, RuntimeServiceDefinition } from './generated/services.js';

export interface CallOptions {
  readonly signal?: AbortSignal;
  /**
   * Milliseconds. When absent: 2 minutes, RunPodSandbox 4, StopContainer and ExecSync 2 minutes more than their own, and none for
   * PullImage, ExecSync with timeout 0 and GetContainerEvents.
   */
  readonly timeoutMs?: number;
  /** W3C Trace Context of the caller's span; travels as gRPC metadata of that name. */
  readonly traceparent?: string;
}

interface Definition<Request, Response, IsStream extends boolean> {
  readonly requestType: { decode(bytes: Uint8Array): Request };
  readonly responseType: { decode(bytes: Uint8Array): Response };
  readonly responseStream: IsStream;
}

type Call<Method> =
  Method extends Definition<infer Request, infer Response, infer IsStream>
    ? (
        request: Request,
        options?: CallOptions,
      ) => IsStream extends true ? AsyncIterable<Response> : Promise<Response>
    : never;

type Service<Methods> = { [Name in keyof Methods]: Call<Methods[Name]> };

/** Calls of the generated definition that Podwire does not have; servers answer UNIMPLEMENTED to them. */
type UnusedCalls =
  'checkpointContainer' | 'updatePodSandboxResources' | 'listMetricDescriptors' | 'listPodSandboxMetrics';

/**
 * All methods reject with a CriError. `getContainerEvents` is UNIMPLEMENTED where a runtime has no events (containerd before 1.7):
 * callers list again and again.
 */
export type RuntimeService = Omit<Service<typeof RuntimeServiceDefinition.methods>, UnusedCalls>;

export type ImageService = Service<typeof ImageServiceDefinition.methods>;

/** The calls that are answered with a URL. */
export type StreamingCalls = Pick<RuntimeService, 'exec' | 'attach' | 'portForward'>;

/** The runtime and image services of one CRI socket. */
export type CriRuntime = RuntimeService & ImageService;
