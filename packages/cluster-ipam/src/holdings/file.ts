/** Where the node's holdings are kept: one small file, replaced as a whole. */
import { allocationRecordKind, type Allocation } from '@podwire/cluster-state';
import { describeError, PodwireError } from '@podwire/errors';
import { z } from 'zod';
import type { SavedState, SavedStateStore } from '../contract.js';

/** What is needed of `node:fs`; handed in, so that a test can have it fail. */
export interface SavedStateFileSystem {
  readFileSync(path: string, encoding: 'utf8'): string;
  writeFileSync(path: string, data: string, options: { readonly mode: number }): void;
  renameSync(from: string, to: string): void;
}

const entries = allocationRecordKind.schema.transform(({ entries }) => entries);
const imported = z.unknown().transform((value): Allocation[] => {
  const ledger = { cidr: '0.0.0.0/0', node: 'imported', entries: value, reportedAt: 0 };
  const found = entries.safeParse(ledger);
  return found.success ? found.data : [];
});

const schema = z.object({
  version: z.union([z.literal(1), z.literal(2)]),
  node: z.string(),
  instance: z.string(),
  holdings: z.array(
    z.object({ cidr: z.string(), state: z.enum(['pending', 'confirmed', 'pendingDeletion']) }),
  ),
  pools: z.array(z.unknown()),
  confirmedAt: z.number(),
  trustFor: z.number().optional(),
  imported: imported.optional(),
  lending: z.array(z.object({ address: z.string(), node: z.string(), block: z.string() })).optional(),
  uncertainReports: z.array(z.string()).optional(),
});

/**
 * A text that cannot be understood (written by a newer version, cut off by a broken disk) is as good as none: the store knows
 * what is ours.
 */
export function parseSavedState(text: string): SavedState | undefined {
  const found = schema.safeParse(parse(text));
  if (!found.success) return undefined;
  const {
    imported: others,
    holdings: affinities,
    trustFor: fenceAfter,
    lending: lent,
    uncertainReports,
    ...file
  } = found.data;
  return {
    ...file,
    affinities,
    ...(others === undefined ? {} : { imported: others }),
    ...(fenceAfter === undefined ? {} : { fenceAfter }),
    ...(lent === undefined ? {} : { lent }),
    ...(uncertainReports === undefined ? {} : { uncertainReports }),
  };
}

/** The text of `holdings.json`, whose field names are older than those used here. */
export function formatSavedState({ affinities, lent, fenceAfter, ...file }: SavedState): string {
  return JSON.stringify({ ...file, holdings: affinities, lending: lent, trustFor: fenceAfter });
}

/** Calls throw PodwireError RECORD_IO. */
export function openSavedState(path: string, files: SavedStateFileSystem): SavedStateStore {
  return {
    read() {
      const text = guard(path, 'read', () => readIfThere(files, path));
      return text === undefined ? undefined : parseSavedState(text);
    },
    write(file: SavedState) {
      guard(path, 'write', () => {
        files.writeFileSync(`${path}.new`, formatSavedState(file), { mode: 0o600 });
        files.renameSync(`${path}.new`, path);
      });
    },
  };
}

function readIfThere(files: SavedStateFileSystem, path: string): string | undefined {
  try {
    return files.readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function guard<T>(path: string, action: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const message = `cannot ${action} ${path}: ${describeError(cause)}`;
    throw new PodwireError('RECORD_IO', message, { cause, details: { file: path } });
  }
}
