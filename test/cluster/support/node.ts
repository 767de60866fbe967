/** A machine with an agent, and the pods that a runtime on it has. */
import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import { encodeRequest } from '@podwire/agent';
import {
  type Agent,
  type ClusterHost,
  eventually,
  reaches,
  serveEcho,
  type TestNamespace,
} from '@podwire/testkit';
import type { FaultInjector } from '@podwire/testkit/fault-injection';
import type { Journal } from './journal.js';

export interface Pod {
  readonly node: string;
  readonly namespace: TestNamespace;
  /** Without lengths. */
  readonly addresses: readonly string[];
  /** As Kubernetes knows it; its container when absent. */
  readonly name: string;
}

export interface PodRequest {
  readonly name?: string;
  readonly config?: Readonly<Record<string, unknown>>;
}

export interface Answer {
  readonly ok: boolean;
  readonly json: Readonly<Record<string, unknown>> & { readonly code?: number; readonly msg?: string };
}

/** The part of `/v1/status` that tests read. */
export interface Status {
  readonly ready: boolean;
  readonly problem: string | null;
  readonly cluster: {
    readonly standing: string;
    readonly instance: string;
    readonly fenced: boolean;
    readonly confirmedAt: string | null;
    readonly store: { readonly connected: boolean };
    readonly holdings: readonly { readonly cidr: string; readonly state: string }[];
    readonly unreported: number;
    readonly peers: { readonly count: number; readonly withProblems: number };
    readonly controller: { readonly leading: boolean };
    readonly problems: readonly string[];
  };
}

export interface Endpoint {
  readonly key: string;
  readonly addresses: readonly string[];
}

/** Requests of a runtime and of people to a node; its agent need not serve. */
export interface NodeCalls {
  readonly name: string;
  readonly host: ClusterHost;
  /** Those that ADD has answered for and DEL has not. */
  readonly pods: ReadonlySet<Pod>;
  /** @throws AssertionError with the answer */
  add(request?: PodRequest): Promise<Pod>;
  /** ADD that may fail; what is left of it is taken away then. @returns the pod, or what the runtime is told */
  tryAdd(request?: PodRequest): Promise<Pod | string>;
  del(pod: Pod): Promise<void>;
  /** Error with which ADD is refused. @throws AssertionError when it is not */
  refusal(request?: PodRequest): Promise<string>;
  /** DEL for every ADD that the agent has died in. */
  undoUnanswered(): Promise<void>;
  status(): Promise<Status>;
  endpoints(): Promise<readonly Endpoint[]>;
}

export interface ClusterNode extends NodeCalls {
  readonly agent: Agent;
  readonly faults: FaultInjector;
}

export interface CallParts {
  readonly name: string;
  readonly host: ClusterHost;
  readonly agent: Pick<Agent, 'socket' | 'apiSocket'>;
  readonly journal: Journal;
}

export function openCalls({ name, host, agent, journal }: CallParts): NodeCalls {
  const pods = new Set<Pod>();
  const unanswered: TestNamespace[] = [];
  const call = (
    command: string,
    namespace: TestNamespace,
    request: PodRequest,
  ): Promise<Answer | undefined> => callPlugin(agent.socket, command, namespace, request);

  async function tryAdd(request: PodRequest = {}): Promise<Pod | string> {
    const namespace = host.addPod();
    const answer = await call('ADD', namespace, request);
    if (answer?.ok === true) {
      const ips = answer.json['ips'] as readonly { address: string }[];
      const addresses = ips.map(({ address }) => address.split('/')[0]!);
      const pod = { node: name, namespace, addresses, name: request.name ?? namespace.name };
      pods.add(pod);
      journal.note(name, namespace.name, addresses);
      return pod;
    }
    // As a runtime does after an ADD that has failed. An agent that died cannot be asked.
    if (answer === undefined) unanswered.push(namespace);
    else {
      const undone = await call('DEL', namespace, request);
      assert.ok(undone?.ok, JSON.stringify(undone));
      host.removePod(namespace);
    }
    return answer?.json.msg ?? 'the agent died';
  }

  return {
    name,
    host,
    pods,
    tryAdd,
    async add(request) {
      const pod = await tryAdd(request);
      if (typeof pod === 'string') assert.fail(`ADD on ${name}: ${pod}`);
      return pod;
    },
    async del(pod) {
      journal.end(pod.namespace.name);
      const answer = await call('DEL', pod.namespace, { name: pod.name });
      assert.ok(answer?.ok, `DEL on ${name}: ${JSON.stringify(answer?.json)}`);
      pods.delete(pod);
      host.removePod(pod.namespace);
    },
    async refusal(request) {
      const pod = await tryAdd(request);
      assert.ok(typeof pod === 'string', `ADD on ${name} is not refused`);
      return pod;
    },
    async undoUnanswered() {
      for (const namespace of unanswered.splice(0)) {
        const answer = await call('DEL', namespace, {});
        assert.ok(answer?.ok, JSON.stringify(answer));
        host.removePod(namespace);
      }
    },
    status: async () => (await askApi(agent.apiSocket, '/v1/status')) as unknown as Status,
    endpoints: async () => {
      const { endpoints } = await askApi(agent.apiSocket, '/v1/endpoints');
      return (endpoints as Endpoint[]).map(({ key, addresses }) => ({
        key,
        addresses: addresses.map((address) => address.split('/')[0]!),
      }));
    },
  };
}

/** One CNI call over the agent's socket. @returns undefined when the agent died first */
export async function callPlugin(
  socket: string,
  command: string,
  namespace: TestNamespace,
  { name = namespace.name, config = {} }: PodRequest = {},
): Promise<Answer | undefined> {
  const environment = Object.entries({
    CNI_COMMAND: command,
    CNI_CONTAINERID: namespace.name,
    CNI_NETNS: namespace.path,
    CNI_IFNAME: 'eth0',
    CNI_PATH: '/usr/lib/cni',
    CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=test;K8S_POD_NAME=${name}`,
  });
  const stdin = { cniVersion: '1.1.0', name: 'default', type: 'podwire-cni', ...config };
  const text = await exchange(
    socket,
    encodeRequest({ environment, stdin: Buffer.from(JSON.stringify(stdin)) }),
  );
  if (text === '') return undefined;
  const body = text.slice(1);
  return { ok: text.startsWith('0'), json: (body === '' ? {} : JSON.parse(body)) as Answer['json'] };
}

function exchange(path: string, request: Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ path, allowHalfOpen: true });
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') resolve('');
      else reject(error);
    });
    socket.once('close', () => resolve(Buffer.concat(chunks).toString()));
    socket.once('end', () => socket.destroy());
    socket.end(request);
  });
}

function askApi(socketPath: string, path: string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const request = http.get({ socketPath, path, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () =>
        resolve(JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>),
      );
    });
    request.once('error', reject);
  });
}

/** Until every address of the pod answers, asked from there over UDP: routes follow in the background. */
export async function untilReaches(from: TestNamespace, { namespace, addresses }: Pod): Promise<void> {
  for (const address of addresses) {
    const server = await serveEcho(namespace, 'udp', address, 0);
    try {
      await eventually(`${from.name} reaches ${address}`, () =>
        reaches(from, 'udp', address, server.port, { timeout: 500 }),
      );
    } finally {
      await server.close();
    }
  }
}
