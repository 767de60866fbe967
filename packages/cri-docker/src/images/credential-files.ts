/** The files with credentials on a node, and how long their content is cached. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describeError } from '@podwire/errors';
import { hasCode } from '@podwire/linux';
import { type Clock, deadlineSignal, type Log, orAborted } from '@podwire/platform';
import { type CredentialEntry, parseDockerConfig, parseDockercfg } from './credentials.js';
import { createKeyring, type Keyring } from './keyring.js';

/** A source of credentials beside the files, such as one for a cloud's registry. */
export interface CredentialProvider {
  readonly name: string;
  credentials(signal: AbortSignal): Promise<readonly CredentialEntry[]>;
}

export interface CredentialPlaces {
  /** Looked into first; the root directory of the service. */
  readonly preferred: string;
  readonly cwd?: string;
  readonly home?: string;
  /** `/`, which tests put elsewhere. */
  readonly top?: string;
}

/** Milliseconds. */
const believedFor = 5 * 60_000;
const providerTimeoutMs = 60_000;

export interface CredentialStore {
  keyring(signal: AbortSignal): Promise<Keyring>;
}

/** Providers are asked in the order of their names; the files are one of them. */
export function createCredentialStore(
  places: CredentialPlaces,
  { clock, log, providers = [] }: { clock: Clock; log: Log; providers?: readonly CredentialProvider[] },
): CredentialStore {
  const files: CredentialProvider = { name: '.dockercfg', credentials: () => readFiles(places, log) };
  const all = [files, ...providers].sort((a, b) => (a.name < b.name ? -1 : 1));
  let known: { readonly keyring: Promise<Keyring>; readonly at: number } | undefined;
  const read = async (signal: AbortSignal): Promise<Keyring> => {
    const entries: CredentialEntry[] = [];
    for (const provider of all) entries.push(...(await ask(provider, signal, log)));
    return createKeyring(entries);
  };
  return {
    keyring(signal) {
      const now = clock.elapsed();
      if (known === undefined || now - known.at >= believedFor) {
        // Without the caller's signal: the next ones get the same answer.
        known = { keyring: read(deadlineSignal(providerTimeoutMs)), at: now };
      }
      return orAborted(known.keyring, signal);
    },
  };
}

async function ask(
  provider: CredentialProvider,
  signal: AbortSignal,
  log: Log,
): Promise<readonly CredentialEntry[]> {
  try {
    return await provider.credentials(signal);
  } catch (error) {
    log.warn({ provider: provider.name, why: describeError(error) }, 'a provider of credentials failed');
    return [];
  }
}

/** The first file that can be read and understood is the only one that counts. */
async function readFiles(places: CredentialPlaces, log: Log): Promise<CredentialEntry[]> {
  const { preferred, cwd = process.cwd(), home = os.homedir(), top = '/' } = places;
  const modern = [preferred, cwd, path.join(home, '.docker'), path.join(top, '.docker')];
  const candidates = [
    ...modern.map((directory) => [path.join(directory, 'config.json'), parseDockerConfig] as const),
    ...[preferred, cwd, home, top].map(
      (directory) => [path.join(directory, '.dockercfg'), parseDockercfg] as const,
    ),
  ];
  for (const [file, parse] of candidates) {
    try {
      return parse(await fs.readFile(file, 'utf8'));
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ENOTDIR')) continue;
      log.warn({ file, why: describeError(error) }, 'a file with credentials cannot be used');
    }
  }
  return [];
}
