import type { NetlinkRequest } from './connection.js';
import { DecodeError } from './errors.js';
import { align, NLM_F_ACK, NLM_F_REQUEST, NLMSG_HDRLEN } from './protocol.js';

/** A message as it stands in a datagram. `payload` is a view. */
export interface Message {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  /** Of the end that an answer is for, or whose request has caused an event. */
  readonly port: number;
  readonly payload: Buffer;
}

/** How many bytes the requests take together. */
export function datagramLength(requests: readonly NetlinkRequest[]): number {
  let length = 0;
  for (const request of requests) length += align(NLMSG_HDRLEN + request.payload.length);
  return length;
}

/**
 * Writes the requests one after the other into `into`, numbered from `sequence` on; the one at `acknowledged` asks
 * for an ack. Returns the number of bytes. `into` need not be zeroed.
 */
export function encodeDatagram(
  requests: readonly NetlinkRequest[],
  sequence: number,
  acknowledged: number,
  into: Buffer,
): number {
  let at = 0;
  for (let index = 0; index < requests.length; index++) {
    const request = requests[index]!;
    const length = NLMSG_HDRLEN + request.payload.length;
    into.writeUInt32LE(length, at);
    into.writeUInt16LE(request.type, at + 4);
    into.writeUInt16LE(request.flags | NLM_F_REQUEST | (index === acknowledged ? NLM_F_ACK : 0), at + 6);
    into.writeUInt32LE((sequence + index) >>> 0, at + 8);
    into.writeUInt32LE(0, at + 12);
    into.set(request.payload, at + NLMSG_HDRLEN);
    for (let padding = at + length; padding < at + align(length); padding++) into[padding] = 0;
    at += align(length);
  }
  return at;
}

/**
 * The messages of a datagram.
 * @throws DecodeError for a message that is shorter than its header or longer than what is left.
 */
export function readMessages(datagram: Buffer): Message[] {
  const messages: Message[] = [];
  let at = 0;
  while (at + NLMSG_HDRLEN <= datagram.length) {
    const length = datagram.readUInt32LE(at);
    if (length < NLMSG_HDRLEN || length > datagram.length - at) {
      throw new DecodeError(`message at ${at}: ${length} of ${datagram.length - at} bytes`);
    }
    messages.push({
      type: datagram.readUInt16LE(at + 4),
      flags: datagram.readUInt16LE(at + 6),
      sequence: datagram.readUInt32LE(at + 8),
      port: datagram.readUInt32LE(at + 12),
      payload: datagram.subarray(at + NLMSG_HDRLEN, at + length),
    });
    at += align(length);
  }
  if (at < datagram.length)
    throw new DecodeError(`${datagram.length - at} unexpected bytes after the last message`);
  return messages;
}
