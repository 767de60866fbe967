/** Docker Engine's API with types: one method for each call, no state but the version that was agreed on. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type DockerCall, type DockerRequest, hijack, requestJson, requestStream } from './connection.js';
import { isUnchanged } from './error.js';
import { readJsonStream } from './json-stream.js';
import type * as docker from './types.js';
import { chooseVersion } from './version.js';

export interface AttachOptions {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

export interface ExecOptions extends AttachOptions {
  readonly argv: readonly string[];
  readonly tty: boolean;
}

export interface LogOptions {
  /** `SECONDS.NANOSECONDS` since 1970; lines of that very moment are sent too. */
  readonly since?: string | undefined;
  readonly follow: boolean;
}

/** Labels (`KEY=VALUE` or `KEY`), states, ids… as `docker ps --filter` takes them. */
type Filters = Readonly<Record<string, readonly string[]>>;

type Send<T> = (socket: string, method: string, path: string, request?: DockerRequest) => Promise<T>;

/** All methods reject with a DockerError. */
export class Docker {
  readonly #socket: string;
  #prefix: string | undefined;

  /** @param socket path of the engine's unix socket */
  constructor(socket: string) {
    this.#socket = socket;
  }

  version(call: DockerCall = {}): Promise<docker.VersionInfo> {
    return requestJson(this.#socket, 'GET', '/version', call);
  }

  info(call?: DockerCall): Promise<docker.EngineInfo> {
    return this.#json('GET', '/info', call);
  }

  diskUsage(call?: DockerCall): Promise<docker.DiskUsage> {
    return this.#json('GET', '/system/df', call);
  }

  /** Until the signal. */
  async *events(filters: Filters, call?: DockerCall): AsyncGenerator<docker.EngineEvent> {
    const query = filtersOf({ type: ['container'], ...filters });
    yield* readJsonStream(await this.#send(requestStream, 'GET', '/events', { ...call, query }));
  }

  /** @returns the new container's id. */
  async createContainer(name: string, body: docker.CreateConfig, call?: DockerCall): Promise<string> {
    const request = { ...call, query: { name }, body };
    return (await this.#json<{ Id: string }>('POST', '/containers/create', request)).Id;
  }

  startContainer(id: string, call?: DockerCall): Promise<void> {
    return this.#post(`${container(id)}/start`, { ...call });
  }

  /** SIGTERM (or what the image says), SIGKILL after `seconds`. One that has ended is fine. */
  stopContainer(id: string, seconds: number, call?: DockerCall): Promise<void> {
    return this.#post(`${container(id)}/stop`, { ...call, query: { t: seconds } });
  }

  /** SIGKILL; answers when it has ended. */
  killContainer(id: string, call?: DockerCall): Promise<void> {
    return this.#post(`${container(id)}/kill`, { ...call, query: { signal: 'SIGKILL' } });
  }

  removeContainer(id: string, { force }: { readonly force: boolean }, call?: DockerCall): Promise<void> {
    return this.#json('DELETE', container(id), { ...call, query: { v: true, force } });
  }

  inspectContainer(
    id: string,
    { size }: { readonly size?: boolean } = {},
    call?: DockerCall,
  ): Promise<docker.InspectedContainer> {
    return this.#json('GET', `${container(id)}/json`, { ...call, query: { size } });
  }

  listContainers(filters: Filters, call?: DockerCall): Promise<readonly docker.ListedContainer[]> {
    return this.#json('GET', '/containers/json', { ...call, query: { all: true, ...filtersOf(filters) } });
  }

  updateContainer(id: string, body: docker.ResourceConfig, call?: DockerCall): Promise<void> {
    return this.#post(`${container(id)}/update`, { ...call, body });
  }

  /** one-shot is of API 1.41; 1.40 ignores it and looks twice, a second apart. */
  stats(id: string, call?: DockerCall): Promise<docker.EngineStats> {
    const query = { stream: false, 'one-shot': true };
    return this.#json('GET', `${container(id)}/stats`, { ...call, query });
  }

  logs(id: string, { since, follow }: LogOptions, call?: DockerCall): Promise<IncomingMessage> {
    const query = { stdout: true, stderr: true, timestamps: true, follow, since };
    return this.#send(requestStream, 'GET', `${container(id)}/logs`, { ...call, query });
  }

  attach(id: string, { stdin, stdout, stderr }: AttachOptions, call?: DockerCall): Promise<Duplex> {
    const query = { stream: true, stdin, stdout, stderr };
    return this.#send(hijack, 'POST', `${container(id)}/attach`, { ...call, query });
  }

  resizeContainer(id: string, w: number, h: number, call?: DockerCall): Promise<void> {
    return this.#post(`${container(id)}/resize`, { ...call, query: { w, h } });
  }

  async createExec(
    id: string,
    { argv, tty, stdin, stdout, stderr }: ExecOptions,
    call?: DockerCall,
  ): Promise<string> {
    const body = { Cmd: argv, Tty: tty, AttachStdin: stdin, AttachStdout: stdout, AttachStderr: stderr };
    return (await this.#json<{ Id: string }>('POST', `${container(id)}/exec`, { ...call, body })).Id;
  }

  startExec(execId: string, Tty: boolean, call?: DockerCall): Promise<Duplex> {
    return this.#send(hijack, 'POST', `${exec(execId)}/start`, { ...call, body: { Detach: false, Tty } });
  }

  inspectExec(execId: string, call?: DockerCall): Promise<docker.ExecState> {
    return this.#json('GET', `${exec(execId)}/json`, call);
  }

  resizeExec(execId: string, w: number, h: number, call?: DockerCall): Promise<void> {
    return this.#json('POST', `${exec(execId)}/resize`, { ...call, query: { w, h } });
  }

  listImages(reference: string | undefined, call?: DockerCall): Promise<readonly docker.ListedImage[]> {
    const query = reference === undefined ? {} : filtersOf({ reference: [reference] });
    return this.#json('GET', '/images/json', { ...call, query });
  }

  inspectImage(name: string, call?: DockerCall): Promise<docker.InspectedImage> {
    return this.#json('GET', `${image(name)}/json`, call);
  }

  /** Progress as it comes; an error in it is the caller's to find. */
  async pullImage(
    name: string,
    auth: docker.RegistryAuth | undefined,
    call?: DockerCall,
  ): Promise<AsyncIterable<docker.PullMessage>> {
    const headers = { 'x-registry-auth': encodeAuth(auth ?? {}) };
    const request = { ...call, query: { fromImage: name }, headers };
    return readJsonStream(await this.#send(requestStream, 'POST', '/images/create', request));
  }

  removeImage(name: string, call?: DockerCall): Promise<void> {
    return this.#json('DELETE', image(name), call);
  }

  async #post(path: string, request: DockerRequest): Promise<void> {
    await this.#json('POST', path, request).catch((error: unknown) => {
      if (!isUnchanged(error)) throw error;
    });
  }

  #json<T>(method: string, path: string, request?: DockerRequest): Promise<T> {
    return this.#send<T>(requestJson, method, path, request);
  }

  /**
   * Puts the version before the path. It is asked for until the engine has told it, and again after the engine was away: it may
   * be another one then. Each call asks by itself, within its own deadline: what one is refused says nothing about the next.
   */
  async #send<T>(send: Send<T>, method: string, path: string, request: DockerRequest = {}): Promise<T> {
    const { signal, timeoutMs } = request;
    const prefix = this.#prefix ?? `/v${chooseVersion(await this.version({ signal, timeoutMs }))}`;
    this.#prefix = prefix;
    try {
      return await send(this.#socket, method, `${prefix}${path}`, request);
    } catch (error) {
      if (!isAnswer(error)) this.#prefix = undefined;
      throw error;
    }
  }
}

const isAnswer = (error: unknown): boolean => (error as { status?: number }).status !== 0;

const filtersOf = (filters: Filters): { filters: string } | Record<never, never> =>
  Object.keys(filters).length === 0 ? {} : { filters: JSON.stringify(filters) };

const container = (id: string): string => `/containers/${encodeURIComponent(id)}`;
const exec = (id: string): string => `/exec/${encodeURIComponent(id)}`;
const image = (name: string): string => `/images/${name.split('/').map(encodeURIComponent).join('/')}`;

/** URL-safe base64 of JSON, padded: Docker up to 20.10 takes an unpadded one for none at all, without a word. */
function encodeAuth(auth: docker.RegistryAuth): string {
  return Buffer.from(JSON.stringify(auth)).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
}
