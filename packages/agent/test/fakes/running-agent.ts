import http from 'node:http';
import { noFaults } from '@podwire/engine';
import { createIpam } from '@podwire/ipam';
import { peerCredentials } from '@podwire/linux';
import { onTestFinished } from 'vitest';
import { type Agent, startAgent } from '../../src/agent.js';
import type { AgentDependencies } from '../../src/assemble.js';
import { type ConfigOrigin, parseConfig } from '../../src/config/index.js';
import { indexModels, networkModels } from '../../src/models.js';
import { createLog } from '../../src/log.js';
import { encodeRequest } from '../../src/server/framing.js';
import { FakeEngine } from './fake-engine.js';
import { ordinaryHost } from './harness.js';
import { createMemoryRecords, type MemoryRecords } from './memory-records.js';
import { exchange, makeDirectory } from './sockets.js';

export interface RunningAgent {
  readonly agent: Agent;
  readonly engine: FakeEngine;
  readonly records: MemoryRecords;
  readonly socket: string;
  readonly apiSocket: string;
  readonly call: (command: string, id?: string, config?: Record<string, unknown>) => Promise<string>;
  readonly get: (path: string, body?: unknown) => Promise<HttpAnswer>;
}

export interface HttpAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

export interface TestAgentOptions {
  readonly yaml?: string;
  readonly engine?: FakeEngine;
  readonly socket?: string;
  /** In place of those that it has otherwise. */
  readonly dependencies?: Partial<AgentDependencies>;
  /** @param head lines that every configuration of it begins with */
  readonly origin?: (head: string) => ConfigOrigin;
}

/** An agent with its sockets in a directory of the test, on a kernel in memory. */
export async function startTestAgent(options: TestAgentOptions = {}): Promise<RunningAgent> {
  const { yaml = '', engine = new FakeEngine() } = options;
  const directory = makeDirectory();
  const { socket = `${directory}/cni.sock` } = options;
  const apiSocket = `${directory}/api.sock`;
  const records = createMemoryRecords();
  const head = `nodeName: node1\nsocket: ${socket}\napiSocket: ${apiSocket}\n`;
  const config = parseConfig(`${head}${yaml}`);
  const agent = await startAgent(config, {
    version: '1.2.3',
    engine,
    records,
    models: indexModels(networkModels),
    createIpam,
    namespaces: {
      identify: (path) => ({ path, device: 4, inode: 1000 + path.length }),
      isGone: () => false,
    },
    readHost: () => ordinaryHost,
    peerCredentials,
    clock: Date.now,
    elapsed: () => performance.now(),
    random: (bytes) => new Uint8Array(bytes).fill(7),
    faults: noFaults,
    log: createLog({ level: 'silent', nodeName: 'node1' }),
    ...options.dependencies,
    ...(options.origin === undefined ? {} : { origin: options.origin(head) }),
  });
  onTestFinished(() => (engine.closed ? undefined : agent.stop()));
  return {
    agent,
    engine,
    records,
    socket,
    apiSocket,
    call: (command, id = 'c1', config = {}) => exchange(socket, encodeCall(command, id, config)),
    get: (path, body) => request({ socketPath: apiSocket, path }, body),
  };
}

export function encodeCall(command: string, id: string, config: Record<string, unknown>): Uint8Array {
  const environment = Object.entries({
    CNI_COMMAND: command,
    CNI_CONTAINERID: id,
    CNI_NETNS: `/run/netns/${id}`,
    CNI_IFNAME: 'eth0',
    CNI_PATH: '/opt/cni/bin',
    CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=web;K8S_POD_NAME=${id}`,
  });
  const complete = { cniVersion: '1.1.0', name: 'podwire', type: 'podwire-cni', ...config };
  return encodeRequest({ environment, stdin: Buffer.from(JSON.stringify(complete)) });
}

/** GET, or POST when there is a body. */
export function request(options: http.RequestOptions, body?: unknown): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = http.request(
      { ...options, agent: false, method: body === undefined ? 'GET' : 'POST' },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.once('end', () => {
          const text = Buffer.concat(chunks).toString();
          const type = incoming.headers['content-type'] ?? '';
          const json = (type.includes('json') ? JSON.parse(text) : {}) as HttpAnswer['json'];
          resolve({ status: incoming.statusCode ?? 0, type, text, json });
        });
      },
    );
    outgoing.once('error', reject);
    outgoing.end(typeof body === 'string' || body === undefined ? body : JSON.stringify(body));
  });
}
