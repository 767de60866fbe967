/** `/v1/kv/…` */
import type { Consul, Rights } from './consul.js';
import {
  type Answer,
  type Asked,
  denied,
  json,
  mayRead,
  mayWrite,
  mostBytes,
  readWait,
  refuse,
} from './answers.js';
import { type Contents, type Entry, listEntries } from './state.js';

/** Names of files, which recent versions refuse at the end of a key; not all that it knows. */
const fileName =
  /\.(js|css|html?|xml|json|txt|log|php|jsp|cgi|pl|py|rb|sh|exe|com|bat|pdf|zip|tar|gz|7z|jpg|png|svg|ico)$/i;

/** @returns what is wrong with a key, as recent versions see it */
function findFault(key: string): string | undefined {
  const [, character] = /([^A-Za-z0-9,\-_./])/.exec(key) ?? [];
  if (character !== undefined) return `key contains invalid character '${character}'`;
  if (key.startsWith('/')) return "key must not begin with a '/'";
  return fileName.test(key) ? 'key contains suspicious file extension' : undefined;
}

export async function answerKv(
  consul: Consul,
  asked: Asked,
  rights: Rights,
  gone: AbortSignal,
): Promise<Answer> {
  const key = asked.path.slice('/v1/kv/'.length);
  const fault = findFault(key);
  if (fault !== undefined) return refuse(400, fault);
  switch (asked.method) {
    case 'GET':
      return read(consul, key, asked, rights, gone);
    case 'PUT':
      return mayWrite(rights, key) ? put(consul, key, asked) : denied;
    case 'DELETE':
      return mayWrite(rights, key) ? remove(consul, key, asked) : denied;
    default:
      return refuse(405, 'method not allowed');
  }
}

async function read(
  consul: Consul,
  key: string,
  { query }: Asked,
  rights: Rights,
  gone: AbortSignal,
): Promise<Answer> {
  const isList = query.has('recurse') || query.has('keys');
  if (!isList && key === '') return refuse(400, 'Missing key name');
  if (!isList && !mayRead(rights, key)) return denied;
  const index = Number(query.get('index') ?? 0);
  if (index > 0) await consul.awaitList(key, { index, wait: readWait(query.get('wait')) }, gone);
  return isList ? list(consul.contents, key, query, rights) : readOne(consul.contents, key);
}

function readOne(contents: Contents, key: string): Answer {
  const entry = contents.entries.get(key);
  if (entry === undefined) return { status: 404, text: '', index: contents.kvIndex };
  return json([entry], { index: entry.ModifyIndex });
}

/** An item that may not be read is left out, and the answer reports that. */
function list(contents: Contents, prefix: string, query: URLSearchParams, rights: Rights): Answer {
  const { index, entries } = listEntries(contents, prefix);
  const readable = entries.filter(({ Key }) => mayRead(rights, Key));
  const more = { index, filtered: readable.length < entries.length };
  if (readable.length === 0) return { status: 404, text: '', ...more };
  return json(query.has('keys') ? names(readable, prefix, query.get('separator') ?? '') : readable, more);
}

function names(entries: readonly Entry[], prefix: string, separator: string): string[] {
  const cut = (key: string): string => {
    const at = separator === '' ? -1 : key.indexOf(separator, prefix.length);
    return at < 0 ? key : key.slice(0, at + separator.length);
  };
  return [...new Set(entries.map(({ Key }) => cut(Key)))];
}

function put(consul: Consul, Key: string, { query, body }: Asked): Answer {
  if (['cas', 'acquire', 'release'].filter((flag) => query.has(flag)).length > 1)
    return refuse(400, 'Conflicting flags');
  if (body.length > mostBytes) return refuse(413, `Request body(${body.length} bytes) too large`);
  const common = { Key, Value: body.toString('base64'), Flags: Number(query.get('flags') ?? 0) };
  const [acquire, release, cas] = [query.get('acquire'), query.get('release'), query.get('cas')];
  if (acquire !== null) return done(consul, { Verb: 'lock', Session: acquire, ...common });
  if (release !== null) return done(consul, { Verb: 'unlock', Session: release, ...common });
  if (cas !== null) return done(consul, { Verb: 'cas', Index: Number(cas), ...common });
  return done(consul, { Verb: 'set', ...common });
}

function remove(consul: Consul, Key: string, { query }: Asked): Answer {
  const cas = query.get('cas');
  if (query.has('recurse')) return done(consul, { Verb: 'delete-tree', Key });
  return done(
    consul,
    cas === null ? { Verb: 'delete', Key } : { Verb: 'delete-cas', Key, Index: Number(cas) },
  );
}

/** `false` for what a condition forbids; a session that does not exist is an error. */
function done(consul: Consul, operation: Parameters<Consul['transact']>[0][number]): Answer {
  const result = consul.transact([operation]);
  const what = 'errors' in result ? result.errors[0]?.What : undefined;
  return what?.startsWith('invalid session') === true ? refuse(500, what) : json(!('errors' in result));
}
