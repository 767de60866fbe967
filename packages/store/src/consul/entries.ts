/** Answers of Consul's KV endpoints. */
import { z } from 'zod';
import type { Item } from '../contract.js';
import { unavailable } from '../failures.js';
import { fromConsulKey } from './keys.js';

const index = z.int().nonnegative();

const entry = z.object({
  Key: z.string(),
  Value: z.string().nullable(),
  ModifyIndex: index,
  Session: z.string().optional(),
});

const outcome = z.object({
  Results: z.array(z.object({ KV: z.object({ ModifyIndex: index }).optional() })).nullish(),
  Errors: z.array(z.object({ OpIndex: z.int(), What: z.string() })).nullish(),
});

const session = z.object({ ID: z.string() });

const entries = z.array(entry);

/** Of writes: with an answer that cannot be read it is unknown whether they were done. */
export const readOutcome = (text: string): z.output<typeof outcome> => read(outcome, text, true);
export const readSession = (text: string): string => read(session, text, true).ID;

/** In order of keys. What is not ours is left out. */
export function readItems(text: string): Item[] {
  return read(entries, text, false)
    .flatMap((each) => {
      const key = fromConsulKey(each.Key);
      return key === undefined ? [] : [toItem(key, each)];
    })
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

function toItem(key: string, { Value, ModifyIndex, Session }: z.output<typeof entry>): Item {
  return {
    key,
    value: Buffer.from(Value ?? '', 'base64').toString(),
    revision: ModifyIndex,
    ...(Session === undefined || Session === '' ? {} : { lease: Session }),
  };
}

function read<T>(schema: z.ZodType<T>, text: string, uncertain: boolean): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw unavailable(`Consul answered what cannot be read: ${text.slice(0, 120)}`, { uncertain, cause });
  }
}
