import { CriError } from '@podwire/cri';

export interface TokenOptions {
  /** milliseconds */
  readonly lifetimeMs: number;
  readonly maxPending: number;
  /** milliseconds of a clock that never goes back */
  readonly now: () => number;
  /** Cryptographically random bytes. */
  readonly randomBytes: (length: number) => Buffer;
}

/** Requests waiting for a client with their token. */
export interface TokenStore<T> {
  /** @throws CriError RESOURCE_EXHAUSTED when too many wait */
  issue(request: T): string;
  /** The request of a token that is still valid. The token stays valid. */
  peek(token: string): T | undefined;
  /** The same, once. */
  consume(token: string): T | undefined;
}

/** Six random bytes are eight characters of URL-safe base64. */
const tokenBytes = 6;

export function createTokenStore<T>(options: TokenOptions): TokenStore<T> {
  // In the order of their issue, which is the order of their end.
  const pending = new Map<string, { readonly request: T; readonly expires: number }>();
  const dropExpired = (): void => {
    const now = options.now();
    for (const [token, { expires }] of pending) {
      if (expires > now) return;
      pending.delete(token);
    }
  };
  const peek = (token: string): T | undefined => {
    dropExpired();
    return pending.get(token)?.request;
  };
  return {
    issue: (request) => {
      dropExpired();
      if (pending.size >= options.maxPending) {
        throw new CriError(
          'RESOURCE_EXHAUSTED',
          `${pending.size} streaming requests wait for their client already`,
        );
      }
      const token = unusedToken(options, (candidate) => pending.has(candidate));
      pending.set(token, { request, expires: options.now() + options.lifetimeMs });
      return token;
    },
    peek,
    consume: (token) => {
      const request = peek(token);
      pending.delete(token);
      return request;
    },
  };
}

function unusedToken({ randomBytes }: TokenOptions, used: (token: string) => boolean): string {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const token = randomBytes(tokenBytes).toString('base64url');
    if (!used(token)) return token;
  }
  throw new CriError('INTERNAL', 'no unused token could be found');
}
