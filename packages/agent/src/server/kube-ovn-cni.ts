/**
 * The socket of Kube-OVN's CNI plugin, and the network configuration by which container runtimes learn that the node serves it. That
 * is written last of all.
 */
import fs from 'node:fs';
import type { Socket } from 'node:net';
import path from 'node:path';
import { readPrintedError, readPrintedResult } from '@podwire/cni';
import { PodwireError } from '@podwire/errors';
import {
  type CniRequest,
  type KubeOvnCniServer,
  type KubeOvnHandlers,
  removeConflist,
  serveKubeOvnCni,
  toCniResponse,
  writeConflist,
} from '@podwire/kube-ovn-cni';
import type { PeerCredentials } from '@podwire/linux';
import { orAborted, systemClock } from '@podwire/platform';
import type { AgentConfig } from '../config/index.js';
import type { Log } from '../log.js';
import type { GiveAnswer, Received } from './connection.js';

export interface KubeOvnCniOptions {
  readonly config: NonNullable<AgentConfig['kubeOvnCni']>;
  /** Of the agent: a start of the machine empties it. */
  readonly stateDir: string;
  readonly maxConnections: number;
  /** Milliseconds for a request. */
  readonly deadline: number;
  readonly serve: (received: Received, answer: GiveAnswer) => Promise<void>;
  /** The UID of a pod that the API server has. */
  readonly findUid: (namespace: string, name: string, signal: AbortSignal) => Promise<string | undefined>;
  /** Resolves when the node serves pods. Rejects when the agent stops before. */
  readonly ready: Promise<void>;
  /** Aborts when the agent stops: nothing is written from then on. */
  readonly signal: AbortSignal;
  readonly peerCredentials: (socket: Socket) => PeerCredentials | undefined;
  readonly log: Log;
}

/** There while the network configuration is one of this life of the machine. */
const markName = 'kube-ovn-cni';

/** @throws PodwireError AGENT_RUNNING, CONFIG_INVALID */
export async function openKubeOvnCni(options: KubeOvnCniOptions): Promise<KubeOvnCniServer> {
  const { config, stateDir, maxConnections, deadline, peerCredentials, log } = options;
  const { socket: socketPath, networkConfigDir } = config;
  const mark = path.join(stateDir, markName);
  if (!fs.existsSync(mark)) removeEarlier(networkConfigDir, socketPath, log);
  const server = await serveKubeOvnCni({
    ...{ socketPath, maxConnections, peerCredentials, deadline, clock: systemClock, log },
    handlers: createHandlers(options),
  });
  orAborted(options.ready, options.signal).then(
    () => announce(config, mark, log),
    () => log.debug('stopped before the plugin of Kube-OVN was served'),
  );
  return server;
}

function announce({ socket, networkConfigDir }: KubeOvnCniOptions['config'], mark: string, log: Log): void {
  try {
    writeConflist(networkConfigDir, socket);
    fs.writeFileSync(mark, '');
    log.info({ socket, networkConfigDir }, 'serving the plugin of Kube-OVN');
  } catch (err) {
    log.error({ err }, 'the plugin of Kube-OVN is not served; restart the agent when the cause is gone');
  }
}

function removeEarlier(directory: string, socketPath: string, log: Log): void {
  try {
    removeConflist(directory, socketPath);
  } catch (err) {
    log.warn({ err }, 'the network configuration of an earlier life could not be removed');
  }
}

function createHandlers({ serve, findUid }: Pick<KubeOvnCniOptions, 'serve' | 'findUid'>): KubeOvnHandlers {
  return {
    async add(request, signal) {
      refuseUnknown(request);
      const uid = await findUid(request.podNamespace, request.podName, signal);
      const body = await exchange(serve, variablesOf('ADD', request, uid));
      signal.throwIfAborted();
      return toCniResponse(readPrintedResult(body, configuration.cniVersion)!);
    },
    async del(request) {
      await exchange(serve, variablesOf('DEL', request));
    },
  };
}

/** @throws PodwireError REQUEST_INVALID for what an ADD here cannot do */
function refuseUnknown({ cniType, provider, routes, deviceId }: CniRequest): void {
  const refuse = (field: string, why: string): never => {
    throw new PodwireError('REQUEST_INVALID', `${field}: ${why}`);
  };
  if (cniType !== '' && cniType !== 'kube-ovn')
    refuse('cni_type', `${cniType} asks for addresses alone, which is not served`);
  if (provider !== 'ovn') refuse('provider', `${provider} is an attachment, and only ovn is served`);
  if (routes.length > 0) refuse('routes', 'routes of the network configuration are not served');
  if (deviceId !== '') refuse('deviceID', 'devices on the PCI bus are not served');
}

/** The original's request has no UID, which its daemon knows from the API server: where no one knows it here, a sandbox counts as a pod. */
const variablesOf = (
  command: string,
  request: CniRequest,
  uid = request.containerId,
): Record<string, string> => ({
  ...{ CNI_COMMAND: command, CNI_CONTAINERID: request.containerId, CNI_NETNS: request.netNs },
  ...{ CNI_IFNAME: request.ifName, CNI_PATH: '/' },
  CNI_ARGS: [
    ...['IgnoreUnknown=1', `K8S_POD_NAMESPACE=${request.podNamespace}`, `K8S_POD_NAME=${request.podName}`],
    `K8S_POD_UID=${uid}`,
  ].join(';'),
});

const configuration = { cniVersion: '1.1.0', name: 'kube-ovn', type: 'kube-ovn' } as const;

/** The answer as a plugin would print it. @throws CniError */
async function exchange(
  serve: KubeOvnCniOptions['serve'],
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  const environment = Object.entries(variables);
  const answers: { readonly ok: boolean; readonly body: string }[] = [];
  const received = { request: { environment, stdin: Buffer.from(JSON.stringify(configuration)) } };
  await serve(received, (ok, body) => Promise.resolve(void answers.push({ ok, body })));
  const [answer] = answers;
  if (answer === undefined)
    throw new PodwireError('INTERNAL', 'the request was carried out and not answered');
  if (answer.ok) return answer.body;
  throw readPrintedError(answer.body);
}
