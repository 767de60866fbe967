import path from 'node:path';
import { promisify } from 'node:util';
import grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

/** What a sandbox is asked for; everything but the name has a default. */
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

/** A client of the Container Runtime Interface v1. Errors are gRPC's, with its numeric `code`. */
export interface CriClient {
  /** Waits until the server answers. */
  connect(timeout?: number): Promise<void>;
  version(): Promise<{ name: string; version: string }>;
  conditions(): Promise<Condition[]>;
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
  close(): void;
}

type Call = (request: object, options?: { deadline: number }) => Promise<Record<string, unknown>>;

const protoFile = path.resolve(import.meta.dirname, '../../../proto/cri.proto');

/** Connects to a runtime's socket. Calls have a deadline of `timeout` milliseconds (2 min, as the kubelet's). */
export function createCriClient(socket: string, timeout = 120_000): CriClient {
  const definition = loadSync(protoFile, { enums: String, longs: Number, defaults: true });
  const runtime = (grpc.loadPackageDefinition(definition)['runtime'] as grpc.GrpcObject)[
    'v1'
  ] as grpc.GrpcObject;
  const Service = runtime['RuntimeService'] as grpc.ServiceClientConstructor;
  const client = new Service(`unix://${socket}`, grpc.credentials.createInsecure());
  const call = async <T = unknown>(method: string, request: object): Promise<T> => {
    const bound = promisify(
      (client[method] as (...args: unknown[]) => unknown).bind(client),
    ) as unknown as Call;
    return (await bound(request, { deadline: Date.now() + timeout })) as T;
  };
  return {
    ...sandboxCalls(call),
    ...containerCalls(call),
    connect: (wait = 30_000) => promisify(client.waitForReady.bind(client))(Date.now() + wait),
    close: () => client.close(),
  };
}

type Invoke = <T = unknown>(method: string, request: object) => Promise<T>;

function sandboxCalls(
  call: Invoke,
): Omit<CriClient, 'connect' | 'close' | 'runContainer' | 'stopContainer' | 'removeContainer' | 'exec'> {
  return {
    version: async () => {
      const answer = await call<{ runtimeName: string; runtimeVersion: string }>('Version', {
        version: 'v1',
      });
      return { name: answer.runtimeName, version: answer.runtimeVersion };
    },
    conditions: async () =>
      (await call<{ status: { conditions: Condition[] } }>('Status', {})).status.conditions,
    runSandbox: async (spec) =>
      (await call<{ podSandboxId: string }>('RunPodSandbox', { config: sandboxConfig(spec) })).podSandboxId,
    stopSandbox: async (id) => void (await call('StopPodSandbox', { podSandboxId: id })),
    removeSandbox: async (id) => void (await call('RemovePodSandbox', { podSandboxId: id })),
    sandboxStatus: async (id) =>
      statusOf(await call('PodSandboxStatus', { podSandboxId: id, verbose: true })),
    listSandboxes: async () => {
      const { items } = await call<{ items: RawSandbox[] }>('ListPodSandbox', {});
      return items.map(({ id, metadata, state }) => ({
        id,
        name: metadata.name,
        ready: state === 'SANDBOX_READY',
      }));
    },
  };
}

function containerCalls(
  call: Invoke,
): Pick<CriClient, 'runContainer' | 'stopContainer' | 'removeContainer' | 'exec'> {
  return {
    runContainer: async (sandbox, spec, sandboxSpec) => {
      const { containerId } = await call<{ containerId: string }>('CreateContainer', {
        podSandboxId: sandbox,
        config: { metadata: { name: spec.name }, image: { image: spec.image }, command: spec.command },
        sandboxConfig: sandboxConfig(sandboxSpec),
      });
      await call('StartContainer', { containerId });
      return containerId;
    },
    stopContainer: async (id, seconds = 1) =>
      void (await call('StopContainer', { containerId: id, timeout: seconds })),
    removeContainer: async (id) => void (await call('RemoveContainer', { containerId: id })),
    exec: async (container, argv, seconds = 10) => {
      const request = { containerId: container, cmd: argv, timeout: seconds };
      const answer = await call<{ stdout: Buffer; stderr: Buffer; exitCode: number }>('ExecSync', request);
      return { ...answer, stdout: answer.stdout.toString('utf8'), stderr: answer.stderr.toString('utf8') };
    },
  };
}

interface RawSandbox {
  readonly id: string;
  readonly state: string;
  readonly metadata: { readonly name: string };
}

interface RawStatus {
  readonly status: RawSandbox & {
    readonly network: {
      readonly ip: string;
      readonly additionalIps: readonly { readonly ip: string }[];
    } | null;
  };
  readonly info: Readonly<Record<string, string>>;
}

function statusOf({ status, info }: RawStatus): SandboxStatus {
  const { ip = '', additionalIps = [] } = status.network ?? {};
  const { runtimeSpec } = JSON.parse(info['info'] ?? '{}') as RawInfo;
  return {
    id: status.id,
    ready: status.state === 'SANDBOX_READY',
    addresses: [ip, ...additionalIps.map((one) => one.ip)].filter((address) => address !== ''),
    netns: runtimeSpec?.linux.namespaces.find(({ type }) => type === 'network')?.path ?? '',
  };
}

interface RawInfo {
  readonly runtimeSpec?: {
    readonly linux: { readonly namespaces: readonly { type: string; path?: string }[] };
  };
}

function sandboxConfig(spec: SandboxSpec): object {
  const { name, namespace = 'default', uid = `uid-${name}`, attempt = 0 } = spec;
  return {
    metadata: { name, namespace, uid, attempt },
    hostname: spec.hostname ?? name,
    logDirectory: spec.logDirectory ?? '',
    dnsConfig: spec.dns,
    portMappings: spec.portMappings ?? [],
    annotations: spec.annotations ?? {},
    linux: {},
  };
}
