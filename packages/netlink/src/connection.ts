/**
 * A netlink connection, apart from how it reaches a kernel. The real one is in `socket.ts`, the fake
 * kernel in `fake/`; both pass one compliance suite.
 */

/** One request, without its header: the connection adds length, sequence number and port id (netlink(7)). */
export interface NetlinkRequest {
  readonly type: number;
  /** NLM_F_* beyond NLM_F_REQUEST, which is always set; NLM_F_ACK is the connection's business. */
  readonly flags: number;
  readonly payload: Uint8Array;
  /** For errors: what this request does, in words (`create link cali0123`). */
  readonly label?: string;
  /**
   * The kernel may leave this one unanswered even with NLM_F_ACK: NFNL_MSG_BATCH_BEGIN and NFNL_MSG_BATCH_END.
   * The connection asks for the closing ack elsewhere; a failure that concerns the whole batch (a refused commit,
   * a missing capability) is reported at the index of the batch's begin.
   */
  readonly unacknowledged?: boolean;
}

/** One message that came back. `payload` starts after the nlmsghdr. */
export interface NetlinkMessage {
  readonly type: number;
  readonly flags: number;
  readonly payload: Uint8Array;
}

export interface NetlinkConnection {
  /**
   * Sends all requests in one `sendmsg`. The kernel runs every one of them in order, also after one failed.
   * Returns, request by request, what the kernel answered (echo or GET replies; acks are not messages).
   * @throws NetlinkBatchError with one entry per failed request, after all acks have been read.
   */
  request(requests: readonly NetlinkRequest[]): NetlinkMessage[][];
  /**
   * As {@link request}, blocking a pool thread instead of the caller: for what the kernel does slowly. They take turns.
   * When `signal` is aborted the promise is rejected with its reason; what has been sent is carried out all the same.
   */
  requestAsync(requests: readonly NetlinkRequest[], signal: AbortSignal): Promise<NetlinkMessage[][]>;
  /**
   * A dump (NLM_F_DUMP is added); retried when the kernel says that it was interrupted (NLM_F_DUMP_INTR).
   * @param limit of messages: when there are more, only so many are read. Not while an asynchronous request is under way.
   */
  dump(request: NetlinkRequest, limit?: number): NetlinkMessage[];
  /** The port id of this end, which events name that its requests have caused; 0 before the first request. */
  portId(): number;
  /** Closes it when the last asynchronous request is done. */
  close(): void;
}

/** One request failed. `code` is the errno's name; `kernelMessage` the extended ack's text if the kernel gave one. */
export interface NetlinkFailure {
  readonly index: number;
  readonly label: string;
  readonly code: string;
  readonly errno: number;
  readonly kernelMessage?: string;
  /** Offset of the offending attribute in the request, from the extended ack (NLMSGERR_ATTR_OFFS). */
  readonly attributeOffset?: number;
}
