import { Attributes, readStructure } from './attributes.js';
import type { NetlinkMessage } from './connection.js';
import { PayloadWriter } from './payload.js';
import * as tc from './tc-attributes.js';

/** struct tcmsg, the head of every traffic control message. */
interface TcHeader {
  /** Index of the link. */
  readonly link: number;
  readonly handle: number;
  readonly parent: number;
  readonly info: number;
}

export function writeTcHeader({ link, handle, parent, info }: TcHeader): PayloadWriter {
  const writer = new PayloadWriter(tc.TCMSG);
  const header = writer.at(0, tc.TCMSG);
  header.writeInt32LE(link, 4);
  header.writeUInt32LE(handle, 8);
  header.writeUInt32LE(parent, 12);
  header.writeUInt32LE(info, 16);
  return writer;
}

/** @throws DecodeError */
export function readTcMessage(message: NetlinkMessage): TcHeader & { attributes: Attributes } {
  const bytes = readStructure(message.payload, tc.TCMSG, 'tcmsg');
  return {
    link: bytes.readInt32LE(4),
    handle: bytes.readUInt32LE(8),
    parent: bytes.readUInt32LE(12),
    info: bytes.readUInt32LE(16),
    attributes: new Attributes(bytes, tc.TCMSG),
  };
}
