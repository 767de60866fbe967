/** The result of the last connectivity test as a matrix. Pure. */
import type { ProbeResult } from '@podwire/testbed';
import type { MatrixCell, MatrixView } from '../shapes.js';
import type { SavedReport } from '../sources.js';

/** More participants make no readable matrix; those with a failure come first. */
export const mostParties = 48;

export function viewMatrix(report: SavedReport | undefined): MatrixView | null {
  if (report === undefined) return null;
  const { at, ok, parties, results } = report;
  const cells = collectCells(results);
  const failing = new Set(results.filter((each) => !each.ok).flatMap(({ from, to }) => [from, to]));
  const chosen = parties
    .toSorted((a, b) => Number(failing.has(b.name)) - Number(failing.has(a.name)))
    .slice(0, mostParties);
  // In the order of the test, whichever were chosen.
  const names = parties.filter((party) => chosen.includes(party)).map(({ name }) => name);
  const rows = names
    .map((from) => ({ from, cells: names.map((to) => cells.get(pairOf(from, to)) ?? null) }))
    .filter((row) => row.cells.some((cell) => cell !== null));
  return {
    ...{ at, ok, rows, columns: names, more: parties.length - names.length },
    good: results.filter((each) => each.ok).length,
    all: results.length,
  };
}

const pairOf = (from: string, to: string): string => `${from}\n${to}`;

function collectCells(results: readonly ProbeResult[]): Map<string, MatrixCell> {
  const groups = new Map<string, ProbeResult[]>();
  for (const result of results) {
    const key = pairOf(result.from, result.to);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [result]);
    else group.push(result);
  }
  return new Map([...groups].map(([key, group]) => [key, summarize(group)]));
}

function summarize(results: readonly ProbeResult[]): MatrixCell {
  const good = results.filter(({ ok }) => ok);
  // A denied probe waits for as long as it may.
  const answered = good.filter(({ expected }) => expected !== 'deny');
  const times = answered.map(({ milliseconds }) => milliseconds).toSorted((a, b) => a - b);
  const bad = results.find(({ ok }) => !ok);
  return {
    good: good.length,
    all: results.length,
    time: times[times.length >> 1] ?? 0,
    problem: bad === undefined ? '' : `IPv${bad.family} ${bad.kind}: ${bad.words ?? 'failed'}`,
  };
}
