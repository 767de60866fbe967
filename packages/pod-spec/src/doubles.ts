import type { Path } from '@podwire/apimachinery';
import type { Report } from './field.js';

/** Something that has to be there once only, and where it stands. */
export interface Entry {
  readonly key: string;
  readonly path: Path;
}

/** The second of two with the same key is the one to blame. Empty keys are none. */
export function reportDoubles(entries: readonly Entry[], what: string, report: Report): void {
  const seen = new Set<string>();
  for (const { key, path } of entries) {
    if (key !== '' && seen.has(key)) report(path, `${what} ${JSON.stringify(key)} is there already`);
    seen.add(key);
  }
}
