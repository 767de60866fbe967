/** Windows of SPDY/3.1's flow control (§2.6.8), in bytes. */
import { SpdyProtocolError } from './error.js';

/** What every window is before anybody says otherwise. */
export const defaultWindow = 65_536;
const maxWindow = 0x7fff_ffff;

/** How many bytes may still be sent. It may fall below zero when the peer makes its initial window smaller (§2.6.8). */
export interface SendWindow {
  size: number;
}

/** @throws SpdyProtocolError where a window would pass 2^31 - 1 */
export function widen(window: SendWindow, delta: number): void {
  if (window.size + delta > maxWindow) throw new SpdyProtocolError('a flow control window is too large');
  window.size += delta;
}

/** What a peer may still send to us, and what we owe it for bytes that were taken. */
export interface ReceiveWindow {
  /** @returns whether the peer kept to it */
  received(bytes: number): boolean;
  /** @returns the delta to send now, 0 while it is not worth a frame */
  consumed(bytes: number): number;
}

export function createReceiveWindow(initial: number): ReceiveWindow {
  let left = initial;
  let owed = 0;
  return {
    received: (bytes) => {
      left -= bytes;
      return left >= 0;
    },
    consumed: (bytes) => {
      owed += bytes;
      if (owed < initial / 2) return 0;
      const delta = owed;
      left += delta;
      owed = 0;
      return delta;
    },
  };
}
