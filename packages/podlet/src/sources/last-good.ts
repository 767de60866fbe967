/**
 * The latest good text of each manifest file, on disk: a file that is broken when the pod agent starts still has its pods. What
 * cannot be read back counts as nothing kept, so that a crash while it is written costs no more than that.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { replaceFileSync } from '@podwire/platform';

interface Kept {
  readonly file: string;
  readonly text: string;
}

export class LastGood {
  readonly #directory: string;

  /** @param directory of its own, for root alone: manifests may hold passwords */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Of a file, or of each file of a directory: file → text. */
  load(target: string): ReadonlyMap<string, string> {
    if (!fs.existsSync(this.#directory)) return new Map();
    const names = fs.readdirSync(this.#directory).filter((name) => name.endsWith('.json'));
    const all = names.flatMap((name) => readKept(path.join(this.#directory, name)) ?? []);
    const wanted = all.filter(({ file }) => file === target || path.dirname(file) === target);
    return new Map(wanted.map(({ file, text }) => [file, text]));
  }

  /** @throws what kept it from being written */
  save(file: string, text: string): void {
    fs.mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    replaceFileSync(this.#placeOf(file), JSON.stringify({ file, text }), { mode: 0o600 });
  }

  remove(file: string): void {
    fs.rmSync(this.#placeOf(file), { force: true });
  }

  #placeOf(file: string): string {
    return path.join(this.#directory, `${createHash('sha256').update(file).digest('hex')}.json`);
  }
}

function readKept(place: string): Kept | undefined {
  try {
    const { file, text } = JSON.parse(fs.readFileSync(place, 'utf8')) as Partial<Kept>;
    return typeof file === 'string' && typeof text === 'string' ? { file, text } : undefined;
  } catch {
    return undefined;
  }
}
