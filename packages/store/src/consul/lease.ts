/** Leases are sessions that delete what is locked with them. */
import { describeError } from '@podwire/errors';
import type { CallOptions, Lease } from '../contract.js';
import { leaseLost } from '../failures.js';
import { readSession } from './entries.js';
import type { ConsulHttp } from './http.js';

/** Limits of a session's TTL in Consul, milliseconds. */
const shortest = 10_000;
const longest = 86_400_000;

/**
 * - No lock delay: what went with a session may be created again at once.
 * - No checks: by default a session ends with the agent that it was created at, and we go on at another endpoint then.
 * - Consul lets a session live twice as long as its length before it ends it; at least its length is what counts here.
 */
export async function createSession(http: ConsulHttp, ttl: number, signal?: AbortSignal): Promise<Lease> {
  const seconds = Math.ceil(Math.min(Math.max(ttl, shortest), longest) / 1_000);
  const body = JSON.stringify({
    Name: 'podwire',
    TTL: `${seconds}s`,
    Behavior: 'delete',
    LockDelay: '0s',
    Checks: [],
    NodeChecks: [],
  });
  // Twice is harmless: the first one runs out.
  const reply = await http.send({
    method: 'PUT',
    path: '/v1/session/create',
    body,
    repeatable: true,
    signal,
  });
  return sessionLease(http, readSession(reply.text), seconds * 1_000);
}

function sessionLease(http: ConsulHttp, id: string, ttl: number): Lease {
  const send = (verb: 'renew' | 'destroy', options: CallOptions = {}) =>
    http.send({
      method: 'PUT',
      path: `/v1/session/${verb}/${id}`,
      repeatable: true,
      signal: options.signal,
    });
  return {
    id,
    ttl,
    async keepAlive(options) {
      const { status } = await send('renew', options);
      if (status === 404) throw leaseLost(id);
    },
    async revoke(options) {
      try {
        await send('destroy', options);
      } catch (error) {
        // Older versions with ACLs answered so (with HTTP 500) for a session that had ended.
        if (!/Unknown session/i.test(describeError(error))) throw error;
      }
    },
  };
}
