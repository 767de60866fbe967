import type { Case } from './environment.js';
import { failureCases } from './failures.js';
import { monitorCases } from './monitors.js';
import { operationCases } from './operations.js';
import { reconnectCases } from './reconnects.js';
import { referenceCases } from './references.js';
import { valueCases } from './values.js';

export { type Case, type Environment, runCase, type Target } from './environment.js';
export { testSchema } from './schema.js';

/** Cases that every server passes, the real one and the in-memory one. */
export const complianceCases: readonly Case[] = [
  ...valueCases,
  ...operationCases,
  ...failureCases,
  ...referenceCases,
  ...monitorCases,
  ...reconnectCases,
];
