/** One page for Prometheus. */
import http from 'node:http';
import { PodwireError } from '@podwire/errors';
import { requestLimits } from '@podwire/local-api';

/**
 * @param listen `HOST:PORT`, `[::1]:9402`
 * @returns how to stop
 * @throws PodwireError CONFIG_INVALID when it cannot listen there
 */
export async function serveMetrics(listen: string, render: () => string): Promise<() => Promise<void>> {
  const { host, port } = readListen(listen);
  const server = http.createServer(requestLimits, (request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(render());
  });
  await new Promise<void>((resolve, reject) => {
    const refuse = (cause: Error): void =>
      reject(new PodwireError('CONFIG_INVALID', `--metrics: cannot listen at ${listen}`, { cause }));
    server.once('error', refuse);
    server.listen(port, host, () => {
      server.off('error', refuse);
      resolve();
    });
  });
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
}

function readListen(text: string): { readonly host: string; readonly port: number } {
  const { host, port } = /^(?<host>\[[0-9a-fA-F:.]+\]|[^:[\]]+):(?<port>\d{1,5})$/.exec(text)?.groups ?? {};
  if (host === undefined || Number(port) > 65_535) {
    throw new PodwireError('CONFIG_INVALID', `--metrics: ${JSON.stringify(text)} is no HOST:PORT`);
  }
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
}
