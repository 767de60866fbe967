export {
  createSpdyConnection,
  type SpdyConnection,
  type SpdyConnectionOptions,
  type SpdyLimits,
  type SpdyStream,
} from './connection.js';
export { createFrameDecoder, type FrameLimits } from './decoder.js';
export { goAwayStatus, resetStatus, SpdyProtocolError, SpdyResetError } from './error.js';
export { decodeControl, encodeFrame, type SettingsEntry, type SpdyFrame } from './frames.js';
export { decodeHeaderBlock, encodeHeaderBlock, type SpdyHeaders } from './header-block.js';
export { createHeaderCompressor, createHeaderDecompressor } from './compression.js';
