import { errnoName } from '@podwire/linux';
import { decodeAcknowledgement } from './acknowledgement.js';
import type { NetlinkFailure, NetlinkMessage, NetlinkRequest } from './connection.js';
import type { Message } from './datagram.js';
import { NLMSG_DONE, NLMSG_ERROR, NLMSG_NOOP } from './protocol.js';

/**
 * Requests that were sent together and what has come back for them. Only one of them asks for an ack: the kernel
 * answers in order and always reports errors, so when that ack is here, everything is (netlink_rcv_skb).
 */
export class Exchange {
  readonly requests: readonly NetlinkRequest[];
  readonly replies: NetlinkMessage[][];
  readonly failures: NetlinkFailure[] = [];
  /** Index of the request that asks for the ack; -1 when none of them can. */
  readonly acknowledged: number;
  /** Sequence number of the first request. */
  readonly first: number;
  /** The kernel dropped datagrams while this exchange was under way. */
  lost = false;
  #complete = false;

  constructor(requests: readonly NetlinkRequest[], firstSequence: number) {
    this.requests = requests;
    this.replies = requests.map(() => []);
    this.acknowledged = requests.findLastIndex((request) => request.unacknowledged !== true);
    this.first = firstSequence;
  }

  get complete(): boolean {
    return this.#complete;
  }

  /** True if it would be no surprise if no further answer came. */
  get answered(): boolean {
    return this.#complete || this.lost || this.failures.length > 0 || this.acknowledged < 0;
  }

  /** Takes a message if it belongs here; `false` means that it does not. */
  accept(message: Message): boolean {
    const index = (message.sequence - this.first) >>> 0;
    if (index >= this.requests.length) return false;
    if (message.type === NLMSG_ERROR) this.#acknowledge(index, message);
    else if (message.type === NLMSG_DONE) this.#complete ||= index === this.acknowledged;
    else if (message.type !== NLMSG_NOOP) this.replies[index]!.push(message);
    return true;
  }

  #acknowledge(index: number, message: Message): void {
    const { errno, ...extension } = decodeAcknowledgement(message);
    if (index === this.acknowledged) this.#complete = true;
    if (errno === 0) return;
    const label = this.requests[index]!.label ?? `request ${index}`;
    this.failures.push({ index, label, code: errnoName(errno), errno, ...extension });
  }
}
