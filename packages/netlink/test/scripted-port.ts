import { SystemError } from '@podwire/linux';
import { readMessages, type Message } from '../src/datagram.js';
import type { NetlinkPort } from '../src/port.js';

/** Entry that the scripted kernel puts into the receive queue: a datagram, or the error of a receive. */
export type Queued = Buffer | SystemError;

/** A port whose kernel is a function of the test: messages of one datagram in, datagrams out. */
export class ScriptedPort implements NetlinkPort {
  readonly sent: Message[][] = [];
  readonly queue: Queued[] = [];
  /** How often a receive was willing to wait. */
  waits = 0;
  closed = 0;
  renewed = 0;
  readonly #answer: (messages: readonly Message[]) => readonly Queued[];
  /** Resolvers of asynchronous sends that have not been let through. */
  readonly #held: (() => void)[] = [];
  hold = false;

  constructor(answer: (messages: readonly Message[]) => readonly Queued[]) {
    this.#answer = answer;
  }

  send(datagram: Uint8Array): void {
    const messages = readMessages(Buffer.from(datagram));
    this.sent.push(messages);
    this.queue.push(...this.#answer(messages));
  }

  async sendAsync(datagram: Uint8Array): Promise<void> {
    if (this.hold) await new Promise<void>((resolve) => this.#held.push(resolve));
    this.send(datagram);
  }

  portId(): number {
    return 1;
  }

  /** Lets the asynchronous send that waits longest through. */
  release(): void {
    this.#held.shift()?.();
  }

  receive(into: Uint8Array, wait: boolean): number | undefined {
    if (wait) this.waits++;
    const next = this.queue.shift();
    if (next instanceof SystemError) throw next;
    if (next === undefined) return undefined;
    into.set(next.subarray(0, into.length));
    return next.length;
  }

  renew(): void {
    this.renewed++;
    this.queue.length = 0;
  }

  close(): void {
    this.closed++;
  }
}

/** One netlink message. */
export function message(type: number, flags: number, sequence: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.alloc((16 + payload.length + 3) & ~3);
  bytes.writeUInt32LE(16 + payload.length, 0);
  bytes.writeUInt16LE(type, 4);
  bytes.writeUInt16LE(flags, 6);
  bytes.writeUInt32LE(sequence, 8);
  bytes.set(payload, 16);
  return bytes;
}

const NLM_F_CAPPED = 0x100;
const NLM_F_ACK_TLVS = 0x200;

/** NLMSG_ERROR for a request, with the text and attribute offset of an extended ack if given. */
export function ack(request: Message, errno: number, text?: string, offset?: number): Buffer {
  const head = Buffer.alloc(20);
  head.writeInt32LE(-errno, 0);
  head.writeUInt32LE(16 + request.payload.length, 4);
  head.writeUInt32LE(request.sequence, 12);
  const parts: Uint8Array[] = [head];
  if (text !== undefined) parts.push(attribute(1, Buffer.from(`${text}\0`)));
  if (offset !== undefined) parts.push(attribute(2, new Uint8Array(new Uint32Array([offset]).buffer)));
  const flags = NLM_F_CAPPED | (parts.length > 1 ? NLM_F_ACK_TLVS : 0);
  return message(2, flags, request.sequence, Buffer.concat(parts));
}

/** One attribute with its padding. */
export function attribute(type: number, value: Uint8Array): Buffer {
  const bytes = Buffer.alloc((4 + value.length + 3) & ~3);
  bytes.writeUInt16LE(4 + value.length, 0);
  bytes.writeUInt16LE(type, 2);
  bytes.set(value, 4);
  return bytes;
}
