/** Requests of Contiv's API, from a path and a body to an answer. */
import {
  calls,
  type ClusterView,
  inspectEndpoint,
  inspectObject,
  missingKinds,
  objectKinds,
  type ObjectKind,
  planCleanUp,
  planDelete,
  renderObject,
  type TenantMaster,
} from '@podwire/cluster-tenant';
import { describeError, PodwireError } from '@podwire/errors';
import type { HttpAnswer } from '@podwire/local-api';

export interface RestRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly contentType: string;
  readonly body: Buffer;
}

export interface RestContext {
  readonly master: Pick<TenantMaster, 'read' | 'write'>;
  readonly version: string;
  readonly signal: AbortSignal;
}

type Handler = (context: RestContext, request: RestRequest) => Promise<unknown>;

/** Answers with what a handler gives, or with its failure. Nothing is thrown. */
export async function answerRequest(context: RestContext, request: RestRequest): Promise<HttpAnswer> {
  try {
    const handler = findHandler(request);
    if (typeof handler !== 'function') return handler;
    return jsonAnswer(await handler(context, request));
  } catch (error) {
    return failureAnswer(error);
  }
}

/** As the original: Go's JSON, with the end of a line. */
const jsonAnswer = (value: unknown): HttpAnswer => ({
  status: 200,
  headers: ['Content-Type', 'application/json'],
  text: `${JSON.stringify(value)}\n`,
});

/** The header has the code for programs; the original's text has none. */
export const textAnswer = (status: number, text: string, code?: string): HttpAnswer => ({
  status,
  headers: [
    ...['Content-Type', 'text/plain; charset=utf-8', 'X-Content-Type-Options', 'nosniff'],
    ...(code === undefined ? [] : ['Podwire-Code', code]),
  ],
  text: `${text}\n`,
});

/** The original answers 500 to all of them. */
const statuses: Readonly<Record<string, number>> = {
  REQUEST_INVALID: 400,
  OBJECT_UNKNOWN: 404,
  TENANT_CONFLICT: 409,
  OBJECT_IN_USE: 409,
  REQUEST_TOO_LARGE: 413,
  // The caller does not read it; for the log.
  CALLER_GONE: 499,
  TENANT_EXHAUSTED: 507,
  STORE_UNAVAILABLE: 503,
  STORE_CONFLICT: 503,
  STORE_LEASE_LOST: 503,
  STORE_DENIED: 503,
  STORE_FULL: 503,
  DEADLINE_EXCEEDED: 503,
};

export function failureAnswer(error: unknown): HttpAnswer {
  const code = error instanceof PodwireError ? error.code : 'INTERNAL';
  return textAnswer(statuses[code] ?? 500, describeError(error), code);
}

const notFound = textAnswer(404, '404 page not found');
const notAllowed: HttpAnswer = { status: 405, headers: [], text: '' };

function findHandler(request: RestRequest): Handler | HttpAnswer {
  const parts = splitPath(request.path);
  if (parts === undefined) return notFound;
  const [first, second, ...rest] = parts;
  if (first === 'api' && second === 'v1')
    return rest[0] === 'inspect' ? findInspect(request, rest.slice(1)) : findObject(request, rest);
  if (first === 'plugin') return findCall(request, second, rest);
  if (first === 'debug' && second === 'epcleanup') return findCleanUp(request, rest);
  if (first !== 'version' || second !== undefined) return notFound;
  return request.method === 'GET' ? showVersion : notAllowed;
}

/** A path with or without a slash at its end. Undefined for one that is not encoded as URIs are. */
function splitPath(path: string): string[] | undefined {
  try {
    const parts = path.split('/').slice(1).map(decodeURIComponent);
    return parts.at(-1) === '' ? parts.slice(0, -1) : parts;
  } catch {
    return undefined;
  }
}

const showVersion: Handler = ({ version }) =>
  Promise.resolve({ GitCommit: '', Version: version, BuildTime: '' });

function findInspect({ method }: RestRequest, [plural = '', key, ...rest]: string[]): Handler | HttpAnswer {
  if (key === undefined || key === '' || rest.length > 0) return notFound;
  if (missingKinds.has(plural)) return notThere(plural);
  const kind = objectKinds.get(plural);
  if (kind === undefined && plural !== 'endpoints') return notFound;
  if (method !== 'GET') return notAllowed;
  const look = (cluster: ClusterView): unknown =>
    kind === undefined ? inspectEndpoint(cluster, key) : inspectObject(cluster, kind.type, key);
  return ({ master, signal }) => master.read(look, signal);
}

const notThere = (plural: string): HttpAnswer =>
  textAnswer(501, `${plural} are not there yet: docs/models/tenant.md`);

function findObject({ method }: RestRequest, [plural = '', key, ...rest]: string[]): Handler | HttpAnswer {
  if (rest.length > 0 || key === '') return notFound;
  if (missingKinds.has(plural)) return notThere(plural);
  const kind = objectKinds.get(plural);
  if (kind === undefined) return notFound;
  if (key === undefined) return method === 'GET' ? listObjects(kind) : notAllowed;
  return objectHandlers[method]?.(kind, key) ?? notAllowed;
}

function listObjects({ type }: ObjectKind): Handler {
  return ({ master, signal }) =>
    master.read(
      (cluster) => [...cluster.table(type).keys()].map((key) => renderObject(cluster, type, key)),
      signal,
    );
}

const putObject =
  (kind: ObjectKind, key: string): Handler =>
  ({ master, signal }, { body }) => {
    const fields = readJson(`${kind.type} ${key}`, body);
    return master.write((cluster) => kind.planPut(cluster, key, fields), signal);
  };

const objectHandlers: Readonly<Record<string, (kind: ObjectKind, key: string) => Handler>> = {
  GET:
    ({ type }, key) =>
    ({ master, signal }) =>
      master.read((cluster) => getObject(cluster, type, key), signal),
  PUT: putObject,
  POST: putObject,
  DELETE:
    ({ type }, key) =>
    ({ master, signal }) =>
      master.write((cluster) => planDelete(cluster, type, key), signal),
};

function getObject(cluster: ClusterView, type: ObjectKind['type'], key: string): unknown {
  if (cluster.table(type).has(key)) return renderObject(cluster, type, key);
  throw new PodwireError('OBJECT_UNKNOWN', `there is no ${type} ${key}`, { details: { object: key } });
}

function findCall(
  { method, contentType }: RestRequest,
  name: string | undefined,
  rest: readonly string[],
): Handler | HttpAnswer {
  const call = calls.get(name ?? '');
  if (call === undefined || rest.length > 0) return notFound;
  if (method !== 'POST') return notAllowed;
  // The original says 404.
  if (!/^application\/json *(?:;|$)/i.test(contentType))
    return textAnswer(415, `${name}: Content-Type must be application/json`, 'REQUEST_INVALID');
  return ({ master, signal }, { body }) => {
    const fields = readJson(name ?? '', body);
    return master.write((cluster) => call(cluster, fields), signal);
  };
}

/** `/debug/epcleanup/tenant/TENANT/CATEGORY/ID` */
function findCleanUp({ method }: RestRequest, parts: readonly string[]): Handler | HttpAnswer {
  const [word, tenant, category, id, ...rest] = parts;
  if (word !== 'tenant' || tenant === undefined || category === undefined || id === undefined)
    return notFound;
  if (rest.length > 0) return notFound;
  if (method !== 'DELETE') return notAllowed;
  return ({ master, signal }) =>
    master.write((cluster) => planCleanUp(cluster, tenant, category, id), signal);
}

/** @throws PodwireError REQUEST_INVALID */
function readJson(subject: string, body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw new PodwireError('REQUEST_INVALID', `${subject}: body must be JSON`, {
      cause,
      details: { object: subject, field: 'body' },
    });
  }
}
