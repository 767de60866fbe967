/** The part of an API server that informers and writers use: pages, watches, bookmarks, 410, conflicts, merge patches of annotations. */
import http, { type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { compact } from '@podwire/platform';

export interface ApiPod {
  metadata: {
    uid: string;
    name: string;
    namespace?: string;
    resourceVersion: string;
    [more: string]: unknown;
  };
  [more: string]: unknown;
}

/** One that is to be stored: the server gives it a version. */
export interface NewObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion?: string;
    readonly [more: string]: unknown;
  };
  readonly [more: string]: unknown;
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly body?: unknown;
  readonly authorization?: string;
  readonly contentType?: string;
}

type Collection = Map<string, ApiPod>;

interface WatchEvent {
  readonly version: number;
  readonly collection: Collection;
  readonly event: object;
}

const namespacedPath = /^(.*)\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)$/;

export class FakeApiServer {
  readonly pods: Collection = new Map<string, ApiPod>();
  /** Objects of other kinds, by the path of their list. All other paths are those of pods. */
  readonly #others = new Map<string, Collection>();
  readonly #events: WatchEvent[] = [];
  /** Patches of annotations change the objects. Others are answered alone. */
  takesPatches = false;
  readonly asked: Asked[] = [];
  /** Versions before this are forgotten: a watch from there gets 410. */
  oldest = 0;
  version = 100;
  /** Watches end as soon as they have begun. */
  endsWatches = false;
  /** Items a page. */
  page = 2;
  /** Paths of lists that are answered with 503. */
  readonly unavailable = new Set<string>();
  /** The next answers, instead of the real ones: HTTP status codes. */
  readonly failures: number[] = [];
  /** The text of the answer instead of its number. */
  words: string | undefined;
  readonly #watches = new Map<ServerResponse, Collection>();
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
    const metadata = { uid: `uid-${name}`, name, namespace: 'shop' };
    return this.#store(this.pods, { metadata, spec: { containers: [{ name: 'c', image: 'i' }] }, ...more });
  }

  /** An object of any kind. @param path of the list: `/api/v1/nodes` */
  putAt(path: string, object: NewObject): ApiPod {
    return this.#store(this.#collectionAt(path), object);
  }

  find(path: string, name: string): ApiPod | undefined {
    return this.#collectionAt(path).get(name);
  }

  remove(name: string, path = '/api/v1/pods'): void {
    const collection = this.#collectionAt(path);
    const object = collection.get(name)!;
    collection.delete(name);
    this.version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.version) };
    this.#note(collection, { type: 'DELETED', object: { ...object, metadata } });
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
    for (const response of this.#watches.keys()) response.destroy();
    this.#watches.clear();
  }

  /** Resolves when a request that fits has been made. */
  async until(fits: (asked: Asked) => boolean, count = 1): Promise<void> {
    while (this.asked.filter(fits).length < count)
      await new Promise<void>((resolve) => this.#changed.push(resolve));
  }

  #collectionAt(path: string): Collection {
    if (path === '/api/v1/pods') return this.pods;
    const found = this.#others.get(path) ?? new Map<string, ApiPod>();
    this.#others.set(path, found);
    return found;
  }

  #store(collection: Collection, object: NewObject): ApiPod {
    const { name, uid } = object.metadata;
    const known = collection.get(name)?.metadata.uid === uid;
    this.version += 1;
    const stored = { ...object, metadata: { resourceVersion: String(this.version), ...object.metadata } };
    collection.set(name, stored);
    this.#note(collection, { type: known ? 'MODIFIED' : 'ADDED', object: stored });
    return stored;
  }

  #note(collection: Collection, event: object): void {
    this.#events.push({ version: this.version, collection, event });
    for (const [response, watched] of this.#watches)
      if (watched === collection) response.write(`${JSON.stringify(event)}\n`);
  }

  #send(event: object): void {
    for (const response of this.#watches.keys()) response.write(`${JSON.stringify(event)}\n`);
  }

  #answer(request: http.IncomingMessage, text: string, response: ServerResponse): void {
    const url = new URL(request.url!, 'http://x');
    const query = Object.fromEntries(url.searchParams);
    const { authorization, 'content-type': contentType } = request.headers;
    const body = text === '' ? {} : { body: JSON.parse(text) as unknown };
    const failure = this.failures.shift();
    if (failure !== undefined) this.#fail(response, failure);
    else if (this.unavailable.has(url.pathname)) this.#fail(response, 503);
    else if (request.method === 'PATCH' && this.takesPatches) this.#patch(response, url.pathname, text);
    else if (request.method !== 'GET') response.end('{}');
    else {
      const collection = this.#others.get(url.pathname) ?? this.pods;
      if (query['watch'] === 'true') this.#watch(response, collection, Number(query['resourceVersion']));
      else this.#list(response, collection, Number(query['continue'] ?? 0));
    }
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

  /** As a server does it: the UID of a patch is a condition, and a null takes an annotation away. */
  #patch(response: ServerResponse, path: string, text: string): void {
    const [, api = path.slice(0, path.lastIndexOf('/')), , resource, namespaced] =
      namespacedPath.exec(path) ?? [];
    const collection = this.#collectionAt(resource === undefined ? api : `${api}/${resource}`);
    const found = collection.get(namespaced ?? path.slice(path.lastIndexOf('/') + 1));
    const { metadata } = JSON.parse(text) as {
      metadata: { uid?: string; annotations?: object; labels?: object };
    };
    if (found === undefined) return this.#fail(response, 404);
    if (metadata.uid !== undefined && metadata.uid !== found.metadata.uid) return this.#fail(response, 409);
    const merge = (field: 'annotations' | 'labels'): object => {
      const merged = Object.entries({ ...(found.metadata[field] as object), ...metadata[field] });
      return Object.fromEntries(merged.filter(([, value]) => value !== null));
    };
    const [annotations, labels] = [merge('annotations'), merge('labels')];
    const next = { ...found.metadata, annotations, labels, resourceVersion: String(this.version + 1) };
    response.end(JSON.stringify(this.#store(collection, { ...found, metadata: next })));
  }

  #list(response: ServerResponse, collection: Collection, start: number): void {
    const all = [...collection.values()];
    const end = start + this.page;
    const more = end < all.length ? { continue: String(end) } : {};
    response.end(
      JSON.stringify({
        metadata: { resourceVersion: String(this.version), ...more },
        items: all.slice(start, end),
      }),
    );
  }

  #watch(response: ServerResponse, collection: Collection, from: number): void {
    if (from < this.oldest) return this.#fail(response, 410);
    response.writeHead(200).flushHeaders();
    if (this.endsWatches) return void response.end();
    this.#watches.set(response, collection);
    for (const missed of this.#events)
      if (missed.collection === collection && missed.version > from)
        response.write(`${JSON.stringify(missed.event)}\n`);
    response.on('close', () => this.#watches.delete(response));
  }
}
