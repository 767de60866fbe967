import http from 'node:http';
import net from 'node:net';
import { encodeRequest } from '../../src/server/framing.js';

export interface ClientCall {
  readonly command: string;
  readonly id: string;
  readonly netns: string;
  readonly args?: string;
  readonly config?: Readonly<Record<string, unknown>>;
}

/** Answer of the agent; undefined when it died first. */
export interface ClientAnswer {
  readonly ok: boolean;
  readonly json: Readonly<Record<string, unknown>> & { readonly code?: number; readonly msg?: string };
}

/** Speaks as the plugin does, from this process. */
export async function callPlugin(socket: string, call: ClientCall): Promise<ClientAnswer | undefined> {
  const text = await exchange(socket, encodeCall(call));
  if (text === '') return undefined;
  const body = text.slice(1);
  return { ok: text.startsWith('0'), json: (body === '' ? {} : JSON.parse(body)) as ClientAnswer['json'] };
}

export function encodeCall({ command, id, netns, args, config }: ClientCall): Buffer {
  const environment = Object.entries({
    CNI_COMMAND: command,
    CNI_CONTAINERID: id,
    CNI_NETNS: netns,
    CNI_IFNAME: 'eth0',
    CNI_PATH: '/usr/lib/cni',
    CNI_ARGS: args ?? `IgnoreUnknown=1;K8S_POD_NAMESPACE=test;K8S_POD_NAME=${id}`,
  });
  const complete = { cniVersion: '1.1.0', name: 'podwire', type: 'podwire-cni', ...config };
  return encodeRequest({ environment, stdin: Buffer.from(JSON.stringify(complete)) });
}

function exchange(file: string, request: Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ path: file, allowHalfOpen: true });
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

/** GET, or POST with a body, of the agent's API. */
export function askApi(apiSocket: string, path: string, body?: object): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const request = http.request({ socketPath: apiSocket, path, method, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = response.headers['content-type']?.includes('json') ?? false;
        resolve(isJson ? (JSON.parse(text) as Record<string, unknown>) : { text });
      });
    });
    request.once('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
