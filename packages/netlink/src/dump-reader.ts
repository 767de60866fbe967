import { errnoName } from '@podwire/linux';
import { type Acknowledgement, decodeAcknowledgement, decodeDone } from './acknowledgement.js';
import type { NetlinkFailure, NetlinkMessage, NetlinkRequest } from './connection.js';
import type { Message } from './datagram.js';
import { NLM_F_DUMP_INTR, NLMSG_DONE, NLMSG_ERROR, NLMSG_NOOP } from './protocol.js';

/** Collects one run of a dump, up to its NLMSG_DONE or the error in its place. */
export class DumpReader {
  readonly sequence: number;
  readonly label: string;
  readonly messages: NetlinkMessage[] = [];
  complete = false;
  /** The tables changed while they were read (NLM_F_DUMP_INTR): entries may be missing or doubled. */
  interrupted = false;
  failure: NetlinkFailure | undefined;

  constructor(request: NetlinkRequest, sequence: number) {
    this.sequence = sequence;
    this.label = request.label ?? 'dump';
  }

  accept(message: Message): boolean {
    if (message.sequence !== this.sequence) return false;
    if ((message.flags & NLM_F_DUMP_INTR) !== 0) this.interrupted = true;
    if (message.type === NLMSG_DONE) this.#end(decodeDone(message));
    else if (message.type === NLMSG_ERROR) this.#end(decodeAcknowledgement(message));
    else if (message.type !== NLMSG_NOOP) this.messages.push(message);
    return true;
  }

  #end({ errno, ...extension }: Acknowledgement): void {
    this.complete = true;
    if (errno === 0) return;
    this.failure = { index: 0, label: this.label, code: errnoName(errno), errno, ...extension };
  }
}
