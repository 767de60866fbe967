/** The parts of Docker Engine's API that the sandbox service uses; names are the API's. */

export interface VersionInfo {
  readonly Version: string;
  readonly ApiVersion: string;
  readonly MinAPIVersion?: string;
}

export interface EngineInfo {
  readonly ServerVersion: string;
  readonly CgroupDriver: string;
  readonly DockerRootDir: string;
  readonly Runtimes?: Readonly<Record<string, unknown>> | null;
  readonly DefaultRuntime?: string;
  readonly SecurityOptions?: readonly string[] | null;
}

export interface PortBinding {
  readonly HostIp?: string;
  readonly HostPort: string;
}

export interface MountConfig {
  readonly Type: 'bind';
  readonly Source: string;
  readonly Target: string;
  readonly ReadOnly: boolean;
  readonly BindOptions?: { readonly Propagation?: 'rprivate' | 'rslave' | 'rshared' };
}

export interface DeviceConfig {
  readonly PathOnHost: string;
  readonly PathInContainer: string;
  readonly CgroupPermissions: string;
}

export interface ResourceConfig {
  readonly CpuShares?: number;
  readonly CpuPeriod?: number;
  readonly CpuQuota?: number;
  readonly CpusetCpus?: string;
  readonly CpusetMems?: string;
  readonly Memory?: number;
  readonly MemorySwap?: number;
}

export interface HostConfig extends ResourceConfig {
  readonly NetworkMode: string;
  readonly IpcMode: string;
  readonly PidMode?: string;
  readonly UTSMode?: string;
  readonly CgroupParent?: string;
  readonly OomScoreAdj?: number;
  readonly ShmSize?: number;
  readonly Sysctls?: Readonly<Record<string, string>>;
  readonly PortBindings?: Readonly<Record<string, readonly PortBinding[]>>;
  readonly Binds?: readonly string[];
  readonly Mounts?: readonly MountConfig[];
  readonly Devices?: readonly DeviceConfig[];
  readonly Privileged?: boolean;
  readonly ReadonlyRootfs?: boolean;
  readonly CapAdd?: readonly string[];
  readonly CapDrop?: readonly string[];
  readonly GroupAdd?: readonly string[];
  readonly SecurityOpt?: readonly string[];
  readonly MaskedPaths?: readonly string[];
  readonly ReadonlyPaths?: readonly string[];
  readonly Runtime?: string;
  readonly LogConfig?: { readonly Type: string; readonly Config: Readonly<Record<string, string>> };
}

export interface CreateConfig {
  readonly Image: string;
  readonly Hostname?: string;
  readonly User?: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly Env?: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly WorkingDir?: string;
  readonly Tty?: boolean;
  readonly OpenStdin?: boolean;
  readonly StdinOnce?: boolean;
  readonly AttachStdin?: boolean;
  readonly ExposedPorts?: Readonly<Record<string, object>>;
  readonly Healthcheck?: { readonly Test: readonly string[] };
  readonly HostConfig: HostConfig;
}

export interface InspectedState {
  readonly Status: string;
  readonly Running: boolean;
  readonly Paused: boolean;
  readonly OOMKilled: boolean;
  readonly Dead: boolean;
  readonly Pid: number;
  readonly ExitCode: number;
  readonly Error: string;
  readonly StartedAt: string;
  readonly FinishedAt: string;
}

export interface InspectedMount {
  readonly Type: string;
  readonly Source: string;
  readonly Destination: string;
  readonly RW: boolean;
  readonly Propagation: string;
}

export interface InspectedContainer {
  readonly Id: string;
  readonly Name: string;
  readonly Created: string;
  /** Id of the image. */
  readonly Image: string;
  readonly ResolvConfPath: string;
  readonly LogPath: string;
  readonly State: InspectedState;
  readonly Mounts?: readonly InspectedMount[] | null;
  readonly SizeRw?: number;
  readonly Config: {
    /** The image as it was asked for. */
    readonly Image: string;
    readonly Labels?: Readonly<Record<string, string>> | null;
    readonly Tty: boolean;
    readonly OpenStdin: boolean;
    readonly StdinOnce: boolean;
  };
  readonly HostConfig: HostConfig;
  readonly NetworkSettings?: {
    readonly IPAddress?: string;
    readonly GlobalIPv6Address?: string;
    readonly Networks?: Readonly<Record<string, { IPAddress?: string; GlobalIPv6Address?: string }>> | null;
  };
}

export interface ListedContainer {
  readonly Id: string;
  readonly Names?: readonly string[] | null;
  /** The image as it was asked for, or its id where that name is another image's now. */
  readonly Image: string;
  readonly ImageID: string;
  /** Seconds since 1970. */
  readonly Created: number;
  readonly State: string;
  readonly Labels?: Readonly<Record<string, string>> | null;
}

export interface InspectedImage {
  readonly Id: string;
  readonly RepoTags?: readonly string[] | null;
  readonly RepoDigests?: readonly string[] | null;
  readonly Size: number;
  readonly Config?: { readonly User?: string } | null;
}

export interface ListedImage {
  readonly Id: string;
  readonly RepoTags?: readonly string[] | null;
  readonly RepoDigests?: readonly string[] | null;
  readonly Size: number;
}

export interface PullMessage {
  readonly id?: string;
  readonly status?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
  readonly error?: string;
  readonly errorDetail?: { readonly message?: string };
}

/** The credentials for a registry. Never logged. */
export interface RegistryAuth {
  readonly username?: string;
  readonly password?: string;
  readonly serveraddress?: string;
  readonly identitytoken?: string;
  readonly registrytoken?: string;
}

export interface EngineEvent {
  readonly Type: string;
  readonly Action: string;
  readonly Actor: { readonly ID: string; readonly Attributes?: Readonly<Record<string, string>> };
  readonly timeNano: number;
}

export interface ExecState {
  readonly ExitCode: number | null;
  readonly Running: boolean;
  readonly Pid: number;
}

export interface EngineStats {
  /** RFC 3339; Go's zero time where the container does not run. */
  readonly read: string;
  readonly cpu_stats?: { readonly cpu_usage?: { readonly total_usage?: number } };
  readonly memory_stats?: {
    readonly usage?: number;
    readonly limit?: number;
    readonly stats?: Readonly<Record<string, number>>;
  };
  readonly pids_stats?: { readonly current?: number };
}

export interface DiskUsage {
  readonly LayersSize?: number;
}
