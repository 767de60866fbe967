import { changeCases } from './changes.js';
import type { Case } from './environment.js';
import { refusalCases } from './refusals.js';

/** Cases that every switch passes, in this order; each begins with a bridge without flows and groups. */
export const complianceCases: readonly Case[] = [...refusalCases, ...changeCases];
