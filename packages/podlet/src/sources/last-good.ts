/**
 * The latest good text of each manifest file, on disk: a file that is broken when the pod agent starts still has its pods. What
 * cannot be read back counts as nothing kept, so that a crash while it is written costs no more than that.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

export interface LastGood {
  /** Of a file, or of each file of a directory: file → text. */
  load(target: string): ReadonlyMap<string, string>;
  /** @throws what kept it from being written */
  save(file: string, text: string): void;
  remove(file: string): void;
}

/** @param directory of its own, for root alone: manifests may hold passwords */
export function createLastGood(directory: string): LastGood {
  const placeOf = (file: string): string =>
    path.join(directory, `${createHash('sha256').update(file).digest('hex')}.json`);
  return {
    load(target) {
      const all = list(directory).flatMap((name) => readKept(path.join(directory, name)) ?? []);
      return new Map(all.filter(({ file }) => isOf(file, target)).map(({ file, text }) => [file, text]));
    },
    save(file, text) {
      fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
      const place = placeOf(file);
      fs.writeFileSync(`${place}.new`, JSON.stringify({ file, text }), { mode: 0o600 });
      fs.renameSync(`${place}.new`, place);
    },
    remove: (file) => fs.rmSync(placeOf(file), { force: true }),
  };
}

function isOf(file: string, target: string): boolean {
  return file === target || path.dirname(file) === target;
}

function list(directory: string): string[] {
  if (!fs.existsSync(directory)) return [];
  return fs.readdirSync(directory).filter((name) => name.endsWith('.json'));
}

function readKept(place: string): { readonly file: string; readonly text: string } | undefined {
  try {
    const kept = JSON.parse(fs.readFileSync(place, 'utf8')) as {
      readonly file?: unknown;
      readonly text?: unknown;
    };
    const { file, text } = kept;
    return typeof file === 'string' && typeof text === 'string' ? { file, text } : undefined;
  } catch {
    return undefined;
  }
}
