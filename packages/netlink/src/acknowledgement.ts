import { eachAttribute } from './attributes.js';
import type { Message } from './datagram.js';
import { DecodeError } from './errors.js';
import {
  align,
  NLM_F_ACK_TLVS,
  NLM_F_CAPPED,
  NLMSG_HDRLEN,
  NLMSGERR_ATTR_MSG,
  NLMSGERR_ATTR_OFFS,
} from './protocol.js';

/** Content of an NLMSG_ERROR or NLMSG_DONE. `errno` is positive; 0 is success. */
export interface Acknowledgement {
  readonly errno: number;
  readonly kernelMessage?: string;
  readonly attributeOffset?: number;
}

/** Decodes NLMSG_ERROR: the error, the request it answers (only its header when capped), then TLVs. */
export function decodeAcknowledgement(message: Message): Acknowledgement {
  const { payload, flags } = message;
  if (payload.length < 4 + NLMSG_HDRLEN) throw new DecodeError(`an ack of ${payload.length} bytes`);
  const errno = Math.abs(payload.readInt32LE(0));
  if ((flags & NLM_F_ACK_TLVS) === 0) return { errno };
  const echoed = (flags & NLM_F_CAPPED) === 0 ? payload.readUInt32LE(4) : NLMSG_HDRLEN;
  if (echoed > payload.length - 4) throw new DecodeError(`an ack echoing ${echoed} bytes`);
  return { errno, ...decodeExtension(payload, 4 + align(echoed)) };
}

/** Decodes NLMSG_DONE, which carries an error of the dump (older kernels send it without any payload). */
export function decodeDone(message: Message): Acknowledgement {
  const { payload, flags } = message;
  if (payload.length < 4) return { errno: 0 };
  const errno = Math.abs(payload.readInt32LE(0));
  return (flags & NLM_F_ACK_TLVS) === 0 ? { errno } : { errno, ...decodeExtension(payload, 4) };
}

function decodeExtension(payload: Buffer, offset: number): Omit<Acknowledgement, 'errno'> {
  const extension: { kernelMessage?: string; attributeOffset?: number } = {};
  for (const { type, value } of eachAttribute(payload, offset)) {
    if (type === NLMSGERR_ATTR_MSG) extension.kernelMessage = value.toString('utf8').replace(/\0.*$/s, '');
    if (type === NLMSGERR_ATTR_OFFS && value.length >= 4) extension.attributeOffset = value.readUInt32LE(0);
  }
  return extension;
}
