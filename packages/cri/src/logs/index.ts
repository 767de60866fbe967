export {
  formatLogEntry,
  formatTimestamp,
  type LogEntry,
  type LogStream,
  parseLogLine,
  timestampNanoseconds,
} from './format.js';
export { createLogPrinter } from './print.js';
export { readContainerLog, type ReadLogOptions } from './read.js';
export { compressedSuffix, listRotatedLogs, type RotatedLog, rotatedName } from './rotated.js';
export { createLogWriter, type LogWriterOptions } from './writer.js';
