export type { RulePacket } from './packet.js';
export { createInterpreter, type Interpreter, type Outcome } from './run.js';
export type { TableContent } from './table.js';
