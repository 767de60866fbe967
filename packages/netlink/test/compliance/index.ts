import { addressCases } from './addresses.js';
import type { Case } from './environment.js';
import { linkCases } from './links.js';
import { neighbourCases } from './neighbours.js';
import { readCases } from './reads.js';
import { routeCases } from './routes.js';
import { trafficCases } from './traffic.js';
import { transferCases } from './transfer.js';
import { tunnelCases } from './tunnels.js';

export type { Case, Environment } from './environment.js';

/** Cases that every kernel passes, the real one and the fake one. */
export const complianceCases: readonly Case[] = [
  ...linkCases,
  ...readCases,
  ...addressCases,
  ...routeCases,
  ...transferCases,
  ...neighbourCases,
  ...tunnelCases,
  ...trafficCases,
];
