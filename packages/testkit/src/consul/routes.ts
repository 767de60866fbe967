/** Which request means what. */
import {
  type Answer,
  type Asked,
  denied,
  json,
  mayRead,
  mayWrite,
  mostBytes,
  refuse,
  rightsOf,
} from './answers.js';
import type { Consul, Rights } from './consul.js';
import { answerKv } from './kv.js';
import type { KvOperation } from './transaction.js';

export async function answer(consul: Consul, asked: Asked, gone: AbortSignal): Promise<Answer> {
  const rights = rightsOf(consul, asked.token);
  if (rights === undefined)
    return refuse(403, asked.token === undefined ? 'Permission denied' : 'ACL not found');
  try {
    if (asked.path.startsWith('/v1/kv/')) return await answerKv(consul, asked, rights, gone);
    if (asked.path === '/v1/txn') return answerTransaction(consul, asked, rights);
    if (asked.path.startsWith('/v1/session/')) return answerSession(consul, asked, rights);
    if (asked.path === '/v1/status/leader') return json('127.0.0.1:8300');
  } catch (error) {
    return refuse(500, (error as Error).message);
  }
  return refuse(404, 'no such endpoint');
}

function answerTransaction(consul: Consul, { method, body }: Asked, rights: Rights): Answer {
  if (method !== 'PUT') return refuse(405, 'method not allowed');
  if (body.length > mostBytes) return refuse(413, `Request body too large, max size: ${mostBytes} bytes`);
  const operations = (JSON.parse(body.toString()) as { readonly KV: KvOperation }[]).map(({ KV }) => KV);
  const most = consul.options.mostOperations ?? 64;
  if (operations.length > most)
    return refuse(413, `Transaction contains too many operations (${operations.length} > ${most})`);
  const denials = operations.flatMap(({ Verb, Key }, OpIndex) => {
    const may = Verb === 'check-index' || Verb.startsWith('get') ? mayRead : mayWrite;
    return may(rights, Key) ? [] : [{ OpIndex, What: 'Permission denied' }];
  });
  const result = denials.length > 0 ? { errors: denials } : consul.transact(operations);
  if ('errors' in result) return json({ Results: null, Errors: result.errors }, { status: 409 });
  return json({ Results: result.results.map((KV) => ({ KV })), Errors: null });
}

function answerSession(consul: Consul, { method, path, body }: Asked, rights: Rights): Answer {
  const [, , , verb, id = ''] = path.split('/');
  if (rights.sessions !== true) return denied;
  switch (`${method} ${verb}`) {
    case 'PUT create': {
      const asked = body.length === 0 ? {} : (JSON.parse(body.toString()) as object);
      return json({ ID: consul.createSession(asked).ID });
    }
    case 'PUT destroy':
      consul.destroySession(id);
      return json(true);
    case 'PUT renew': {
      const session = consul.renewSession(id);
      return session === undefined ? refuse(404, `Session id '${id}' not found`) : json([session]);
    }
    case 'GET info':
      return json([consul.contents.sessions.get(id)].filter((each) => each !== undefined));
    case 'GET list':
      return json([...consul.contents.sessions.values()]);
    default:
      return refuse(405, 'method not allowed');
  }
}
