/** A machine with Docker Engine, our sandbox service, a network, and a real kubelet that uses them. */
import path from 'node:path';
import { Duplex, PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { openExec, openPortForward } from '@podwire/cri-streaming';
import { replaceFileSync } from '@podwire/platform';
import {
  type Agent,
  assertSameSnapshot,
  CommandError,
  createPrivateHost,
  installPlugin,
  type PluginDirectories,
  type Snapshot,
  startAgent,
  takeSnapshot,
  type TestNamespace,
  until,
  worldAddresses,
} from '@podwire/testkit';
import { type Docker, startDocker } from '@podwire/testkit/docker';
import {
  type HostWithFiles,
  type Kubelet,
  startKubelet,
  withPrivateFiles,
} from '@podwire/testkit/kubernetes';
import { installDebianNetwork } from './debian-network.js';
import type { ApiPod } from './pods.js';
import { type SandboxService, startSandboxService } from './sandbox-service.js';

export interface KubeletHost {
  readonly host: HostWithFiles;
  readonly world: TestNamespace;
  readonly kubelet: Kubelet;
  readonly service: SandboxService;
  /** Absent with the embedded runtime. */
  readonly docker: Docker | undefined;
  /** Status of a pod at the kubelet; names of static pods end in the node's. */
  pod(name: string): Promise<ApiPod | undefined>;
  /** Resolves with the pod when it is Ready. */
  untilReady(name: string, accept?: (pod: ApiPod) => boolean): Promise<ApiPod>;
  untilGone(name: string): Promise<void>;
  /** A container's log, as the kubelet gives it. */
  readLog(name: string): Promise<string>;
  exec(name: string, command: readonly string[], options?: ExecRequest): Promise<Executed>;
  /** Says something to a port of a pod over the kubelet’s port-forward, and resolves with the whole answer. */
  forward(name: string, port: number, words: string): Promise<string>;
  writeManifest(file: string, pod: object): void;
  /** Network of the node, processes in it, and everything that is kept of pods: by the engine, the service, the network. */
  snapshot(): Promise<Snapshot>;
  /** Resolves when all is as it was. The kubelet removes what it has stopped once in a minute. */
  untilNothingIsLeft(before: Snapshot): Promise<void>;
  close(): Promise<void>;
}

export interface ExecRequest {
  readonly transport?: 'spdy' | 'websocket';
  readonly input?: string;
}

export interface Executed {
  readonly code: number;
  /** Standard output and error. */
  readonly output: string;
}

export interface KubeletHostOptions {
  readonly network: 'podwire' | 'debian';
  readonly runtime: 'docker' | 'embedded';
}

export async function createKubeletHost(options: KubeletHostOptions): Promise<KubeletHost> {
  const bare = await createPrivateHost({ name: 'klt', world: true });
  try {
    return await furnish(await withPrivateFiles(bare), options);
  } catch (error) {
    await bare.close();
    throw error;
  }
}

async function furnish(host: HostWithFiles, options: KubeletHostOptions): Promise<KubeletHost> {
  const { network, records } = await openNetwork(host, options.network);
  const docker = options.runtime === 'docker' ? await startDocker(host) : undefined;
  const service = await startSandboxService(host, {
    network,
    ...(docker === undefined ? {} : { dockerSocket: docker.socket }),
  });
  const nodeAddress = worldAddresses.host.ipv4;
  const kubelet = await startKubelet(host, { runtime: service.socket, nodeAddress });
  const pod = async (name: string): Promise<ApiPod | undefined> => {
    const { items } = await kubelet.rest.get<{ items: readonly ApiPod[] | null }>('/pods');
    return items?.find(({ metadata }) => metadata.name === `${name}-node1`);
  };
  const describe = async (): Promise<string> =>
    `${JSON.stringify(await kubelet.rest.get('/pods'), null, 1)}\n${service.log().slice(-6000)}\n${kubelet.log().slice(-6000)}`;
  const places = [
    path.join(kubelet.directory, 'root/pods'),
    path.join(service.directory, 'docker/sandbox'),
    path.join(service.directory, 'embedded'),
    ...records,
  ];
  const snapshot = async (): Promise<Snapshot> => {
    const listed = (await docker?.containers()) ?? [];
    return {
      ...(await takeSnapshot(host.namespace, { processes: true, files: places })),
      containers: Object.fromEntries(listed.map(({ name, state }) => [name, state])),
      mounts: Object.fromEntries(host.mountsBelow('/run/netns').map((place) => [place, true])),
    };
  };
  return {
    host,
    world: host.world!,
    kubelet,
    service,
    docker,
    pod,
    untilReady: (name, accept = () => true) =>
      until(`${name} is Ready`, async () => acceptReady(await pod(name), accept), { describe }),
    untilGone: async (name) =>
      void (await until(`${name} is gone`, async () => !(await pod(name)), { describe })),
    readLog: (name) => kubelet.rest.get(`/containerLogs/default/${name}-node1/web`),
    exec: (name, command, request) =>
      execute(`${kubelet.url}/exec/default/${name}-node1/web`, command, request),
    forward: (name, port, words) => forward(`${kubelet.url}/portForward/default/${name}-node1`, port, words),
    writeManifest: (file, manifest) => {
      // The kubelet reads what it sees, so that a half-written file is an error that it shows.
      replaceFileSync(path.join(kubelet.manifests, file), JSON.stringify(manifest));
    },
    snapshot,
    untilNothingIsLeft: async (before) => {
      const look = async (): Promise<true> => {
        assertSameSnapshot(before, await snapshot(), { ignore: leftOnPurpose });
        return true;
      };
      await until('all is as it was', look, { timeout: 150_000, interval: 500 });
    },
    close: () => host.close(),
  };
}

/** The node keeps the block of addresses that it claimed for its first pod, and services their directories. */
const leftOnPurpose = [/^routes\/blackhole /, /docker\/sandbox$/];

async function openNetwork(
  host: HostWithFiles,
  kind: KubeletHostOptions['network'],
): Promise<{ network: PluginDirectories; records: string[] }> {
  if (kind === 'debian') {
    const network = installDebianNetwork(host);
    return { network, records: [network.leases] };
  }
  const agent: Agent = await startAgent(host);
  return {
    network: await installPlugin(host, agent.socket),
    records: [path.join(agent.stateDirectory, 'endpoints')],
  };
}

function acceptReady(pod: ApiPod | undefined, accept: (pod: ApiPod) => boolean): ApiPod | undefined {
  const isReady =
    pod?.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  return isReady && accept(pod) ? pod : undefined;
}

async function execute(
  url: string,
  command: readonly string[],
  { transport = 'spdy', input }: ExecRequest = {},
): Promise<Executed> {
  const query = new URLSearchParams({
    output: '1',
    error: '1',
    ...(input === undefined ? {} : { input: '1' }),
  });
  for (const word of command) query.append('command', word);
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const output = Promise.all([text(stdout), text(stderr)]);
  const code = await openExec(`${url}?${query.toString()}`, {
    ...(input === undefined ? {} : { stdin: Readable.from([Buffer.from(input)]) }),
    stdout,
    stderr,
    transports: [transport],
  });
  stdout.end();
  stderr.end();
  return { code, output: (await output).join('') };
}

async function forward(url: string, port: number, words: string): Promise<string> {
  const answer = new PassThrough();
  const heard = text(answer);
  await openPortForward(url, port, Duplex.from({ readable: Readable.from([words]), writable: answer }), {
    transports: ['spdy'],
  });
  return heard;
}

/** Answer of a web server to a program in a namespace. */
export function fetchFrom(namespace: TestNamespace, url: string): Promise<string> {
  return namespace.run(['busybox', 'wget', '-qO-', url]);
}

/** Reports if the web server of a pod can be reached. */
export async function serves(namespace: TestNamespace, address: string, port = 80): Promise<boolean> {
  return fetchFrom(namespace, `http://${address}:${port}/`).then(
    () => true,
    (error: unknown) => {
      if (error instanceof CommandError) return false;
      throw error;
    },
  );
}
