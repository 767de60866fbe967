import { hasCode } from '@podwire/linux';
import { orAborted } from '@podwire/platform';
import type { NetlinkConnection, NetlinkMessage, NetlinkRequest } from './connection.js';
import { datagramLength, readMessages, encodeDatagram } from './datagram.js';
import { DumpReader } from './dump-reader.js';
import { NetlinkBatchError, NetlinkError } from './errors.js';
import { Exchange } from './exchange.js';
import type { NetlinkPort } from './port.js';
import { NLM_F_DUMP } from './protocol.js';

const DUMP_ATTEMPTS = 8;
const LAST_SEQUENCE = 0xffffffff;

/**
 * Buffers of all connections of this thread: sending and receiving are synchronous, so no two use them at once,
 * and a connection that lives for one pod's wiring costs no memory. Datagrams of dumps are at most 32 KiB
 * (netlink_dump), single replies may be larger.
 */
let sendBuffer = Buffer.allocUnsafeSlow(16 * 1024);
const receiveBuffer = Buffer.allocUnsafeSlow(256 * 1024);

/** The netlink protocol over a port: sequence numbers, acks, dumps. */
export class Conversation implements NetlinkConnection {
  readonly #port: NetlinkPort;
  readonly #answerer: string;
  /** Exchanges whose answers may still come; two while an asynchronous one is under way. */
  readonly #open = new Set<Exchange>();
  #sequence = 0;
  /** Asynchronous requests under way or waiting for their turn. */
  #pending = 0;
  #turn: Promise<void> = Promise.resolve();
  #state: 'open' | 'closing' | 'closed' = 'open';

  /** `answerer` is who answers, in errors: `RTNETLINK`. */
  constructor(port: NetlinkPort, answerer = 'RTNETLINK') {
    this.#port = port;
    this.#answerer = answerer;
  }

  request(requests: readonly NetlinkRequest[]): NetlinkMessage[][] {
    this.#requireOpen();
    if (requests.length === 0) return [];
    const exchange = this.#begin(requests);
    try {
      this.#port.send(this.#encode(exchange.requests, exchange.first, exchange.acknowledged));
      return this.#finish(exchange);
    } finally {
      this.#open.delete(exchange);
    }
  }

  /**
   * One after the other: the kernel would let them wait for each other anyway, and each that waits there keeps a thread
   * of the pool from all other users. One that is aborted before its turn is not sent.
   */
  async requestAsync(requests: readonly NetlinkRequest[], signal: AbortSignal): Promise<NetlinkMessage[][]> {
    signal.throwIfAborted();
    this.#requireOpen();
    if (requests.length === 0) return [];
    this.#pending++;
    const answers = this.#turn.then(() => this.#exchangeAsync(requests, signal));
    this.#turn = answers.then(
      () => this.#settle(),
      () => this.#settle(),
    );
    return await orAborted(answers, signal);
  }

  async #exchangeAsync(
    requests: readonly NetlinkRequest[],
    signal: AbortSignal,
  ): Promise<NetlinkMessage[][]> {
    signal.throwIfAborted();
    const exchange = this.#begin(requests);
    try {
      const datagram = this.#encode(exchange.requests, exchange.first, exchange.acknowledged);
      await this.#port.sendAsync(Buffer.from(datagram));
      return this.#finish(exchange);
    } finally {
      this.#open.delete(exchange);
    }
  }

  #settle(): void {
    this.#pending--;
    this.#closeWhenIdle();
  }

  dump(request: NetlinkRequest, limit = Infinity): NetlinkMessage[] {
    this.#requireOpen();
    for (let attempt = 0; attempt < DUMP_ATTEMPTS; attempt++) {
      const reader = this.#dumpOnce(request, limit);
      if (!reader.complete) return this.#abandon(reader, limit);
      if (reader.failure !== undefined) throw new NetlinkBatchError([reader.failure], this.#answerer);
      if (!reader.interrupted) return reader.messages;
    }
    const label = request.label ?? 'dump';
    throw new NetlinkError('EINTR', `${label}: the tables changed during each of ${DUMP_ATTEMPTS} attempts`);
  }

  portId(): number {
    return this.#port.portId();
  }

  /**
   * Closes the port when the last asynchronous request is back: a pool thread may be about to use the descriptor,
   * and its number could be another file's by then. New requests are refused from now on.
   */
  close(): void {
    if (this.#state === 'open') this.#state = 'closing';
    this.#closeWhenIdle();
  }

  #closeWhenIdle(): void {
    if (this.#state !== 'closing' || this.#pending > 0) return;
    this.#state = 'closed';
    this.#port.close();
  }

  #requireOpen(): void {
    if (this.#state !== 'open') throw new NetlinkError('EBADF', 'the netlink connection is closed');
  }

  #begin(requests: readonly NetlinkRequest[]): Exchange {
    const exchange = new Exchange(requests, this.#number(requests.length));
    this.#open.add(exchange);
    return exchange;
  }

  /** The first of `count` sequence numbers in a row. 0 is left out: notifications carry it. */
  #number(count: number): number {
    const first = this.#sequence + count > LAST_SEQUENCE ? 1 : this.#sequence + 1;
    this.#sequence = first + count - 1;
    return first;
  }

  #encode(requests: readonly NetlinkRequest[], first: number, acknowledged: number): Buffer {
    const length = datagramLength(requests);
    if (length > sendBuffer.length) sendBuffer = Buffer.allocUnsafeSlow(2 * length);
    return sendBuffer.subarray(0, encodeDatagram(requests, first, acknowledged, sendBuffer));
  }

  /** Up to the end of the dump, or to the first datagram beyond the limit. */
  #dumpOnce(request: NetlinkRequest, limit: number): DumpReader {
    const reader = new DumpReader(request, this.#number(1));
    this.#port.send(this.#encode([{ ...request, flags: request.flags | NLM_F_DUMP }], reader.sequence, -1));
    while (!reader.complete && reader.messages.length <= limit) {
      const datagram = this.#receive(true, () => (reader.interrupted = true));
      if (datagram === undefined) throw timeout(reader.label);
      this.#dispatch(datagram, reader);
    }
    return reader;
  }

  /** The rest of a dump would be read as part of the next one. */
  #abandon({ label, messages }: DumpReader, limit: number): NetlinkMessage[] {
    if (this.#pending > 0) throw new NetlinkError('EBUSY', `${label}: an asynchronous request is under way`);
    this.#port.renew();
    return messages.slice(0, limit);
  }

  /**
   * Reads until the closing ack is here. The kernel has answered before `send` returns, so nothing is waited for,
   * except when the ack never comes: a refused batch of nfnetlink is answered at its begin message only.
   */
  #finish(exchange: Exchange): NetlinkMessage[][] {
    while (!exchange.complete) {
      const datagram = this.#receive(false) ?? (exchange.answered ? undefined : this.#receive(true));
      if (datagram !== undefined) this.#dispatch(datagram);
      else if (exchange.answered) break;
      else throw timeout(exchange.requests[0]?.label ?? 'request');
    }
    if (exchange.failures.length > 0) throw new NetlinkBatchError(exchange.failures, this.#answerer);
    if (exchange.lost)
      throw new NetlinkError('ENOBUFS', 'the kernel dropped answers: the outcome is unknown');
    return exchange.replies;
  }

  /** One datagram, copied out of the shared buffer, or `undefined` when there is none. */
  #receive(wait: boolean, lost?: () => void): Buffer | undefined {
    for (;;) {
      try {
        const length = this.#port.receive(receiveBuffer, wait);
        if (length === undefined) return undefined;
        if (length <= receiveBuffer.length) return copyReceived(length);
        throw new NetlinkError('EMSGSIZE', `an answer of ${length} bytes is too long`);
      } catch (error) {
        if (!hasCode(error, 'ENOBUFS')) throw error;
        // The kernel does not say which answers it dropped, so the outcome of every open exchange is unknown.
        for (const exchange of this.#open) exchange.lost = true;
        lost?.();
      }
    }
  }

  /** Gives every message to the exchange it belongs to; those of abandoned exchanges are dropped. */
  #dispatch(datagram: Buffer, reader?: DumpReader): void {
    for (const message of readMessages(datagram)) {
      if (reader?.accept(message)) continue;
      for (const exchange of this.#open) if (exchange.accept(message)) break;
    }
  }
}

function copyReceived(length: number): Buffer {
  const datagram = Buffer.allocUnsafe(length);
  receiveBuffer.copy(datagram, 0, 0, length);
  return datagram;
}

function timeout(label: string): NetlinkError {
  return new NetlinkError('ETIMEDOUT', `${label}: no answer from the kernel`);
}
