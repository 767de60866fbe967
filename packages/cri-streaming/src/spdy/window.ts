/** Windows of SPDY/3.1's flow control (§2.6.8), in bytes. */
import { SpdyProtocolError } from './error.js';

/** The initial size of a window. */
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

/**
 * Treatment of windows by the peer. `ignores` is learned when it sends more than it may, which is how all of
 * spdystream's users are; `heeds` when it sends SETTINGS or WINDOW_UPDATE.
 */
export type PeerFlowControl = 'unknown' | 'heeds' | 'ignores';

/** The bytes that a peer may still send to us, and the window update that we owe for those that were read. */
export interface ReceiveWindow {
  /** @returns whether the peer kept to it */
  received(bytes: number): boolean;
  /**
   * @returns the delta to send now, 0 for none. A peer that may not know windows is told only when it has stopped at the very end of
   * one: with frames that it never asked for unread, the close of its socket becomes a reset that takes what we have not read yet.
   */
  consumed(bytes: number, peer: PeerFlowControl): number;
}

export function createReceiveWindow(initial: number): ReceiveWindow {
  let left = initial;
  let owed = 0;
  return {
    received: (bytes) => {
      left -= bytes;
      return left >= 0;
    },
    consumed: (bytes, peer) => {
      owed += bytes;
      const due = peer === 'heeds' ? owed >= initial / 2 : peer === 'unknown' && left === 0;
      if (!due) return 0;
      const delta = owed;
      left += delta;
      owed = 0;
      return delta;
    },
  };
}
