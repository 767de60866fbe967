/** Endpoints as Open vSwitch writes them: `unix:PATH`, `tcp:HOST:PORT`, `ssl:HOST:PORT`. */

export type Endpoint =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp' | 'ssl'; readonly host: string; readonly port: number };

/** Of OVSDB, by IANA. */
const defaultPort = 6640;

/** The host of an IPv6 address stands in brackets; the port is 6640 when there is none. @throws TypeError */
export function parseEndpoint(text: string): Endpoint {
  const path = /^unix:(.+)$/.exec(text)?.[1];
  if (path !== undefined) return { kind: 'unix', path };
  const [, kind, bracketed, plain, port] = /^(tcp|ssl):(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const number = port === undefined ? defaultPort : Number(port);
  if (host === undefined || number < 1 || number > 65_535)
    throw new TypeError(`${text} is no endpoint: expected unix:PATH, tcp:HOST:PORT or ssl:HOST:PORT`);
  return { kind: kind === 'ssl' ? 'ssl' : 'tcp', host, port: number };
}
