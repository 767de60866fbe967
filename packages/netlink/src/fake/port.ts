import os from 'node:os';
import type { NetlinkMessage } from '../connection.js';
import { readMessages, type Message } from '../datagram.js';
import { NetlinkError } from '../errors.js';
import type { NetlinkPort } from '../port.js';
import { PayloadWriter } from '../payload.js';
import * as nl from '../protocol.js';
import { answerType, isDump } from './dispatch.js';
import { FakeErrno } from './errno.js';

/** Carries a request out and returns the payloads of the answers. @throws FakeErrno */
type Execute = (message: NetlinkMessage) => Buffer[];

/** How many messages of a dump go into one datagram; small, so that tests see dumps in several. */
const MESSAGES_PER_DATAGRAM = 3;

/** The socket's side of the fake kernel: datagrams in, datagrams out. */
export class FakePort implements NetlinkPort {
  readonly #execute: Execute;
  readonly #isInterrupted: () => boolean;
  readonly #queue: Buffer[] = [];

  constructor(execute: Execute, isInterrupted: () => boolean) {
    this.#execute = execute;
    this.#isInterrupted = isInterrupted;
  }

  send(datagram: Uint8Array): void {
    const bytes = Buffer.from(datagram);
    for (const message of readMessages(bytes)) this.#run(message);
  }

  async sendAsync(datagram: Uint8Array): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.send(datagram);
  }

  receive(into: Uint8Array): number | undefined {
    const datagram = this.#queue.shift();
    if (datagram === undefined) return undefined;
    into.set(datagram.subarray(0, into.length));
    return datagram.length;
  }

  portId(): number {
    return 1;
  }

  renew(): void {
    this.#queue.length = 0;
  }

  close(): void {
    this.#queue.length = 0;
  }

  #run(message: Message): void {
    try {
      const payloads = this.#execute(message);
      if (isDump(message)) return void this.#dump(message, payloads);
      for (const payload of payloads) this.#queue.push(encode(answerType(message.type), 0, message, payload));
    } catch (error) {
      return void this.#queue.push(refusal(message, error));
    }
    if ((message.flags & nl.NLM_F_ACK) !== 0) this.#queue.push(acknowledgement(message, 0));
  }

  #dump(request: Message, payloads: readonly Buffer[]): void {
    const flags = nl.NLM_F_MULTI | (this.#isInterrupted() ? nl.NLM_F_DUMP_INTR : 0);
    const messages = payloads.map((payload) => encode(answerType(request.type), flags, request, payload));
    messages.push(encode(nl.NLMSG_DONE, flags, request, Buffer.alloc(4)));
    for (let at = 0; at < messages.length; at += MESSAGES_PER_DATAGRAM) {
      this.#queue.push(Buffer.concat(messages.slice(at, at + MESSAGES_PER_DATAGRAM)));
    }
  }
}

function encode(type: number, flags: number, request: Message, payload: Buffer): Buffer {
  const length = nl.NLMSG_HDRLEN + payload.length;
  const bytes = Buffer.alloc(nl.align(length));
  writeHeader(bytes, length, type, flags, request.sequence);
  payload.copy(bytes, nl.NLMSG_HDRLEN);
  return bytes;
}

function writeHeader(bytes: Buffer, length: number, type: number, flags: number, sequence: number): void {
  bytes.writeUInt32LE(length, 0);
  bytes.writeUInt16LE(type, 4);
  bytes.writeUInt16LE(flags, 6);
  bytes.writeUInt32LE(sequence, 8);
}

/** Decoding fails here only for requests that the library itself would not send; the kernel says EINVAL. */
function refusal(request: Message, error: unknown): Buffer {
  if (error instanceof FakeErrno) return acknowledgement(request, errnoOf(error.code), error.text);
  if (error instanceof NetlinkError) return acknowledgement(request, errnoOf('EINVAL'), error.message);
  throw error;
}

function errnoOf(code: string): number {
  const errno = (os.constants.errno as Record<string, number>)[code];
  if (errno === undefined) throw new TypeError(`no errno ${code}`);
  return errno;
}

/** struct nlmsgerr: the error, the header of the request, then what the kernel has to say. */
function acknowledgement(request: Message, errno: number, text?: string): Buffer {
  const writer = new PayloadWriter(4 + nl.NLMSG_HDRLEN);
  const structure = writer.at(0, 4 + nl.NLMSG_HDRLEN);
  structure.writeInt32LE(-errno, 0);
  const length = nl.NLMSG_HDRLEN + request.payload.length;
  writeHeader(structure.subarray(4), length, request.type, request.flags, request.sequence);
  if (text !== undefined) writer.text(nl.NLMSGERR_ATTR_MSG, text);
  const flags = nl.NLM_F_CAPPED | (text === undefined ? 0 : nl.NLM_F_ACK_TLVS);
  return encode(nl.NLMSG_ERROR, flags, request, writer.finish());
}
