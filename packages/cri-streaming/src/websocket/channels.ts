/**
 * Messages of Kubernetes' channel protocols: one byte that names the channel, then its data; in the base64 flavour a digit, then
 * the data in base64. v5 has a message that ends a channel: 255, then the channel's number.
 */

export interface ChannelCodec {
  readonly base64: boolean;
  /** True if a channel can be ended on its own (v5). */
  readonly closes: boolean;
}

export function codecOf(protocol: string): ChannelCodec {
  return { base64: protocol.includes('base64.'), closes: protocol.startsWith('v5.') };
}

const closeChannel = 255;
const digitZero = 0x30;

export type ChannelMessage =
  { readonly channel: number; readonly data: Buffer } | { readonly closed: number };

export function encodeMessage({ base64 }: ChannelCodec, channel: number, data: Buffer): Buffer {
  if (base64) return Buffer.from(`${channel}${data.toString('base64')}`, 'latin1');
  return Buffer.concat([Buffer.from([channel]), data]);
}

export function encodeClose(channel: number): Buffer {
  return Buffer.from([closeChannel, channel]);
}

/**
 * @returns nothing for an empty message, which says nothing
 * @throws Error where a message is not what the codec says
 */
export function decodeMessage({ base64, closes }: ChannelCodec, message: Buffer): ChannelMessage | undefined {
  const first = message[0];
  if (first === undefined) return undefined;
  if (base64) return { channel: first - digitZero, data: decodeBase64(message.toString('latin1', 1)) };
  if (closes && first === closeChannel) {
    if (message.length !== 2) throw new Error('a close message names one channel');
    return { closed: message[1]! };
  }
  return { channel: first, data: message.subarray(1) };
}

function decodeBase64(text: string): Buffer {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new Error('a message is not base64');
  return Buffer.from(text, 'base64');
}
