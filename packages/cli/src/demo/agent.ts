import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PodwireError } from '@podwire/errors';
import type { LocalApi } from '@podwire/local-api';
import { openAgentApi } from '../api/locate.js';
import type { StatusView } from '../api/shapes.js';
import type { OpenLedger } from './ledger.js';
import type { DemoNamespace } from './namespaces.js';

export interface DemoAgent {
  readonly api: LocalApi;
  /** For plugins. */
  readonly socket: string;
  readonly configFile: string;
  readonly logFile: string;
}

/** Milliseconds. */
const readyDeadline = 15_000;
const pause = 20;

/**
 * Starts `podwire agent` inside the node's namespace, with all defaults but the places of its files; resolves when it is
 * ready. It goes on without the demo until somebody ends it.
 * @throws PodwireError AGENT_NOT_READY with the end of its log; the signal's reason
 */
export async function startDemoAgent(
  podwire: string,
  node: DemoNamespace,
  ledger: OpenLedger,
  signal: AbortSignal,
): Promise<DemoAgent> {
  const { directory } = ledger.current;
  const at = (name: string): string => path.join(directory, name);
  const agent = { socket: at('cni.sock'), configFile: at('agent.yaml'), logFile: at('agent.log') };
  const places = { nodeName: 'demo', socket: agent.socket, apiSocket: at('api.sock'), stateDir: at('state') };
  const lines = Object.entries(places).map(([key, value]) => `${key}: ${value}`);
  fs.writeFileSync(agent.configFile, `# Everything else is the default.\n${lines.join('\n')}\n`);
  const child = spawnInside(node, [podwire, 'agent', '--config', agent.configFile], agent.logFile);
  if (child.pid !== undefined) ledger.note({ process: { what: 'agent', pid: child.pid } });
  const api = openAgentApi({ socket: places.apiSocket, signal });
  await untilReady(api, child, agent.logFile, signal);
  child.unref();
  return { api, ...agent };
}

function spawnInside(
  node: DemoNamespace,
  [file = '', ...args]: readonly string[],
  log: string,
): ChildProcess {
  const output = fs.openSync(log, 'a', 0o600);
  try {
    // A group of its own, as for the peers.
    return node.inside(() => spawn(file, args, { detached: true, stdio: ['ignore', output, output] }));
  } finally {
    fs.closeSync(output);
  }
}

async function untilReady(
  api: LocalApi,
  child: ChildProcess,
  logFile: string,
  signal: AbortSignal,
): Promise<void> {
  const end = performance.now() + readyDeadline;
  let ended: string | undefined;
  child.once('error', (error) => (ended = error.message));
  child.once('exit', (code, name) => (ended = `it ended with ${name ?? code}`));
  while (!(await isReady(api))) {
    signal.throwIfAborted();
    if (ended === undefined && performance.now() > end) ended = `no sign within ${readyDeadline} ms`;
    if (ended !== undefined) {
      const log = fs.readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-5).join('\n');
      throw new PodwireError('AGENT_NOT_READY', `the agent did not become ready: ${ended}\n${log}`);
    }
    await sleep(pause);
  }
}

async function isReady(api: LocalApi): Promise<boolean> {
  try {
    return (await api.get<StatusView>('/v1/status')).ready;
  } catch (error) {
    if (error instanceof PodwireError && error.code === 'AGENT_UNREACHABLE') return false;
    throw error;
  }
}
