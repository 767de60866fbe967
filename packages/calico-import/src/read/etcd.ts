/** Dumps of an etcd v3 datastore: what `etcdctl get --prefix /calico/` prints, plain or as JSON. */
import { z } from 'zod';

export interface Pair {
  readonly key: string;
  readonly value: string;
}

const base64 = z.string().transform((text) => Buffer.from(text, 'base64').toString());

/** etcdctl leaves out what is empty. */
const page = z.object({
  kvs: z.array(z.object({ key: base64, value: base64.default('') })).default([]),
  more: z.boolean().default(false),
});

export interface PairPage {
  readonly pairs: readonly Pair[];
  /** A limit has cut it off: another page must follow. */
  readonly more: boolean;
}

/** Reports if a JSON document is one of etcdctl's answers. */
export const isPage = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'header' in value &&
  ('kvs' in value || 'count' in value || !('kind' in value));

/** @throws Error naming the field */
export function readPage(value: unknown): PairPage {
  const result = page.safeParse(value);
  if (result.success) return { pairs: result.data.kvs, more: result.data.more };
  const [issue] = result.error.issues;
  throw new Error(`${issue?.path.join('.')}: ${issue?.message}`);
}

const keyLine = /^\/?calico\/\S*$/;

export const isPlain = (text: string): boolean =>
  keyLine.test(text.trimStart().split('\n', 1)[0]?.trimEnd() ?? '');

/** A line with a key, and what follows it up to the next key. */
export function readPlain(text: string): Pair[] {
  const pairs: { key: string; lines: string[] }[] = [];
  for (const line of text.split(/\r?\n/))
    if (keyLine.test(line)) pairs.push({ key: line, lines: [] });
    else pairs.at(-1)?.lines.push(line);
  return pairs.map(({ key, lines }) => ({ key, value: lines.join('\n').trim() }));
}
