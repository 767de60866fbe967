/** `status` of objects: how the controller fares with them. */
import { z } from 'zod';

const note = z.string().max(4096).default('');
const time = z.string().max(64).default('');

const fields = {
  type: z.string().max(64).describe('What it is about: Ready, Validated or Error.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('True where it is so.'),
  reason: note.describe('Why, in one word.'),
  message: note.describe('Why, for people.'),
  lastUpdateTime: time.describe('When it was written, as RFC 3339 has times.'),
  lastTransitionTime: time.describe('Since when it has been so, as RFC 3339 has times.'),
};

/** Of the object as a whole. */
export const conditions = z.array(z.strictObject(fields)).max(64).default([]);

/** Of the object on each node. */
export const nodeConditions = z
  .array(z.strictObject({ node: z.string().max(253).describe('The node that it is of.'), ...fields }))
  .max(40_000)
  .default([]);

/** Names of objects or nodes that the controller has counted. */
export const statusNames = z.array(z.string().max(253)).max(10_000).default([]);

/** A number of addresses. Beyond 2^53 it is not exact: a /64 has more than that. */
export const addressCount = z.number().min(0).default(0);
