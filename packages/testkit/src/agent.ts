import fs from 'node:fs';
import path from 'node:path';
import type { PrivateHost } from './private-host.js';
import { bundledProgram } from './bundled-program.js';
import type { Exit, RunningProcess } from './processes.js';
import { repository } from './repository.js';

export interface AgentOptions {
  /** Top-level keys of the configuration; sockets and state directory are the host's own unless they are given here. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The command line up to `--config FILE`; `bin/podwire agent` of this checkout when absent. */
  readonly entry?: readonly string[];
  /** Distinguishes agents of one host; `agent` when absent. */
  readonly name?: string;
  /** milliseconds until it must be ready; 20 s when absent */
  readonly timeout?: number;
}

/** A node agent inside a private host, with a state directory and sockets of its own. */
export interface Agent {
  readonly pid: number;
  readonly socket: string;
  readonly apiSocket: string;
  readonly stateDirectory: string;
  readonly configFile: string;
  /** Log of this and all earlier incarnations. */
  log(): string;
  /** Resolves when the agent has ended by itself, e.g. at a fault point. */
  exited(): Promise<Exit>;
  /** SIGKILL, and waits for the end. */
  kill9(): Promise<void>;
  /** SIGTERM, and waits for the end. @throws Error when it does not end with exit code 0 */
  stop(): Promise<void>;
  /** Starts it again after its end; resolves when it is ready. `env` is added to that of the options. */
  start(env?: Readonly<Record<string, string>>): Promise<void>;
}

export const defaultAgentEntry: readonly string[] = [path.join(repository, 'bin/podwire'), 'agent'];

/**
 * Starts an agent and waits until it says that it is ready. It ends when the host closes; if it ended unasked before,
 * closing fails and shows its log.
 */
export async function startAgent(host: PrivateHost, options: AgentOptions = {}): Promise<Agent> {
  const directory = path.join(host.directory, options.name ?? 'agent');
  const at = (name: string): string => path.join(directory, name);
  fs.mkdirSync(directory, { mode: 0o700 });
  const own = { nodeName: 'node1', socket: at('cni.sock'), apiSocket: at('api.sock'), stateDir: at('state') };
  const config = { ...own, ...options.config };
  const configFile = at('config.yaml');
  fs.writeFileSync(configFile, JSON.stringify(config)); // JSON is YAML too
  const argv = [...(options.entry ?? defaultAgentEntry).map(bundledProgram), '--config', configFile];
  const logFile = at('log');
  const log = (): string => fs.readFileSync(logFile, 'utf8');
  let current: RunningProcess;
  let mayEnd = false;
  const start = async (env: Readonly<Record<string, string>> = {}): Promise<void> => {
    mayEnd = false;
    const offset = fs.statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
    current = host.start(argv, { env: { ...process.env, ...options.env, ...env }, outputFile: logFile });
    try {
      await untilReady(current, logFile, offset, options.timeout ?? 20_000);
    } catch (error) {
      mayEnd = true; // this is said already
      throw error;
    }
  };
  const exited = async (): Promise<Exit> => {
    mayEnd = true;
    return current.exited;
  };
  host.defer(async () => {
    const { exitCode, signalCode } = current.child;
    await current.stop();
    const unasked = !mayEnd && (exitCode ?? signalCode) !== null;
    if (unasked) throw new Error(`the agent ended unasked (${exitCode ?? signalCode}):\n${log()}`);
  });
  await start();
  return {
    get pid() {
      return current.pid;
    },
    socket: config.socket,
    apiSocket: config.apiSocket,
    stateDirectory: config.stateDir,
    configFile,
    log,
    exited,
    start,
    kill9: async () => {
      current.kill('SIGKILL');
      await exited();
    },
    stop: async () => {
      mayEnd = true;
      const exit = await current.stop();
      if (exit.code !== 0) throw new Error(`the agent ended with ${exit.signal ?? exit.code}:\n${log()}`);
    },
  };
}

/** Looks whenever something is written to the log; the line comes when the node is recovered and ADD is served. */
async function untilReady(
  agent: RunningProcess,
  logFile: string,
  offset: number,
  timeout: number,
): Promise<void> {
  const written = (): string => fs.readFileSync(logFile).toString('utf8', offset);
  let look = (): void => undefined;
  const watcher = fs.watch(logFile, () => look());
  let timer: NodeJS.Timeout | undefined;
  // The agent may end after its log was deleted; no test waits any more then.
  let waiting = true;
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string): void =>
        void (waiting && reject(new Error(`the agent ${why}:\n${written()}`)));
      look = () => void (/"msg":"ready"/.test(written()) && resolve());
      timer = setTimeout(() => fail(`is not ready after ${timeout} ms`), timeout);
      agent.exited.then((exit) => fail(`ended with ${exit.signal ?? exit.code}`), reject);
      look();
    });
  } finally {
    waiting = false;
    clearTimeout(timer);
    watcher.close();
  }
}
