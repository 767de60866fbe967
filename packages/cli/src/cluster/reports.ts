/** Reports of `podwire ipam check -o json`, to be read again. */
import fs from 'node:fs';
import { describeError, PodwireError } from '@podwire/errors';

export interface SavedReport {
  readonly file: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly ids: ReadonlySet<string>;
}

/** @throws PodwireError REQUEST_INVALID naming the file */
export function readReport(file: string): SavedReport {
  try {
    const { at, findings } = JSON.parse(fs.readFileSync(file === '-' ? 0 : file, 'utf8')) as {
      at?: unknown;
      findings?: unknown;
    };
    if (typeof at !== 'number' || !Array.isArray(findings)) throw new Error('it has no `at` and `findings`');
    return { file, at, ids: new Set(findings.map(readId)) };
  } catch (cause) {
    throw new PodwireError(
      'REQUEST_INVALID',
      `${file}: no report of \`podwire ipam check -o json\`: ${describeError(cause)}`,
    );
  }
}

function readId(finding: unknown): string {
  const { id } = (finding ?? {}) as { id?: unknown };
  if (typeof id !== 'string') throw new Error('a finding has no `id`');
  return id;
}

/** Findings that stand in all of them. */
export function intersect(reports: readonly SavedReport[]): Set<string> {
  const [first, ...others] = reports;
  return new Set([...(first?.ids ?? [])].filter((id) => others.every(({ ids }) => ids.has(id))));
}
