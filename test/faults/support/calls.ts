/** CNI calls to an agent: through the plugin's executable as a runtime makes them, or over its socket where speed matters. */
import net from 'node:net';
import path from 'node:path';
import { encodeRequest, type PluginRequest } from '@podwire/agent';
import type { Exit, RunningProcess, TestNamespace } from '@podwire/testkit';

/** One call; what a test does not care about is left out. */
export interface CniCall {
  readonly command: string;
  /** Container id; `c1` when absent. */
  readonly id?: string;
  /** Path of the namespace; empty when absent. */
  readonly netns?: string;
  /** `eth0` when absent. */
  readonly ifName?: string;
  readonly args?: string;
  /** Added to the network configuration, or instead of what it has. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Replaces variables; `undefined` leaves one out. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Replaces the whole network configuration. */
  readonly stdin?: string | Buffer;
}

/** Answer to a call. `json` is the decoded body, empty where there is none. */
export interface CniAnswer {
  readonly ok: boolean;
  readonly body: string;
  readonly json: CniBody;
}

/** A result or an error. */
export interface CniBody {
  readonly cniVersion?: string;
  readonly code?: number;
  readonly msg?: string;
  readonly details?: string;
  readonly ips?: readonly { readonly address: string }[];
}

/** The CNI network that calls are about unless they say otherwise. */
export const networkName = 'default';

export const pluginProgram = path.resolve(import.meta.dirname, '../../../../bin/podwire-cni');

function requestOf(socket: string, call: CniCall): PluginRequest {
  const variables: Record<string, string | undefined> = {
    CNI_COMMAND: call.command,
    CNI_CONTAINERID: call.id ?? 'c1',
    CNI_NETNS: call.netns ?? '',
    CNI_IFNAME: call.ifName ?? 'eth0',
    CNI_ARGS: call.args ?? '',
    CNI_PATH: '/opt/cni/bin',
    ...call.environment,
  };
  const config = { cniVersion: '1.1.0', name: networkName, type: 'podwire-cni', socket, ...call.config };
  const environment = Object.entries(variables).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  return { environment, stdin: Buffer.from(call.stdin ?? JSON.stringify(config)) };
}

/** A plugin that runs: its process, and what it will have printed. */
export interface RunningPlugin {
  readonly process: RunningProcess;
  readonly exited: Promise<Exit>;
  /** Rejects when the plugin was killed. */
  readonly answer: Promise<CniAnswer>;
}

export interface PluginOptions {
  /** The program that is started; the plugin itself when absent. */
  readonly argv?: readonly string[];
  readonly cwd?: string;
}

/** Starts the plugin, or a program that runs it, in the namespace of the host. */
export function startPlugin(
  host: Pick<TestNamespace, 'start'>,
  socket: string,
  call: CniCall,
  { argv = [pluginProgram], ...options }: PluginOptions = {},
): RunningPlugin {
  const { environment, stdin } = requestOf(socket, call);
  const env = { ...Object.fromEntries(environment), PATH: process.env['PATH'] };
  const child = host.start(argv, { env, ...options });
  child.child.stdin?.end(stdin);
  const answer = child.exited.then(({ code, signal }) => {
    if (code === null) throw new Error(`the plugin ended with ${signal}`);
    return answerOf(code === 0, child.stdout());
  });
  // A runtime that kills the plugin does not ask for its answer.
  answer.catch(() => undefined);
  return { process: child, exited: child.exited, answer };
}

function answerOf(ok: boolean, body: string): CniAnswer {
  return { ok, body, json: body.trim() === '' ? {} : (JSON.parse(body) as CniBody) };
}

export interface SocketCallOptions {
  /** The caller goes away as soon as it has sent its request. */
  readonly leave?: boolean;
}

/** The same call without an executable; half a millisecond less. */
export function callOverSocket(
  socket: string,
  call: CniCall,
  { leave = false }: SocketCallOptions = {},
): Promise<CniAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const connection = net.connect({ path: socket, allowHalfOpen: true });
    connection.once('error', reject);
    connection.once('connect', () => {
      connection.end(encodeRequest(requestOf(socket, call)), () => {
        if (leave) connection.destroy();
      });
    });
    connection.on('data', (chunk: Buffer) => chunks.push(chunk));
    connection.once('close', () => {
      const text = Buffer.concat(chunks).toString();
      resolve(answerOf(text.startsWith('0'), text.slice(1)));
    });
  });
}
