/** Docker Engine's API with types: one function for each call, no state but the version that was agreed on. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Connection, createConnection, type DockerCall, type DockerRequest } from './connection.js';
import { isUnchanged } from './error.js';
import { readJsonStream } from './json-stream.js';
import type * as docker from './types.js';
import { chooseVersion } from './version.js';

export interface ExecOptions {
  readonly argv: readonly string[];
  readonly tty: boolean;
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

export interface AttachOptions {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

export interface LogOptions {
  /** `SECONDS.NANOSECONDS` since 1970; lines of that very moment are sent too. */
  readonly since?: string | undefined;
  readonly follow: boolean;
}

/** Labels (`KEY=VALUE` or `KEY`), states, ids… as `docker ps --filter` takes them. */
export type Filters = Readonly<Record<string, readonly string[]>>;

/** All reject with a DockerError. */
export interface Docker {
  version(call?: DockerCall): Promise<docker.VersionInfo>;
  info(call?: DockerCall): Promise<docker.EngineInfo>;
  diskUsage(call?: DockerCall): Promise<docker.DiskUsage>;
  /** Until the signal. */
  events(filters: Filters, call?: DockerCall): AsyncIterable<docker.EngineEvent>;

  /** @returns the new container's id. */
  createContainer(name: string, config: docker.CreateConfig, call?: DockerCall): Promise<string>;
  startContainer(id: string, call?: DockerCall): Promise<void>;
  /** SIGTERM (or what the image says), SIGKILL after `seconds`. One that has ended is fine. */
  stopContainer(id: string, seconds: number, call?: DockerCall): Promise<void>;
  /** SIGKILL; answers when it has ended. */
  killContainer(id: string, call?: DockerCall): Promise<void>;
  removeContainer(id: string, options: { readonly force: boolean }, call?: DockerCall): Promise<void>;
  inspectContainer(
    id: string,
    options?: { readonly size?: boolean },
    call?: DockerCall,
  ): Promise<docker.InspectedContainer>;
  listContainers(filters: Filters, call?: DockerCall): Promise<readonly docker.ListedContainer[]>;
  updateContainer(id: string, resources: docker.ResourceConfig, call?: DockerCall): Promise<void>;
  stats(id: string, call?: DockerCall): Promise<docker.EngineStats>;
  logs(id: string, options: LogOptions, call?: DockerCall): Promise<IncomingMessage>;
  attach(id: string, options: AttachOptions, call?: DockerCall): Promise<Duplex>;
  resizeContainer(id: string, width: number, height: number, call?: DockerCall): Promise<void>;

  createExec(id: string, options: ExecOptions, call?: DockerCall): Promise<string>;
  startExec(execId: string, tty: boolean, call?: DockerCall): Promise<Duplex>;
  inspectExec(execId: string, call?: DockerCall): Promise<docker.ExecState>;
  resizeExec(execId: string, width: number, height: number, call?: DockerCall): Promise<void>;

  listImages(reference: string | undefined, call?: DockerCall): Promise<readonly docker.ListedImage[]>;
  inspectImage(name: string, call?: DockerCall): Promise<docker.InspectedImage>;
  /** Progress as it comes; an error in it is the caller's to find. */
  pullImage(
    name: string,
    auth: docker.RegistryAuth | undefined,
    call?: DockerCall,
  ): Promise<AsyncIterable<docker.PullMessage>>;
  removeImage(name: string, call?: DockerCall): Promise<void>;
}

/** @param socket path of the engine's unix socket */
export function createDocker(socket: string): Docker {
  const caller = createCaller(createConnection(socket));
  return { ...engineCalls(caller), ...containerCalls(caller), ...execCalls(caller), ...imageCalls(caller) };
}

interface Caller extends Connection {
  readonly version: (call?: DockerCall) => Promise<docker.VersionInfo>;
}

/**
 * Puts the version before each path. It is asked for until the engine has told it, and again after the engine was away: it may be
 * another one then. Each call asks by itself, within its own deadline: what one is refused says nothing about the next.
 */
function createCaller(connection: Connection): Caller {
  let known: string | undefined;
  const version = (call: DockerCall = {}): Promise<docker.VersionInfo> =>
    connection.json<docker.VersionInfo>('GET', '/version', call);
  const versioned = async <T>(
    path: string,
    { signal, timeoutMs }: DockerCall = {},
    work: (path: string) => Promise<T>,
  ): Promise<T> => {
    const prefix = known ?? `/v${chooseVersion(await version({ signal, timeoutMs }))}`;
    known = prefix;
    try {
      return await work(`${prefix}${path}`);
    } catch (error) {
      if (!isAnswer(error)) known = undefined;
      throw error;
    }
  };
  return {
    version,
    json: (method, path, request) =>
      versioned(path, request, (full) => connection.json(method, full, request)),
    stream: (method, path, request) =>
      versioned(path, request, (full) => connection.stream(method, full, request)),
    hijack: (method, path, request) =>
      versioned(path, request, (full) => connection.hijack(method, full, request)),
  };
}

const isAnswer = (error: unknown): boolean => (error as { status?: number }).status !== 0;

const filtersOf = (filters: Filters): { filters: string } | Record<never, never> =>
  Object.keys(filters).length === 0 ? {} : { filters: JSON.stringify(filters) };

const container = (id: string): string => `/containers/${encodeURIComponent(id)}`;
const image = (name: string): string => `/images/${name.split('/').map(encodeURIComponent).join('/')}`;

function engineCalls(caller: Caller): Pick<Docker, 'version' | 'info' | 'diskUsage' | 'events'> {
  return {
    version: caller.version,
    info: (call) => caller.json('GET', '/info', call),
    diskUsage: (call) => caller.json('GET', '/system/df', call),
    async *events(filters, call) {
      const query = filtersOf({ type: ['container'], ...filters });
      yield* readJsonStream<docker.EngineEvent>(await caller.stream('GET', '/events', { ...call, query }));
    },
  };
}

function containerCalls(
  caller: Caller,
): Omit<
  Docker,
  | keyof ReturnType<typeof engineCalls>
  | keyof ReturnType<typeof execCalls>
  | keyof ReturnType<typeof imageCalls>
> {
  const post = async (path: string, request: DockerRequest): Promise<void> => {
    await caller.json('POST', path, request).catch((error: unknown) => {
      if (!isUnchanged(error)) throw error;
    });
  };
  return {
    createContainer: async (name, body, call) =>
      (await caller.json<{ Id: string }>('POST', '/containers/create', { ...call, query: { name }, body }))
        .Id,
    startContainer: (id, call) => post(`${container(id)}/start`, { ...call }),
    stopContainer: (id, seconds, call) => post(`${container(id)}/stop`, { ...call, query: { t: seconds } }),
    killContainer: (id, call) => post(`${container(id)}/kill`, { ...call, query: { signal: 'SIGKILL' } }),
    removeContainer: (id, { force }, call) =>
      caller.json('DELETE', container(id), { ...call, query: { v: true, force } }),
    inspectContainer: (id, { size } = {}, call) =>
      caller.json('GET', `${container(id)}/json`, { ...call, query: { size } }),
    listContainers: (filters, call) =>
      caller.json('GET', '/containers/json', { ...call, query: { all: true, ...filtersOf(filters) } }),
    updateContainer: (id, body, call) => post(`${container(id)}/update`, { ...call, body }),
    // one-shot is of API 1.41; 1.40 ignores it and looks twice, a second apart.
    stats: (id, call) =>
      caller.json('GET', `${container(id)}/stats`, { ...call, query: { stream: false, 'one-shot': true } }),
    logs: (id, { since, follow }, call) =>
      caller.stream('GET', `${container(id)}/logs`, {
        ...call,
        query: { stdout: true, stderr: true, timestamps: true, follow, since },
      }),
    attach: (id, { stdin, stdout, stderr }, call) =>
      caller.hijack('POST', `${container(id)}/attach`, {
        ...call,
        query: { stream: true, stdin, stdout, stderr },
      }),
    resizeContainer: (id, w, h, call) => post(`${container(id)}/resize`, { ...call, query: { w, h } }),
  };
}

function execCalls(caller: Caller): Pick<Docker, 'createExec' | 'startExec' | 'inspectExec' | 'resizeExec'> {
  const exec = (id: string): string => `/exec/${encodeURIComponent(id)}`;
  return {
    createExec: async (id, { argv, tty, stdin, stdout, stderr }, call) => {
      const body = { Cmd: argv, Tty: tty, AttachStdin: stdin, AttachStdout: stdout, AttachStderr: stderr };
      return (await caller.json<{ Id: string }>('POST', `${container(id)}/exec`, { ...call, body })).Id;
    },
    startExec: (id, Tty, call) =>
      caller.hijack('POST', `${exec(id)}/start`, { ...call, body: { Detach: false, Tty } }),
    inspectExec: (id, call) => caller.json('GET', `${exec(id)}/json`, call),
    resizeExec: async (id, w, h, call) => {
      await caller.json('POST', `${exec(id)}/resize`, { ...call, query: { w, h } });
    },
  };
}

function imageCalls(
  caller: Caller,
): Pick<Docker, 'listImages' | 'inspectImage' | 'pullImage' | 'removeImage'> {
  return {
    listImages: (reference, call) =>
      caller.json('GET', '/images/json', {
        ...call,
        query: reference === undefined ? {} : filtersOf({ reference: [reference] }),
      }),
    inspectImage: (name, call) => caller.json('GET', `${image(name)}/json`, call),
    pullImage: async (name, auth, call) => {
      const headers = { 'x-registry-auth': encodeAuth(auth ?? {}) };
      const query = { fromImage: name };
      return readJsonStream<docker.PullMessage>(
        await caller.stream('POST', '/images/create', { ...call, query, headers }),
      );
    },
    removeImage: async (name, call) => {
      await caller.json('DELETE', image(name), call);
    },
  };
}

/** URL-safe base64 of JSON, padded: Docker up to 20.10 takes an unpadded one for none at all, without a word. */
function encodeAuth(auth: docker.RegistryAuth): string {
  return Buffer.from(JSON.stringify(auth)).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
}
