import fs from 'node:fs';
import path from 'node:path';
import { pauseImage } from '../containerd/image.js';
import type { RunningProcess } from '../processes.js';
import { kubernetesProgram } from './binaries.js';
import { openPortProxy } from './port-proxy.js';
import type { HostWithFiles } from './private-files.js';
import { createRestClient, type RestClient } from './rest.js';
import { until } from '../until.js';

export interface KubeletOptions {
  /** Socket file of the container runtime. */
  readonly runtime: string;
  readonly nodeName?: string;
  /** An address of the host; needed for the status of pods. */
  readonly nodeAddress: string;
  /** Added to its KubeletConfiguration. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Distinguishes kubelets of one host; `kubelet` when absent. */
  readonly name?: string;
}

/** A real kubelet without an API server: it runs the manifests of a directory. */
export interface Kubelet {
  readonly directory: string;
  /** Where it looks for manifests of static pods. */
  readonly manifests: string;
  /** Its API, `/pods` and so on. */
  readonly rest: RestClient;
  /** The same for programs that dial: plain HTTP. */
  readonly url: string;
  readonly pid: number;
  log(): string;
  /** SIGTERM. Pods go on. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

const port = 10250;

/**
 * Starts the real kubelet 1.20.2 inside the host. It needs private files: paths in /var/log and /var/lib are built in, and
 * it would set kernel parameters of the machine.
 */
export async function startKubelet(host: HostWithFiles, options: KubeletOptions): Promise<Kubelet> {
  const directory = path.join(host.directory, options.name ?? 'kubelet');
  const at = (name: string): string => path.join(directory, name);
  for (const name of ['', 'manifests', 'root', 'certificates', 'volume-plugins'])
    fs.mkdirSync(at(name), { mode: 0o700 });
  fs.writeFileSync(
    at('config.json'),
    JSON.stringify({ ...configuration(directory, host.controlGroup), ...options.config }),
  );
  const proxy = await openPortProxy(host, port, 'tls');
  const rest = createRestClient(proxy.url);
  let current: RunningProcess | undefined;
  const log = (): string => fs.readFileSync(at('log'), 'utf8');
  const start = async (): Promise<void> => {
    current = host.start(commandLine(directory, options), { outputFile: at('log') });
    const ended = current.exited.then(({ code, signal }) => {
      throw new Error(`the kubelet ended (${signal ?? code}):\n${log().slice(-4000)}`);
    });
    const ready = until('ready', async () => (await rest.call('GET', '/healthz')).status === 200, {
      describe: log,
    });
    await Promise.race([ready, ended]);
    ended.catch(() => undefined); // it ends one day
  };
  const stop = async (): Promise<void> => void (await current?.stop(10_000));
  host.defer(stop);
  await start();
  return {
    directory,
    manifests: at('manifests'),
    rest,
    url: proxy.url,
    get pid() {
      return current?.pid ?? -1;
    },
    log,
    stop,
    start,
  };
}

function commandLine(directory: string, { runtime, nodeName, nodeAddress }: KubeletOptions): string[] {
  const at = (name: string): string => path.join(directory, name);
  return [
    kubernetesProgram('kubelet'),
    `--config=${at('config.json')}`,
    '--container-runtime=remote',
    `--container-runtime-endpoint=unix://${runtime}`,
    `--image-service-endpoint=unix://${runtime}`,
    `--hostname-override=${nodeName ?? 'node1'}`,
    `--node-ip=${nodeAddress}`,
    `--root-dir=${at('root')}`,
    `--cert-dir=${at('certificates')}`,
    `--pod-infra-container-image=${pauseImage}`,
  ];
}

function configuration(directory: string, controlGroup: string): Record<string, unknown> {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    staticPodPath: path.join(directory, 'manifests'),
    volumePluginDir: path.join(directory, 'volume-plugins'),
    address: '127.0.0.1',
    port,
    readOnlyPort: 0,
    healthzPort: 0,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    cgroupDriver: 'cgroupfs',
    // Else it makes /kubepods in the control groups of the whole machine.
    cgroupRoot: controlGroup,
    cgroupsPerQOS: true,
    enforceNodeAllocatable: [],
    failSwapOn: false,
    evictionHard: {},
    imageGCHighThresholdPercent: 100,
    // Lowering it needs CAP_SYS_RESOURCE; the default is -999.
    oomScoreAdj: 0,
    protectKernelDefaults: true,
    makeIPTablesUtilChains: false,
    syncFrequency: '10s',
  };
}
