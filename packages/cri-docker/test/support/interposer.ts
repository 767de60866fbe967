/** Between the service and the engine: passes everything on, but what a test wants to be otherwise. */
import http from 'node:http';
import type net from 'node:net';
import path from 'node:path';
import type { PrivateHost } from '@podwire/testkit';

export interface Interposed {
  readonly status: number;
  readonly body: object;
}

/** Looks at a request before the engine does: an answer of its own, or nothing to let it pass (when the promise resolves). */
export type Rule = (
  method: string,
  target: string,
) => Interposed | undefined | Promise<Interposed | undefined>;

export interface Interposer {
  readonly socket: string;
  /** `POST /containers/create`, without version and query. */
  readonly seen: string[];
  rule: Rule;
}

export async function startInterposer(host: PrivateHost, engine: string): Promise<Interposer> {
  const socket = path.join(host.directory, 'between.sock');
  const self = { socket, seen: [] as string[], rule: (() => undefined) as Rule };
  const server = http.createServer((incoming, outgoing) => {
    const target = (incoming.url ?? '').replace(/^\/v[\d.]+/, '');
    const call = `${incoming.method} ${target.replace(/\?.*/, '')}`;
    self.seen.push(call);
    void Promise.resolve(self.rule(incoming.method ?? '', target)).then((answer) => {
      if (answer === undefined) return passOn(engine, incoming, outgoing);
      outgoing.writeHead(answer.status, { 'content-type': 'application/json' });
      return outgoing.end(JSON.stringify(answer.body));
    });
  });
  server.on('upgrade', (incoming, client: net.Socket, head) => {
    const { method, url, headers } = incoming;
    const outgoing = http.request({ socketPath: engine, method, path: url, headers, agent: false });
    outgoing.on('upgrade', (_response, upstream, rest) => {
      client.write(`HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n`);
      if (rest.length > 0) client.write(rest);
      upstream.pipe(client).pipe(upstream);
    });
    incoming.pipe(outgoing);
    if (head.length > 0) outgoing.write(head);
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  host.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return self;
}

function passOn(engine: string, incoming: http.IncomingMessage, outgoing: http.ServerResponse): void {
  const { method, url, headers } = incoming;
  const onward = http.request({ socketPath: engine, method, path: url, headers, agent: false }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    outgoing.flushHeaders();
    answer.pipe(outgoing);
    answer.on('error', () => outgoing.destroy());
  });
  onward.on('error', () => outgoing.destroy());
  outgoing.on('close', () => onward.destroy());
  // In one piece: a body that comes later than the headers may find that the engine has answered and closed already.
  const chunks: Buffer[] = [];
  incoming
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('end', () => onward.end(Buffer.concat(chunks)));
}
