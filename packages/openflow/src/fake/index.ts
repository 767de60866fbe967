export type { Connection } from './evaluate/connections.js';
export type { EvaluatedOutput, EvaluatedStep, EvaluateOptions, Evaluation } from './evaluate/evaluation.js';
export type { PacketFields } from './evaluate/packet.js';
export { parsePacket } from './evaluate/parse-packet.js';
export { FakeSwitch, type FakeSwitchOptions } from './switch.js';
