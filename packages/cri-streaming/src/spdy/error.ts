/** Status codes of GOAWAY (SPDY/3.1 §2.6.6). */
export const goAwayStatus = { OK: 0, PROTOCOL_ERROR: 1, INTERNAL_ERROR: 2 } as const;

/** Status codes of RST_STREAM (SPDY/3.1 §2.6.3). */
export const resetStatus = {
  PROTOCOL_ERROR: 1,
  INVALID_STREAM: 2,
  REFUSED_STREAM: 3,
  UNSUPPORTED_VERSION: 4,
  CANCEL: 5,
  INTERNAL_ERROR: 6,
  FLOW_CONTROL_ERROR: 7,
  STREAM_IN_USE: 8,
  STREAM_ALREADY_CLOSED: 9,
  FRAME_TOO_LARGE: 11,
} as const;

/** A protocol violation of the peer. It ends the connection. */
export class SpdyProtocolError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SpdyProtocolError';
  }
}

/** The peer reset a stream; `status` is one of {@link resetStatus}. */
export class SpdyResetError extends Error {
  readonly status: number;

  constructor(streamId: number, status: number) {
    super(`the peer reset stream ${streamId} with status ${status}`);
    this.name = 'SpdyResetError';
    this.status = status;
  }
}
