/** A node's agent: its configuration and its process. */
import fs from 'node:fs';
import { type LocalApi, openLocalApi } from '@podwire/local-api';
import type { StoreSpec } from '@podwire/store';
import type { TestbedNamespace } from '../net/namespaces.js';
import type { NodePaths } from '../paths.js';
import type { OpenRecord } from '../record.js';
import { networkName, type PlannedNode } from '../shape.js';
import { createDaemon, type Daemon } from './daemon.js';

export interface TestbedAgent extends Daemon {
  readonly configFile: string;
  readonly stateDirectory: string;
  /** Socket for plugins. */
  readonly socket: string;
  /** Socket of the local API. */
  readonly apiSocket: string;
  readonly api: LocalApi;
}

export interface AgentOptions {
  readonly node: PlannedNode;
  readonly paths: NodePaths;
  readonly record: OpenRecord;
  readonly namespace: TestbedNamespace;
  /** The command line up to `--config FILE`. */
  readonly entry: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Milliseconds until an agent must be ready: many start at once on few processors. */
const patience = 60_000;

export function createTestbedAgent({ node, paths, entry, ...options }: AgentOptions): TestbedAgent {
  const { config, log, apiSocket, socket, stateDirectory } = paths;
  const daemon = createDaemon({
    ...options,
    what: `agent of ${node.name}`,
    argv: [...entry, '--config', config],
    log,
    isReady: (written) => /"msg":"ready"/.test(written),
    patience,
  });
  const peer = { name: `agent of ${node.name}`, unreachable: 'AGENT_UNREACHABLE' } as const;
  const api = openLocalApi({ socket: apiSocket, peer });
  const facts = { configFile: config, stateDirectory, socket, apiSocket, api };
  return Object.defineProperties(daemon, Object.getOwnPropertyDescriptors(facts)) as TestbedAgent;
}

/** Added to the configuration of every agent; `cluster` is merged key by key. */
export interface ConfigAdditions {
  readonly cluster?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** JSON is YAML too. */
export function writeAgentConfig(
  { name, addresses, segment }: PlannedNode,
  paths: NodePaths,
  store: StoreSpec,
  { cluster, ...more }: ConfigAdditions = {},
): void {
  fs.mkdirSync(paths.directory, { recursive: true, mode: 0o700 });
  const document = {
    nodeName: name,
    socket: paths.socket,
    apiSocket: paths.apiSocket,
    stateDir: paths.stateDirectory,
    networks: [{ name: networkName }],
    ...more,
    cluster: {
      store,
      labels: { subnet: segment.name },
      address: Object.values(addresses) as string[],
      ...cluster,
    },
  };
  fs.writeFileSync(paths.config, `${JSON.stringify(document, undefined, 2)}\n`, { mode: 0o600 });
}
