/** User and password for a token. */
import { Metadata } from '@grpc/grpc-js';
import type { Log } from '@podwire/platform';
import { ask } from './ask.js';
import { type Endpoint, readSecret } from './endpoints.js';
import { EtcdFailure, toFailure } from './failure.js';
import { authenticate } from './methods.js';
import type { EtcdSpec } from './options.js';

/**
 * The password is read each time: it may have been changed.
 * @returns undefined if the cluster has no authentication
 * @throws EtcdFailure `final` and STORE_DENIED for a wrong password; others as for any call of which nothing was sent
 */
export async function logIn(
  { username = '', passwordFile }: EtcdSpec,
  endpoint: Endpoint,
  milliseconds: number,
  log: Log,
): Promise<string | undefined> {
  const password =
    passwordFile === undefined
      ? ''
      : readSecret(passwordFile)
          .toString('utf8')
          .replace(/\r?\n$/, '');
  try {
    const client = await endpoint.connect(milliseconds);
    const request = { name: username, password };
    const { token } = await ask(client, authenticate, request, {
      metadata: new Metadata(),
      milliseconds,
      ends: [],
    });
    return token;
  } catch (error) {
    const failure = toFailure(error);
    if (/authentication is not enabled/.test(failure.message)) {
      log.warn({ endpoint: endpoint.url, username }, 'etcd does not ask who calls: the user is of no use');
      return undefined;
    }
    throw toLoginFailure(username, failure);
  }
}

function toLoginFailure(username: string, failure: EtcdFailure): EtcdFailure {
  const { kind, message, isAnswer } = failure;
  if (kind === 'final' && failure.code === 'STORE_DENIED')
    return new EtcdFailure('final', `user "${username}": ${message}`, { code: 'STORE_DENIED' });
  // No member could be asked; nothing of the call itself was sent.
  return kind === 'unknown' ? new EtcdFailure('unsent', message, { isAnswer, cause: failure }) : failure;
}
