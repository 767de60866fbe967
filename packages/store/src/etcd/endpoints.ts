/** The members of the cluster that we know, and the connection to each. */
import fs from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import type { ChannelCredentials, Client } from '@grpc/grpc-js';
import * as grpc from '@grpc/grpc-js';
import { PodwireError, redactUrl } from '@podwire/errors';
import type { TlsFiles } from '../contract.js';
import { EtcdFailure } from './failure.js';
import type { EtcdSpec, EtcdTimeouts } from './options.js';
import { SocketKeepingCredentials } from './sockets.js';

const { connectivityState } = grpc;

interface Connection {
  readonly client: Client;
  readonly credentials: SocketKeepingCredentials;
}

/** Everything of one member but the calls. */
export class Endpoint {
  readonly url: string;
  readonly #address: string;
  readonly #host: string;
  readonly #isSecure: boolean;
  readonly #tls: TlsFiles;
  readonly #timeouts: EtcdTimeouts;
  #connection: Connection | undefined;
  #isClosed = false;

  constructor(url: string, tls: TlsFiles, timeouts: EtcdTimeouts) {
    const { protocol, host, port } = parseEndpoint(url);
    this.url = url;
    this.#address = `dns:${host}:${port}`;
    this.#host = host.replace(/^\[|\]$/g, '');
    this.#isSecure = protocol === 'https:';
    this.#tls = tls;
    this.#timeouts = timeouts;
  }

  /**
   * A client that is connected, or whose calls fail at once and say why.
   * @throws EtcdFailure `unsent` if the connection is not accepted in time, or a file cannot be read
   */
  async connect(milliseconds: number): Promise<Client> {
    // Not by the time of day, which may be set meanwhile.
    const end = performance.now() + Math.max(1, milliseconds);
    for (;;) {
      // Checked again: a call that waited or logged in would make a connection that is never closed.
      if (this.#isClosed) throw new EtcdFailure('unsent', 'the store is closed', { isAnswer: false });
      // Another call may have closed the one that we were waiting for.
      const { client } = (this.#connection ??= this.#open());
      const channel = client.getChannel();
      const state = channel.getConnectivityState(true);
      if (state === connectivityState.READY || state === connectivityState.TRANSIENT_FAILURE) return client;
      const isLate = await new Promise<boolean>((resolve) => {
        const deadline = Date.now() + Math.max(1, end - performance.now());
        channel.watchConnectivityState(state, deadline, (error) =>
          resolve(error !== undefined && performance.now() >= end),
        );
      });
      if (!isLate) continue;
      this.drop(client);
      const message = `the connection was not accepted within ${Math.round(milliseconds)} ms`;
      throw new EtcdFailure('unsent', message, { isAnswer: false });
    }
  }

  /**
   * The next call makes a connection anew, with the certificates that the files have then. Calls that are under way on the
   * old one go on; without any it is gone in two seconds, also when the member does not answer.
   */
  drop(client: Client | undefined = this.#connection?.client): void {
    const connection = this.#connection;
    if (connection === undefined || client !== connection.client) return;
    this.#connection = undefined;
    const wasReady = connection.client.getChannel().getConnectivityState(false) === connectivityState.READY;
    connection.client.close();
    connection.credentials.release(wasReady);
  }

  /** No connection is made any more. */
  close(): void {
    this.#isClosed = true;
    this.drop();
  }

  #open(): Connection {
    const credentials = new SocketKeepingCredentials(this.#credentials());
    const client = new grpc.Client(this.#address, credentials, {
      // Lists are paged by what was there before; a single value may still be big.
      'grpc.max_receive_message_length': -1,
      'grpc.max_send_message_length': -1,
      'grpc.enable_http_proxy': 0,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 1_000,
      // A member that is frozen, or behind a broken link, is found out by a watch although TCP keeps quiet.
      'grpc.keepalive_time_ms': this.#timeouts.silence,
      'grpc.keepalive_timeout_ms': Math.min(4_000, this.#timeouts.silence),
      // Else connections outlive `close` in a pool of the whole process.
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_channelz': 0,
      'grpc.service_config_disable_resolution': 1,
      ...this.#nameOptions(),
    });
    return { client, credentials };
  }

  #nameOptions(): Record<string, string> {
    const { serverName } = this.#tls;
    if (serverName !== undefined)
      return { 'grpc.ssl_target_name_override': serverName, 'grpc.default_authority': serverName };
    // An address must not be sent as a name (RFC 6066), and grpc-js sends what it has; the certificate is checked below.
    return isIP(this.#host) === 0 ? {} : { 'grpc.ssl_target_name_override': 'etcd' };
  }

  #credentials(): ChannelCredentials {
    if (!this.#isSecure) return grpc.credentials.createInsecure();
    const { ca, certificate, key } = readTlsFiles(this.#tls);
    try {
      return grpc.credentials.createSsl(ca ?? null, key ?? null, certificate ?? null, {
        checkServerIdentity: (_, peer) => checkServerIdentity(this.#tls.serverName ?? this.#host, peer),
      });
    } catch (cause) {
      throw new EtcdFailure('unsent', `the TLS files cannot be used: ${String(cause)}`, {
        code: 'STORE_DENIED',
        isAnswer: false,
        cause,
      });
    }
  }
}

/** The one that worked last is asked first. */
export class Endpoints {
  readonly all: readonly Endpoint[];
  #current: number;

  /** @throws PodwireError CONFIG_INVALID, STORE_DENIED when a TLS file cannot be read */
  constructor(spec: EtcdSpec, timeouts: EtcdTimeouts, random: () => number) {
    const { endpoints, tls = {} } = spec;
    if (endpoints.length === 0) throw invalid('etcd has no endpoints');
    this.all = endpoints.map((url) => new Endpoint(url, tls, timeouts));
    checkTlsFiles(tls);
    // Not the first: thousands of nodes with one configuration would all be on one member.
    this.#current = Math.floor(random() * endpoints.length);
  }

  /** All, beginning with the one in use. */
  inOrder(): readonly Endpoint[] {
    return [...this.all.slice(this.#current), ...this.all.slice(0, this.#current)];
  }

  prefer(endpoint: Endpoint): void {
    this.#current = this.all.indexOf(endpoint);
  }

  /** @returns whether another one is in use now */
  leave(endpoint: Endpoint): boolean {
    if (this.all[this.#current] !== endpoint || this.all.length === 1) return false;
    this.#current = (this.#current + 1) % this.all.length;
    return true;
  }

  close(): void {
    for (const endpoint of this.all) endpoint.close();
  }
}

const invalid = (message: string): PodwireError => new PodwireError('CONFIG_INVALID', message);

function parseEndpoint(text: string): { protocol: string; host: string; port: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.hostname === '')
    throw invalid(`"${redactUrl(text)}" is no endpoint of etcd: http://HOST:PORT or https://HOST:PORT`);
  if (url.username !== '' || url.password !== '')
    throw invalid('an endpoint of etcd has no user and no password in it: they have fields of their own');
  return { protocol: url.protocol, host: url.hostname, port: url.port === '' ? '2379' : url.port };
}

interface TlsContents {
  readonly ca: Buffer | undefined;
  readonly certificate: Buffer | undefined;
  readonly key: Buffer | undefined;
}

function readTlsFiles({ ca, certificate, key }: TlsFiles): TlsContents {
  const read = (file: string | undefined): Buffer | undefined =>
    file === undefined ? undefined : readSecret(file);
  return { ca: read(ca), certificate: read(certificate), key: read(key) };
}

/** @throws EtcdFailure that names the file */
export function readSecret(file: string): Buffer {
  try {
    return fs.readFileSync(file);
  } catch (cause) {
    const message = `${file} cannot be read`;
    throw new EtcdFailure('unsent', message, { code: 'STORE_DENIED', isAnswer: false, cause });
  }
}

/** Reports errors of the configuration when the store is opened. */
function checkTlsFiles(tls: TlsFiles): void {
  try {
    readTlsFiles(tls);
  } catch (cause) {
    throw new PodwireError('STORE_DENIED', (cause as Error).message, { cause });
  }
}
