/** The long way to say which store: for configuration files. */
import { z } from 'zod';
import type { StoreSpec } from './contract.js';

const file = z.string().min(2).max(4096).startsWith('/', 'no absolute path');

const tls = z
  .strictObject({
    ca: file.optional(),
    certificate: file.optional(),
    key: file.optional(),
    serverName: z.string().min(1).max(253).optional(),
  })
  .refine(({ certificate, key }) => (certificate === undefined) === (key === undefined), {
    error: 'certificate and key go together',
  });

const endpoint = z.string().max(300).refine(isEndpoint, 'no http://HOST:PORT or https://HOST:PORT');

const endpoints = z.array(endpoint).min(1).max(32);

const fits = ({ endpoints: all, tls: files }: { endpoints: string[]; tls?: unknown }): boolean =>
  files === undefined || all.every((each) => each.startsWith('https:'));
const misfit = { path: ['tls'], error: 'is given, but an endpoint is http://' };

/** As {@link StoreSpec}, without `undefined` in it. */
export const storeSpecSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('embedded'), directory: file }),
    z
      .strictObject({
        kind: z.literal('etcd'),
        endpoints,
        tls: tls.optional(),
        username: z.string().min(1).max(256).optional(),
        passwordFile: file.optional(),
      })
      .refine(fits, misfit)
      .refine(({ username, passwordFile }) => (username === undefined) === (passwordFile === undefined), {
        path: ['passwordFile'],
        error: 'username and passwordFile go together',
      }),
    z
      .strictObject({ kind: z.literal('consul'), endpoints, tls: tls.optional(), tokenFile: file.optional() })
      .refine(fits, misfit),
  ])
  // Absent members stay absent, not undefined, as the type says.
  .transform((spec) => JSON.parse(JSON.stringify(spec)) as StoreSpec);

function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash, username, password } = new URL(text);
  return (
    /^https?:$/.test(protocol) &&
    ['', '/'].includes(pathname) &&
    [search, hash, username, password].every((part) => part === '')
  );
}
