/** A node's agent: its configuration and its process. */
import fs from 'node:fs';
import { type LocalApi, openLocalApi } from '@podwire/local-api';
import type { StoreSpec } from '@podwire/store';
import type { TestbedNamespace } from '../net/namespaces.js';
import type { NodePlaces } from '../places.js';
import type { OpenRecord } from '../record.js';
import { networkName, type NodePlace } from '../shape.js';
import { createDaemon, type Daemon } from './daemon.js';

export interface TestbedAgent extends Daemon {
  readonly configFile: string;
  readonly stateDirectory: string;
  /** For plugins. */
  readonly socket: string;
  /** For people and programs. */
  readonly apiSocket: string;
  readonly api: LocalApi;
}

export interface AgentOptions {
  readonly node: NodePlace;
  readonly places: NodePlaces;
  readonly record: OpenRecord;
  readonly namespace: TestbedNamespace;
  /** The command line up to `--config FILE`. */
  readonly entry: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Milliseconds until an agent must be ready: many start at once, on few processors. */
const patience = 60_000;

export function createTestbedAgent({ node, places, entry, ...options }: AgentOptions): TestbedAgent {
  const { config, log, apiSocket, socket, stateDirectory } = places;
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

/** What tests may add to the configuration of every agent; `cluster` is merged key by key. */
export interface ConfigAdditions {
  readonly cluster?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** JSON is YAML too. */
export function writeAgentConfig(
  { name, addresses, segment }: NodePlace,
  places: NodePlaces,
  store: StoreSpec,
  { cluster, ...more }: ConfigAdditions = {},
): void {
  fs.mkdirSync(places.directory, { recursive: true, mode: 0o700 });
  const document = {
    nodeName: name,
    socket: places.socket,
    apiSocket: places.apiSocket,
    stateDir: places.stateDirectory,
    networks: [{ name: networkName }],
    ...more,
    cluster: {
      store,
      labels: { subnet: segment.name },
      address: Object.values(addresses) as string[],
      ...cluster,
    },
  };
  fs.writeFileSync(places.config, `${JSON.stringify(document, undefined, 2)}\n`, { mode: 0o600 });
}
