/** A runtime as tests ask it, in few words. What this does not have is asked of the runtime itself. */
import {
  ContainerConfig,
  type CriRuntime,
  PodSandboxConfig,
  PodSandboxState,
  type PodSandboxStatusResponse,
  Protocol,
} from '@podwire/cri';

/** Request for a sandbox; everything but the name has a default. */
export interface SandboxSpec {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly attempt?: number;
  readonly hostname?: string;
  readonly logDirectory?: string;
  readonly portMappings?: readonly PortMapping[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly dns?: { readonly servers?: readonly string[]; readonly searches?: readonly string[] };
}

export interface PortMapping {
  readonly protocol?: 'TCP' | 'UDP' | 'SCTP';
  readonly containerPort: number;
  readonly hostPort: number;
  readonly hostIp?: string;
}

export interface ContainerSpec {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
}

export interface SandboxStatus {
  readonly id: string;
  readonly ready: boolean;
  /** The first one is the primary. */
  readonly addresses: readonly string[];
  /** Path of its network namespace, from what containerd tells when asked verbosely. */
  readonly netns: string;
}

export interface ExecResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

export interface Condition {
  readonly type: string;
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
}

/** Errors are CriErrors. */
export interface CriClient {
  version(): Promise<{ name: string; version: string }>;
  conditions(): Promise<readonly Condition[]>;
  runSandbox(spec: SandboxSpec): Promise<string>;
  stopSandbox(id: string): Promise<void>;
  removeSandbox(id: string): Promise<void>;
  sandboxStatus(id: string): Promise<SandboxStatus>;
  listSandboxes(): Promise<{ id: string; name: string; ready: boolean }[]>;
  /** Creates and starts. */
  runContainer(sandbox: string, spec: ContainerSpec, sandboxSpec: SandboxSpec): Promise<string>;
  stopContainer(id: string, seconds?: number): Promise<void>;
  removeContainer(id: string): Promise<void>;
  exec(container: string, argv: readonly string[], seconds?: number): Promise<ExecResult>;
}

export function createCriClient(runtime: CriRuntime): CriClient {
  return { ...sandboxCalls(runtime), ...containerCalls(runtime) };
}

type ContainerCalls = Pick<CriClient, 'runContainer' | 'stopContainer' | 'removeContainer' | 'exec'>;

function sandboxCalls(runtime: CriRuntime): Omit<CriClient, keyof ContainerCalls> {
  return {
    version: async () => {
      const { runtimeName, runtimeVersion } = await runtime.version({ version: 'v1' });
      return { name: runtimeName, version: runtimeVersion };
    },
    conditions: async () => (await runtime.status({ verbose: false })).status?.conditions ?? [],
    runSandbox: async (spec) =>
      (await runtime.runPodSandbox({ config: sandboxConfig(spec), runtimeHandler: '' })).podSandboxId,
    stopSandbox: async (id) => void (await runtime.stopPodSandbox({ podSandboxId: id })),
    removeSandbox: async (id) => void (await runtime.removePodSandbox({ podSandboxId: id })),
    sandboxStatus: async (id) =>
      statusOf(await runtime.podSandboxStatus({ podSandboxId: id, verbose: true })),
    listSandboxes: async () => {
      const { items } = await runtime.listPodSandbox({});
      return items.map(({ id, metadata, state }) => ({
        id,
        name: metadata?.name ?? '',
        ready: state === PodSandboxState.SANDBOX_READY,
      }));
    },
  };
}

function containerCalls(runtime: CriRuntime): ContainerCalls {
  return {
    runContainer: async (sandbox, spec, sandboxSpec) => {
      const { containerId } = await runtime.createContainer({
        podSandboxId: sandbox,
        config: ContainerConfig.fromPartial({
          metadata: { name: spec.name },
          image: { image: spec.image },
          command: spec.command,
        }),
        sandboxConfig: sandboxConfig(sandboxSpec),
      });
      await runtime.startContainer({ containerId });
      return containerId;
    },
    stopContainer: async (id, seconds = 1) =>
      void (await runtime.stopContainer({ containerId: id, timeout: BigInt(seconds) })),
    removeContainer: async (id) => void (await runtime.removeContainer({ containerId: id })),
    exec: async (container, argv, seconds = 10) => {
      const request = { containerId: container, cmd: argv, timeout: BigInt(seconds) };
      const { stdout, stderr, exitCode } = await runtime.execSync(request);
      return { stdout: text(stdout), stderr: text(stderr), exitCode };
    },
  };
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

function statusOf({ status, info }: PodSandboxStatusResponse): SandboxStatus {
  const { ip = '', additionalIps = [] } = status?.network ?? {};
  const { runtimeSpec } = JSON.parse(info['info'] ?? '{}') as RawInfo;
  return {
    id: status?.id ?? '',
    ready: status?.state === PodSandboxState.SANDBOX_READY,
    addresses: [ip, ...additionalIps.map((one) => one.ip)].filter((address) => address !== ''),
    netns: runtimeSpec?.linux.namespaces.find(({ type }) => type === 'network')?.path ?? '',
  };
}

interface RawInfo {
  readonly runtimeSpec?: {
    readonly linux: { readonly namespaces: readonly { type: string; path?: string }[] };
  };
}

function sandboxConfig(spec: SandboxSpec): PodSandboxConfig {
  const { name, namespace = 'default', uid = `uid-${name}`, attempt = 0 } = spec;
  return PodSandboxConfig.fromPartial({
    metadata: { name, namespace, uid, attempt },
    hostname: spec.hostname ?? name,
    logDirectory: spec.logDirectory ?? '',
    dnsConfig: spec.dns,
    portMappings: (spec.portMappings ?? []).map((one) => ({
      ...one,
      protocol: Protocol[one.protocol ?? 'TCP'],
    })),
    annotations: spec.annotations ?? {},
    linux: {},
  });
}
