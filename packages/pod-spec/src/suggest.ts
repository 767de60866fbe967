/** The word that was probably meant: ` (did you mean hostPort?)`, or nothing when none is near. */
export function suggest(word: string, known: readonly string[]): string {
  const limit = Math.max(1, Math.floor(word.length / 3));
  const near = known
    .filter((candidate) => candidate !== '')
    .map((candidate) => ({ candidate, distance: distanceOf(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance)[0];
  return near === undefined ? '' : ` (did you mean ${near.candidate}?)`;
}

/** Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other. */
function distanceOf(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > 8) return Number.POSITIVE_INFINITY;
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++)
      current.push(cellOf(rows, current, from, to, row, column));
    rows.push(current);
  }
  return rows[from.length]![to.length]!;
}

function cellOf(
  rows: readonly number[][],
  current: readonly number[],
  from: string,
  to: string,
  row: number,
  column: number,
): number {
  const [a, b] = [from[row - 1], to[column - 1]];
  const replaced = rows[row - 1]![column - 1]! + (a === b ? 0 : 1);
  const best = Math.min(rows[row - 1]![column]! + 1, current[column - 1]! + 1, replaced);
  const swapped = row > 1 && column > 1 && a === to[column - 2] && from[row - 2] === b;
  return swapped ? Math.min(best, rows[row - 2]![column - 2]! + 1) : best;
}
