/** The part of an API server that an informer and a status writer use: pages, watches, bookmarks, 410, conflicts. */
import http, { type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { compact } from '@podwire/platform';

export interface ApiPod {
  metadata: {
    uid: string;
    name: string;
    namespace: string;
    resourceVersion: string;
    [more: string]: unknown;
  };
  [more: string]: unknown;
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly body?: unknown;
  readonly authorization?: string;
  readonly contentType?: string;
}

export class FakeApiServer {
  readonly pods = new Map<string, ApiPod>();
  readonly asked: Asked[] = [];
  /** Versions before this are forgotten: a watch from there gets 410. */
  oldest = 0;
  version = 100;
  /** Watches end as soon as they have begun. */
  endsWatches = false;
  /** Items a page. */
  page = 2;
  /** The next answers, instead of the real ones: HTTP status codes. */
  readonly failures: number[] = [];
  /** The text of the answer instead of its number. */
  words: string | undefined;
  readonly #watches = new Set<ServerResponse>();
  readonly #servers: http.Server[] = [];
  #changed: (() => void)[] = [];

  async start(): Promise<string> {
    const server = http.createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => this.#answer(request, text, response));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#servers.push(server);
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  close(): void {
    for (const server of this.#servers) {
      server.closeAllConnections();
      server.close();
    }
  }

  put(name: string, more: object = {}): ApiPod {
    const known = this.pods.get(name);
    this.version += 1;
    const metadata = { uid: `uid-${name}`, name, namespace: 'shop', resourceVersion: String(this.version) };
    const pod = { metadata, spec: { containers: [{ name: 'c', image: 'i' }] }, ...more };
    this.pods.set(name, pod);
    this.#send({ type: known === undefined ? 'ADDED' : 'MODIFIED', object: pod });
    return pod;
  }

  remove(name: string): void {
    const pod = this.pods.get(name)!;
    this.pods.delete(name);
    this.version += 1;
    this.#send({
      type: 'DELETED',
      object: { ...pod, metadata: { ...pod.metadata, resourceVersion: String(this.version) } },
    });
  }

  bookmark(version: number): void {
    this.#send({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(version) } } });
  }

  sendError(code: number): void {
    this.#send({
      type: 'ERROR',
      object: { code, reason: code === 410 ? 'Expired' : 'InternalError', message: 'told' },
    });
  }

  /** Ends all watches, as a server that goes away. */
  breakWatches(): void {
    for (const response of this.#watches) response.destroy();
    this.#watches.clear();
  }

  /** Resolves when a request that fits has been made. */
  async until(fits: (asked: Asked) => boolean, count = 1): Promise<void> {
    while (this.asked.filter(fits).length < count)
      await new Promise<void>((resolve) => this.#changed.push(resolve));
  }

  #send(event: object): void {
    for (const response of this.#watches) response.write(`${JSON.stringify(event)}\n`);
  }

  #answer(request: http.IncomingMessage, text: string, response: ServerResponse): void {
    const url = new URL(request.url!, 'http://x');
    const query = Object.fromEntries(url.searchParams);
    const { authorization, 'content-type': contentType } = request.headers;
    const body = text === '' ? {} : { body: JSON.parse(text) as unknown };
    const failure = this.failures.shift();
    if (failure !== undefined) this.#fail(response, failure);
    else if (request.method !== 'GET') response.end('{}');
    else if (query['watch'] === 'true') this.#watch(response, Number(query['resourceVersion']));
    else this.#list(response, Number(query['continue'] ?? 0));
    this.asked.push({
      method: request.method!,
      path: url.pathname,
      query,
      ...body,
      ...compact({ authorization, contentType }),
    });
    for (const wake of this.#changed.splice(0)) wake();
  }

  #fail(response: ServerResponse, status: number): void {
    response.writeHead(status).end(
      JSON.stringify({
        kind: 'Status',
        reason: status === 410 ? 'Expired' : 'Sorry',
        message: this.words ?? `no ${status}`,
      }),
    );
  }

  #list(response: ServerResponse, start: number): void {
    const all = [...this.pods.values()];
    const end = start + this.page;
    const more = end < all.length ? { continue: String(end) } : {};
    response.end(
      JSON.stringify({
        metadata: { resourceVersion: String(this.version), ...more },
        items: all.slice(start, end),
      }),
    );
  }

  #watch(response: ServerResponse, from: number): void {
    if (from < this.oldest) return this.#fail(response, 410);
    response.writeHead(200).flushHeaders();
    if (this.endsWatches) return void response.end();
    this.#watches.add(response);
    response.on('close', () => this.#watches.delete(response));
  }
}
