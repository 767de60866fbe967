import { canonical } from './keyed.js';
import type { Snapshot } from './snapshot.js';

export interface DiffOptions {
  /** Sections, or `section/key` patterns, that may differ. */
  readonly ignore?: readonly (string | RegExp)[];
}

/**
 * Difference between two snapshots, one line each: `- links/cali1 {…}` is gone, `+ …` is new, `~ links/eth0 mtu: 1500 →
 * 1450` has changed. A section that only one of them has counts whole. Of `processes` only those are listed that have come.
 */
export function diffSnapshots(before: Snapshot, after: Snapshot, options: DiffOptions = {}): string[] {
  const sections = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return sections.flatMap((section) =>
    diffSection(section, before[section] ?? {}, after[section] ?? {}, options),
  );
}

/** @throws Error that lists the differences */
export function assertSameSnapshot(before: Snapshot, after: Snapshot, options: DiffOptions = {}): void {
  const differences = diffSnapshots(before, after, options);
  if (differences.length > 0) throw new Error(`the snapshots differ:\n${differences.join('\n')}`);
}

function diffSection(
  section: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  options: DiffOptions,
): string[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys
    .filter((key) => !isIgnored(section, key, options.ignore ?? []))
    .filter((key) => section !== 'processes' || hasMore(before[key], after[key]))
    .flatMap((key) => diffEntry(`${section}/${key}`, before[key], after[key]));
}

/** A program that a server ran for a moment when the first snapshot was taken (`runc --version`) is no difference. */
const hasMore = (before: unknown, after: unknown): boolean => Number(after ?? 0) > Number(before ?? 0);

function isIgnored(section: string, key: string, ignore: readonly (string | RegExp)[]): boolean {
  return ignore.some((one) => (typeof one === 'string' ? one === section : one.test(`${section}/${key}`)));
}

function diffEntry(name: string, before: unknown, after: unknown): string[] {
  if (before === undefined) return [`+ ${name} ${canonical(after)}`];
  if (after === undefined) return [`- ${name} ${canonical(before)}`];
  if (canonical(before) === canonical(after)) return [];
  if (!isRecord(before) || !isRecord(after)) return [`~ ${name}: ${canonical(before)} → ${canonical(after)}`];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((key) => canonical(before[key] ?? null) !== canonical(after[key] ?? null))
    .map((key) => `~ ${name} ${key}: ${shown(before[key])} → ${shown(after[key])}`);
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const shown = (value: unknown): string => (value === undefined ? '(nothing)' : canonical(value));
