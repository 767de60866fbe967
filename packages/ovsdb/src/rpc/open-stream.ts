import net from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import { onAbort } from '@podwire/platform';
import { OvsdbError } from '../errors.js';
import { parseEndpoint } from './endpoint.js';

/** For `ssl:` endpoints. Certificates and keys are PEM. */
export interface TlsOptions {
  /** Authorities that may have signed the server's certificate; those of Node when absent. */
  readonly ca?: string | Buffer;
  /** The own certificate and its key: ovsdb-server asks for them unless it runs with `--bootstrap-ca-cert` alone. */
  readonly certificate?: string | Buffer;
  readonly key?: string | Buffer;
  /**
   * True when absent: the certificate must be for the endpoint's host. Certificates by `ovs-pki` have no host name; Open
   * vSwitch's own programs check the authority alone, which `false` does too.
   */
  readonly verifyHost?: boolean;
}

/** Opens a stream to an endpoint. @throws OvsdbError `NOT_SENT`; TypeError for a text that is no endpoint */
export async function openStream(
  text: string,
  { tls: options, signal }: { readonly tls?: TlsOptions | undefined; readonly signal: AbortSignal },
): Promise<Duplex> {
  const endpoint = parseEndpoint(text);
  signal.throwIfAborted();
  if (endpoint.kind === 'unix') return untilOpen(net.connect(endpoint.path), 'connect', text, signal);
  const { host, port, kind } = endpoint;
  if (kind === 'tcp') return untilOpen(net.connect({ host, port, noDelay: true }), 'connect', text, signal);
  const socket = tls.connect({ host, port, ...toNode(host, options) });
  return untilOpen(socket.setNoDelay(true), 'secureConnect', text, signal);
}

function toNode(
  host: string,
  { ca, certificate, key, verifyHost = true }: TlsOptions = {},
): tls.ConnectionOptions {
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(certificate === undefined ? {} : { cert: certificate }),
    ...(key === undefined ? {} : { key }),
    // A server name must not be an address (RFC 6066, section 3).
    ...(net.isIP(host) === 0 ? { servername: host } : {}),
    ...(verifyHost ? {} : { checkServerIdentity: () => undefined }),
    minVersion: 'TLSv1.2',
  };
}

function untilOpen<S extends net.Socket>(
  socket: S,
  opened: 'connect' | 'secureConnect',
  name: string,
  signal: AbortSignal,
): Promise<S> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error): void => {
      unsubscribe();
      socket.destroy();
      reject(new OvsdbError('NOT_SENT', `no connection to ${name}: ${cause.message}`, { cause }));
    };
    const unsubscribe = onAbort(signal, fail);
    socket.once('error', fail);
    socket.once(opened, () => {
      unsubscribe();
      socket.off('error', fail);
      resolve(socket);
    });
  });
}
