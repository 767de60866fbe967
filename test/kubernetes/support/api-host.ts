/** A machine with a real API server and our pod agent, which takes its pods from there. */
import fs from 'node:fs';
import path from 'node:path';
import {
  type Agent,
  createPrivateHost,
  installPlugin,
  type PluginDirectories,
  type RunningProcess,
  type Snapshot,
  startAgent,
  takeSnapshot,
  until,
} from '@podwire/testkit';
import { busyboxImage, startContainerd } from '@podwire/testkit/containerd';
import {
  type ApiServer,
  type HostWithFiles,
  startApiServer,
  withPrivateFiles,
} from '@podwire/testkit/kubernetes';
import type { ApiPod, Manifest } from './pods.js';
import { podwire } from './sandbox-service.js';

export const nodeName = 'node1';

export interface ApiHost {
  readonly host: HostWithFiles;
  readonly api: ApiServer;
  readonly podlet: PodAgent;
  /** A directory of manifests that the pod agent reads besides. */
  readonly manifests: string;
  /** The object of a pod, or undefined when there is none. */
  pod(name: string): Promise<ApiPod | undefined>;
  /** Creates a pod that is bound to this node. */
  createPod(manifest: Manifest): Promise<ApiPod>;
  /** A strategic merge patch, as `kubectl apply` sends. */
  patchPod(name: string, patch: object): Promise<void>;
  deletePod(name: string, graceSeconds?: number): Promise<void>;
  until(name: string, what: string, accept: (pod: ApiPod) => boolean): Promise<ApiPod>;
  untilReady(name: string, accept?: (pod: ApiPod) => boolean): Promise<ApiPod>;
  untilGone(name: string): Promise<void>;
  /** Events about a pod: `Started: …`. */
  events(name: string): Promise<string[]>;
  /** Runs a command of `podwire` against the pod agent. */
  podwire(...words: readonly string[]): Promise<string>;
  /** Network, processes, what agent and runtime keep. */
  snapshot(): Promise<Snapshot>;
  close(): Promise<void>;
}

export interface PodAgent {
  log(): string;
  pid(): number;
  kill9(): Promise<void>;
  start(): Promise<void>;
}

export async function createApiHost({
  runtime,
}: {
  readonly runtime: 'embedded' | 'containerd';
}): Promise<ApiHost> {
  const bare = await createPrivateHost({ name: 'api', world: true });
  try {
    return await furnish(await withPrivateFiles(bare), runtime);
  } catch (error) {
    await bare.close();
    throw error;
  }
}

async function furnish(host: HostWithFiles, kind: 'embedded' | 'containerd'): Promise<ApiHost> {
  const [api, agent] = await Promise.all([startApiServer(host), startAgent(host)]);
  await api.rest.post('/api/v1/nodes', { metadata: { name: nodeName } });
  const network = await installPlugin(host, agent.socket);
  const runtime = kind === 'embedded' ? 'embedded' : await openContainerd(host, network);
  const directory = path.join(host.directory, 'podlet');
  const manifests = path.join(host.directory, 'manifests');
  fs.mkdirSync(manifests);
  const podlet = await startPodAgent(host, {
    network,
    runtime,
    directory,
    manifests,
    kubeconfig: api.kubeconfig,
  });
  const { rest } = api;
  const pod = async (name: string): Promise<ApiPod | undefined> => {
    const { status, body } = await rest.call<ApiPod>('GET', `${pods}/${name}`);
    return status === 404 ? undefined : body;
  };
  const untilPod: ApiHost['until'] = (name, what, accept) =>
    until(
      `${name} ${what}`,
      async () => {
        const found = await pod(name);
        return found !== undefined && accept(found) ? found : undefined;
      },
      { describe: async () => `${JSON.stringify(await pod(name), null, 1)}\n${podlet.log().slice(-6000)}` },
    );
  return {
    host,
    api,
    podlet,
    manifests,
    pod,
    createPod: (manifest) => rest.post<ApiPod>(pods, { ...manifest, spec: { ...manifest.spec, nodeName } }),
    patchPod: async (name, patch) => {
      const type = 'application/strategic-merge-patch+json';
      const { status, body } = await rest.call('PATCH', `${pods}/${name}`, patch, type);
      if (status !== 200) throw new Error(`the patch was answered with ${status}: ${JSON.stringify(body)}`);
    },
    deletePod: async (name, graceSeconds) => {
      await rest.delete(
        `${pods}/${name}`,
        graceSeconds === undefined ? undefined : { gracePeriodSeconds: graceSeconds },
      );
    },
    until: untilPod,
    untilReady: (name, accept = () => true) =>
      untilPod(name, 'is Ready', (found) => conditionOf(found, 'Ready')?.status === 'True' && accept(found)),
    untilGone: async (name) => {
      const describe = (): string => podlet.log().slice(-6000);
      await until(`${name} is gone`, async () => (await pod(name)) === undefined, { describe });
    },
    events: (name) => readEvents(rest, name),
    podwire: (...words) =>
      host.run([process.execPath, podwire, ...words], {
        env: { ...process.env, PODWIRE_DIRECTORY: directory },
      }),
    snapshot: () => snapshotOf(host, agent, directory),
    close: () => host.close(),
  };
}

async function openContainerd(host: HostWithFiles, network: PluginDirectories): Promise<string> {
  const { socket } = await startContainerd(host, network);
  const [one, other] = [busyboxImage, busyboxImage.replace(/1$/, '2')];
  await host.run(['ctr', '--address', socket, '--namespace', 'k8s.io', 'images', 'tag', one, other]);
  return socket;
}

const pods = '/api/v1/namespaces/default/pods';

export const conditionOf = ({ status }: ApiPod, type: string) =>
  status.conditions?.find((condition) => condition.type === type);

async function readEvents(rest: ApiServer['rest'], name: string): Promise<string[]> {
  const query = new URLSearchParams({ fieldSelector: `involvedObject.name=${name}` });
  const { items } = await rest.get<{ items: { reason: string; message: string }[] }>(
    `/api/v1/namespaces/default/events?${query.toString()}`,
  );
  return items.map(({ reason, message }) => `${reason}: ${message}`);
}

async function snapshotOf(host: HostWithFiles, agent: Agent, directory: string): Promise<Snapshot> {
  const files = [
    path.join(agent.stateDirectory, 'endpoints'),
    path.join(directory, 'podlet/pods'),
    path.join(directory, 'embedded'),
    path.join(host.directory, 'containerd/state/io.containerd.grpc.v1.cri'),
  ];
  return {
    ...(await takeSnapshot(host.namespace, { processes: true, files })),
    mounts: Object.fromEntries(host.mountsBelow('/run/netns').map((place) => [place, true])),
  };
}

interface PodAgentWords {
  readonly network: PluginDirectories;
  readonly runtime: string;
  readonly directory: string;
  readonly manifests: string;
  readonly kubeconfig: string;
}

async function startPodAgent(host: HostWithFiles, words: PodAgentWords): Promise<PodAgent> {
  const { network, runtime, directory, manifests, kubeconfig } = words;
  const argv = [
    ...[process.execPath, podwire, 'podlet', '--directory', directory, '--runtime', runtime],
    ...['--kubeconfig', kubeconfig, '--node-name', nodeName, '--manifests', manifests],
    ...['--cni-conf-dir', network.confDir, '--cni-bin-dir', network.binDir],
  ];
  let earlier = '';
  let current: RunningProcess | undefined;
  const log = (): string => earlier + (current === undefined ? '' : current.stdout() + current.stderr());
  const start = async (): Promise<void> => {
    earlier = log();
    current = host.start(argv);
    await current.waitForOutput(/"msg":"ready"/);
  };
  await start();
  return {
    log,
    pid: () => current?.pid ?? -1,
    start,
    kill9: async () => {
      current?.kill('SIGKILL');
      await current?.exited;
    },
  };
}
