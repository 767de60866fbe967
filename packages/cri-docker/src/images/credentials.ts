/** Files with credentials for registries: `config.json` of Docker and its older form `.dockercfg`. Pure. */
import type { RegistryAuth } from '../docker/index.js';

/** The entry of one key of such a file. */
export interface CredentialEntry {
  /** `https://index.docker.io/v1/`, `registry.example:5000/team`, `*.example.com`. */
  readonly key: string;
  readonly auth: RegistryAuth;
}

/** @throws Error that says what is wrong, and never what was there */
export function parseDockerConfig(text: string): CredentialEntry[] {
  const { auths } = parseMap(text);
  return auths === undefined ? [] : readEntries(asMap(auths, 'auths'));
}

/** The older form has the entries at its top. @throws Error */
export function parseDockercfg(text: string): CredentialEntry[] {
  return readEntries(parseMap(text));
}

type JsonMap = Readonly<Record<string, unknown>>;

function parseMap(text: string): JsonMap {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('it is no JSON'); // the parser's own words would quote the content
  }
  return asMap(value, 'the file');
}

function asMap(value: unknown, what: string): JsonMap {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonMap;
  throw new Error(`${what} is no map`);
}

function readEntries(map: JsonMap): CredentialEntry[] {
  return Object.entries(map).flatMap(([key, value]) => {
    const auth = readAuth(key, asMap(value, JSON.stringify(key)));
    return auth === undefined ? [] : [{ key, auth }];
  });
}

/** An entry with nothing in it says that a credential helper has it, which is no concern of a node. */
function readAuth(key: string, entry: JsonMap): RegistryAuth | undefined {
  const text = (field: string): string => (typeof entry[field] === 'string' ? entry[field] : '');
  const pair =
    text('auth') === ''
      ? { username: text('username'), password: text('password') }
      : decodeAuth(key, text('auth'));
  const token = text('identitytoken');
  if (pair.username === '' && pair.password === '' && token === '') return undefined;
  return { ...pair, serveraddress: key, ...(token === '' ? {} : { identitytoken: token }) };
}

/** Base64 of USER:PASSWORD, padded or not; only the first colon parts them. */
export function decodeAuth(key: string, auth: string): { username: string; password: string } {
  const compact = auth.replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) throw new Error(`auth of ${JSON.stringify(key)} is no base64`);
  const text = Buffer.from(compact, 'base64').toString('utf8').replace(/\0+$/, '');
  const colon = text.indexOf(':');
  if (colon < 0) throw new Error(`auth of ${JSON.stringify(key)} is not USER:PASSWORD`);
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
