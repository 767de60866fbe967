// Written by scripts/generate-messages.mjs from services.proto. Do not edit.
import {
  CheckpointContainerRequest,
  CheckpointContainerResponse,
  ContainerStatusRequest,
  ContainerStatusResponse,
  CreateContainerRequest,
  CreateContainerResponse,
  ListContainersRequest,
  ListContainersResponse,
  RemoveContainerRequest,
  RemoveContainerResponse,
  ReopenContainerLogRequest,
  ReopenContainerLogResponse,
  StartContainerRequest,
  StartContainerResponse,
  StopContainerRequest,
  StopContainerResponse,
  UpdateContainerResourcesRequest,
  UpdateContainerResourcesResponse,
} from './container.js';
import { ContainerEventResponse, GetEventsRequest } from './events.js';
import {
  ImageStatusRequest,
  ImageStatusResponse,
  ListImagesRequest,
  ListImagesResponse,
  PullImageRequest,
  PullImageResponse,
  RemoveImageRequest,
  RemoveImageResponse,
} from './image.js';
import {
  ListMetricDescriptorsRequest,
  ListMetricDescriptorsResponse,
  ListPodSandboxMetricsRequest,
  ListPodSandboxMetricsResponse,
} from './metrics.js';
import {
  RuntimeConfigRequest,
  RuntimeConfigResponse,
  StatusRequest,
  StatusResponse,
  UpdateRuntimeConfigRequest,
  UpdateRuntimeConfigResponse,
  VersionRequest,
  VersionResponse,
} from './runtime.js';
import {
  ListPodSandboxRequest,
  ListPodSandboxResponse,
  PodSandboxStatusRequest,
  PodSandboxStatusResponse,
} from './sandbox-status.js';
import {
  RemovePodSandboxRequest,
  RemovePodSandboxResponse,
  RunPodSandboxRequest,
  RunPodSandboxResponse,
  StopPodSandboxRequest,
  StopPodSandboxResponse,
  UpdatePodSandboxResourcesRequest,
  UpdatePodSandboxResourcesResponse,
} from './sandbox.js';
import {
  ContainerStatsRequest,
  ContainerStatsResponse,
  ImageFsInfoRequest,
  ImageFsInfoResponse,
  ListContainerStatsRequest,
  ListContainerStatsResponse,
  ListPodSandboxStatsRequest,
  ListPodSandboxStatsResponse,
  PodSandboxStatsRequest,
  PodSandboxStatsResponse,
} from './stats.js';
import {
  AttachRequest,
  AttachResponse,
  ExecRequest,
  ExecResponse,
  ExecSyncRequest,
  ExecSyncResponse,
  PortForwardRequest,
  PortForwardResponse,
} from './streaming.js';

/**
 * The two services behind a runtime's socket. The package's name makes the path of a call, /runtime.v1.RuntimeService/Version;
 * peers that speak v1alpha2 use the same messages below /runtime.v1alpha2.
 */

export const RuntimeServiceDefinition = {
  fullName: 'runtime.v1.RuntimeService',
  methods: {
    version: {
      name: 'Version',
      requestType: VersionRequest,
      requestStream: false,
      responseType: VersionResponse,
      responseStream: false,
    },
    status: {
      name: 'Status',
      requestType: StatusRequest,
      requestStream: false,
      responseType: StatusResponse,
      responseStream: false,
    },
    runtimeConfig: {
      name: 'RuntimeConfig',
      requestType: RuntimeConfigRequest,
      requestStream: false,
      responseType: RuntimeConfigResponse,
      responseStream: false,
    },
    updateRuntimeConfig: {
      name: 'UpdateRuntimeConfig',
      requestType: UpdateRuntimeConfigRequest,
      requestStream: false,
      responseType: UpdateRuntimeConfigResponse,
      responseStream: false,
    },
    /** Creates the sandbox with its network and starts it: it is ready when this is answered. */
    runPodSandbox: {
      name: 'RunPodSandbox',
      requestType: RunPodSandboxRequest,
      requestStream: false,
      responseType: RunPodSandboxResponse,
      responseStream: false,
    },
    /** Ends the containers and gives the network back. Answers well as often as it is asked, for unknown ids too. */
    stopPodSandbox: {
      name: 'StopPodSandbox',
      requestType: StopPodSandboxRequest,
      requestStream: false,
      responseType: StopPodSandboxResponse,
      responseStream: false,
    },
    /** Removes the sandbox and its containers, running or not. Answers well for unknown ids. */
    removePodSandbox: {
      name: 'RemovePodSandbox',
      requestType: RemovePodSandboxRequest,
      requestStream: false,
      responseType: RemovePodSandboxResponse,
      responseStream: false,
    },
    podSandboxStatus: {
      name: 'PodSandboxStatus',
      requestType: PodSandboxStatusRequest,
      requestStream: false,
      responseType: PodSandboxStatusResponse,
      responseStream: false,
    },
    listPodSandbox: {
      name: 'ListPodSandbox',
      requestType: ListPodSandboxRequest,
      requestStream: false,
      responseType: ListPodSandboxResponse,
      responseStream: false,
    },
    updatePodSandboxResources: {
      name: 'UpdatePodSandboxResources',
      requestType: UpdatePodSandboxResourcesRequest,
      requestStream: false,
      responseType: UpdatePodSandboxResourcesResponse,
      responseStream: false,
    },
    portForward: {
      name: 'PortForward',
      requestType: PortForwardRequest,
      requestStream: false,
      responseType: PortForwardResponse,
      responseStream: false,
    },
    createContainer: {
      name: 'CreateContainer',
      requestType: CreateContainerRequest,
      requestStream: false,
      responseType: CreateContainerResponse,
      responseStream: false,
    },
    startContainer: {
      name: 'StartContainer',
      requestType: StartContainerRequest,
      requestStream: false,
      responseType: StartContainerResponse,
      responseStream: false,
    },
    /** SIGTERM, and SIGKILL when the time is over. Answers well for a container that has ended. */
    stopContainer: {
      name: 'StopContainer',
      requestType: StopContainerRequest,
      requestStream: false,
      responseType: StopContainerResponse,
      responseStream: false,
    },
    /** Removes it, running or not. Answers well for unknown ids. */
    removeContainer: {
      name: 'RemoveContainer',
      requestType: RemoveContainerRequest,
      requestStream: false,
      responseType: RemoveContainerResponse,
      responseStream: false,
    },
    listContainers: {
      name: 'ListContainers',
      requestType: ListContainersRequest,
      requestStream: false,
      responseType: ListContainersResponse,
      responseStream: false,
    },
    containerStatus: {
      name: 'ContainerStatus',
      requestType: ContainerStatusRequest,
      requestStream: false,
      responseType: ContainerStatusResponse,
      responseStream: false,
    },
    updateContainerResources: {
      name: 'UpdateContainerResources',
      requestType: UpdateContainerResourcesRequest,
      requestStream: false,
      responseType: UpdateContainerResourcesResponse,
      responseStream: false,
    },
    reopenContainerLog: {
      name: 'ReopenContainerLog',
      requestType: ReopenContainerLogRequest,
      requestStream: false,
      responseType: ReopenContainerLogResponse,
      responseStream: false,
    },
    checkpointContainer: {
      name: 'CheckpointContainer',
      requestType: CheckpointContainerRequest,
      requestStream: false,
      responseType: CheckpointContainerResponse,
      responseStream: false,
    },
    execSync: {
      name: 'ExecSync',
      requestType: ExecSyncRequest,
      requestStream: false,
      responseType: ExecSyncResponse,
      responseStream: false,
    },
    exec: {
      name: 'Exec',
      requestType: ExecRequest,
      requestStream: false,
      responseType: ExecResponse,
      responseStream: false,
    },
    attach: {
      name: 'Attach',
      requestType: AttachRequest,
      requestStream: false,
      responseType: AttachResponse,
      responseStream: false,
    },
    containerStats: {
      name: 'ContainerStats',
      requestType: ContainerStatsRequest,
      requestStream: false,
      responseType: ContainerStatsResponse,
      responseStream: false,
    },
    listContainerStats: {
      name: 'ListContainerStats',
      requestType: ListContainerStatsRequest,
      requestStream: false,
      responseType: ListContainerStatsResponse,
      responseStream: false,
    },
    podSandboxStats: {
      name: 'PodSandboxStats',
      requestType: PodSandboxStatsRequest,
      requestStream: false,
      responseType: PodSandboxStatsResponse,
      responseStream: false,
    },
    listPodSandboxStats: {
      name: 'ListPodSandboxStats',
      requestType: ListPodSandboxStatsRequest,
      requestStream: false,
      responseType: ListPodSandboxStatsResponse,
      responseStream: false,
    },
    listMetricDescriptors: {
      name: 'ListMetricDescriptors',
      requestType: ListMetricDescriptorsRequest,
      requestStream: false,
      responseType: ListMetricDescriptorsResponse,
      responseStream: false,
    },
    listPodSandboxMetrics: {
      name: 'ListPodSandboxMetrics',
      requestType: ListPodSandboxMetricsRequest,
      requestStream: false,
      responseType: ListPodSandboxMetricsResponse,
      responseStream: false,
    },
    getContainerEvents: {
      name: 'GetContainerEvents',
      requestType: GetEventsRequest,
      requestStream: false,
      responseType: ContainerEventResponse,
      responseStream: true,
    },
  },
} as const;

export const ImageServiceDefinition = {
  fullName: 'runtime.v1.ImageService',
  methods: {
    listImages: {
      name: 'ListImages',
      requestType: ListImagesRequest,
      requestStream: false,
      responseType: ListImagesResponse,
      responseStream: false,
    },
    imageStatus: {
      name: 'ImageStatus',
      requestType: ImageStatusRequest,
      requestStream: false,
      responseType: ImageStatusResponse,
      responseStream: false,
    },
    pullImage: {
      name: 'PullImage',
      requestType: PullImageRequest,
      requestStream: false,
      responseType: PullImageResponse,
      responseStream: false,
    },
    removeImage: {
      name: 'RemoveImage',
      requestType: RemoveImageRequest,
      requestStream: false,
      responseType: RemoveImageResponse,
      responseStream: false,
    },
    imageFsInfo: {
      name: 'ImageFsInfo',
      requestType: ImageFsInfoRequest,
      requestStream: false,
      responseType: ImageFsInfoResponse,
      responseStream: false,
    },
  },
} as const;
