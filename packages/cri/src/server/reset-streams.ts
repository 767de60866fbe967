/** Drops requests that their client has reset before grpc-js handles them; grpc-js does not check. */
import type { Server } from '@grpc/grpc-js';
import type { ServerHttp2Stream } from 'node:http2';

type HandleStream = (interceptors: unknown, stream: ServerHttp2Stream, headers: unknown) => void;

/**
 * Leaves out requests that are over before the server hears of them. grpc-js (1.14) refuses an unknown method or content type with
 * `respond` without looking at that; it throws ERR_HTTP2_INVALID_STREAM then, out of an event of Node's, where nothing can catch it:
 * the process ends. There is no public place before that; `channelz` must be off, which has a handler of its own.
 * Call it before the server has its connection injector.
 */
export function leaveResetStreamsOut(server: Server): void {
  const handling = server as unknown as { _streamHandler?: HandleStream };
  const handle = handling._streamHandler;
  if (handle === undefined) return;
  handling._streamHandler = function (this: Server, interceptors, stream, headers) {
    if (stream.destroyed || stream.closed) {
      // A fault of the stream may still arrive as an event.
      stream.on('error', () => undefined);
      return;
    }
    handle.call(this, interceptors, stream, headers);
  };
}
