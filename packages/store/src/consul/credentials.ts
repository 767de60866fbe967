/** Credentials for Consul: files, read once; the token again when it is refused, since tokens are rotated. */
import fs from 'node:fs';
import type { TlsOptions } from 'node:tls';
import { PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import type { ConsulSpec } from './options.js';

export interface Credentials {
  readonly tls: Pick<TlsOptions, 'ca' | 'cert' | 'key'> & { readonly servername?: string };
  readonly token: () => string | undefined;
  /** @returns whether there is another one now than the one that was refused; another call may have read it already */
  reloadToken(refused: string | undefined): boolean;
}

/** @throws PodwireError STORE_DENIED when a file cannot be read */
export function loadCredentials({ tls = {}, tokenFile }: ConsulSpec): Credentials {
  const readToken = (): string | undefined =>
    tokenFile === undefined ? undefined : read(tokenFile).toString().trim();
  let token = readToken();
  return {
    tls: compact({
      ca: readIfGiven(tls.ca),
      cert: readIfGiven(tls.certificate),
      key: readIfGiven(tls.key),
      servername: tls.serverName,
    }),
    token: () => token,
    reloadToken(refused) {
      token = readToken();
      return token !== refused;
    },
  };
}

const readIfGiven = (file: string | undefined): Buffer | undefined =>
  file === undefined ? undefined : read(file);

function read(file: string): Buffer {
  try {
    return fs.readFileSync(file);
  } catch (cause) {
    throw new PodwireError('STORE_DENIED', `${file} cannot be read`, { cause });
  }
}
