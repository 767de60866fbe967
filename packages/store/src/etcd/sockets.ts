/**
 * The sockets of one gRPC client. grpc-js ends a connection by asking the server to end it too, and never ends one whose server has
 * taken it without a word (a frozen process: the kernel takes connections for it). Each of these would stay open as long as the server.
 */
import type { Socket } from 'node:net';
import { ChannelCredentials } from '@grpc/grpc-js';

type Connector = ReturnType<ChannelCredentials['_createSecureConnector']>;
type ConnectorArguments = Parameters<ChannelCredentials['_createSecureConnector']>;

/** Milliseconds that a server has to answer our end of a connection with its own. */
const lingerMs = 2_000;

/** Credentials that remember the sockets they are used on. */
export class SocketKeepingCredentials extends ChannelCredentials {
  readonly #inner: ChannelCredentials;
  readonly #sockets = new Set<Socket>();
  #isReleased = false;

  constructor(inner: ChannelCredentials) {
    super();
    this.#inner = inner;
  }

  /**
   * For after the client's `close`, and before it no connection is lost.
   * @param gracefully calls may be under way: a socket is destroyed only after the last of them has ended
   */
  release(gracefully: boolean): void {
    this.#isReleased = true;
    for (const socket of this.#sockets) {
      if (gracefully) destroyAfterEnd(socket);
      else socket.destroy();
    }
  }

  override _isSecure(): boolean {
    return this.#inner._isSecure();
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  override _createSecureConnector(...parameters: ConnectorArguments): Connector {
    const inner = this.#inner._createSecureConnector(...parameters);
    return {
      connect: async (socket) => {
        this.#keep(socket);
        const secured = await inner.connect(socket);
        this.#keep(secured.socket);
        return secured;
      },
      waitForReady: () => inner.waitForReady(),
      getCallCredentials: () => inner.getCallCredentials(),
      destroy: () => inner.destroy(),
    };
  }

  /** @throws Error when the client was dropped while this connection was being made; grpc-js destroys the socket then */
  #keep(socket: Socket): void {
    if (this.#isReleased) throw new Error('the client was dropped');
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

function destroyAfterEnd(socket: Socket): void {
  const linger = (): void => {
    const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
    socket.once('close', () => clearTimeout(timer));
  };
  if (socket.writableFinished) linger();
  else socket.once('finish', linger);
}
