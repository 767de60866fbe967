/**
 * The two services of the Container Runtime Interface as promises. The gRPC client, the sandbox service, the embedded runtime
 * and the fake all are this, and one compliance suite tests them all. Which package name (v1, v1alpha2) a peer speaks
 * is the transport's affair: the messages are the same.
 */
import type * as cri from './messages.js';

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

/** All methods reject with a CriError. */
export interface RuntimeService {
  version(request: cri.VersionRequest, options?: CallOptions): Promise<cri.VersionResponse>;
  status(request: cri.StatusRequest, options?: CallOptions): Promise<cri.StatusResponse>;
  runtimeConfig(request: cri.RuntimeConfigRequest, options?: CallOptions): Promise<cri.RuntimeConfigResponse>;
  updateRuntimeConfig(
    request: cri.UpdateRuntimeConfigRequest,
    options?: CallOptions,
  ): Promise<cri.UpdateRuntimeConfigResponse>;

  runPodSandbox(request: cri.RunPodSandboxRequest, options?: CallOptions): Promise<cri.RunPodSandboxResponse>;
  stopPodSandbox(
    request: cri.StopPodSandboxRequest,
    options?: CallOptions,
  ): Promise<cri.StopPodSandboxResponse>;
  removePodSandbox(
    request: cri.RemovePodSandboxRequest,
    options?: CallOptions,
  ): Promise<cri.RemovePodSandboxResponse>;
  podSandboxStatus(
    request: cri.PodSandboxStatusRequest,
    options?: CallOptions,
  ): Promise<cri.PodSandboxStatusResponse>;
  listPodSandbox(
    request: cri.ListPodSandboxRequest,
    options?: CallOptions,
  ): Promise<cri.ListPodSandboxResponse>;
  portForward(request: cri.PortForwardRequest, options?: CallOptions): Promise<cri.PortForwardResponse>;

  createContainer(
    request: cri.CreateContainerRequest,
    options?: CallOptions,
  ): Promise<cri.CreateContainerResponse>;
  startContainer(
    request: cri.StartContainerRequest,
    options?: CallOptions,
  ): Promise<cri.StartContainerResponse>;
  stopContainer(request: cri.StopContainerRequest, options?: CallOptions): Promise<cri.StopContainerResponse>;
  removeContainer(
    request: cri.RemoveContainerRequest,
    options?: CallOptions,
  ): Promise<cri.RemoveContainerResponse>;
  listContainers(
    request: cri.ListContainersRequest,
    options?: CallOptions,
  ): Promise<cri.ListContainersResponse>;
  containerStatus(
    request: cri.ContainerStatusRequest,
    options?: CallOptions,
  ): Promise<cri.ContainerStatusResponse>;
  updateContainerResources(
    request: cri.UpdateContainerResourcesRequest,
    options?: CallOptions,
  ): Promise<cri.UpdateContainerResourcesResponse>;
  reopenContainerLog(
    request: cri.ReopenContainerLogRequest,
    options?: CallOptions,
  ): Promise<cri.ReopenContainerLogResponse>;
  execSync(request: cri.ExecSyncRequest, options?: CallOptions): Promise<cri.ExecSyncResponse>;
  exec(request: cri.ExecRequest, options?: CallOptions): Promise<cri.ExecResponse>;
  attach(request: cri.AttachRequest, options?: CallOptions): Promise<cri.AttachResponse>;

  containerStats(
    request: cri.ContainerStatsRequest,
    options?: CallOptions,
  ): Promise<cri.ContainerStatsResponse>;
  listContainerStats(
    request: cri.ListContainerStatsRequest,
    options?: CallOptions,
  ): Promise<cri.ListContainerStatsResponse>;
  podSandboxStats(
    request: cri.PodSandboxStatsRequest,
    options?: CallOptions,
  ): Promise<cri.PodSandboxStatsResponse>;
  listPodSandboxStats(
    request: cri.ListPodSandboxStatsRequest,
    options?: CallOptions,
  ): Promise<cri.ListPodSandboxStatsResponse>;

  /** Changes as they happen. UNIMPLEMENTED where a runtime has none (containerd before 1.7): callers list again and again. */
  getContainerEvents(
    request: cri.GetEventsRequest,
    options?: CallOptions,
  ): AsyncIterable<cri.ContainerEventResponse>;
}

export interface ImageService {
  listImages(request: cri.ListImagesRequest, options?: CallOptions): Promise<cri.ListImagesResponse>;
  imageStatus(request: cri.ImageStatusRequest, options?: CallOptions): Promise<cri.ImageStatusResponse>;
  pullImage(request: cri.PullImageRequest, options?: CallOptions): Promise<cri.PullImageResponse>;
  removeImage(request: cri.RemoveImageRequest, options?: CallOptions): Promise<cri.RemoveImageResponse>;
  imageFsInfo(request: cri.ImageFsInfoRequest, options?: CallOptions): Promise<cri.ImageFsInfoResponse>;
}

/** The calls that are answered with a URL. */
export type StreamingCalls = Pick<RuntimeService, 'exec' | 'attach' | 'portForward'>;

/** The runtime and image services of one CRI socket. */
export type CriRuntime = RuntimeService & ImageService;
