/** Three significant digits, and no exponent. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '-';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.max(Math.abs(value), 1e-3))));
  return value.toFixed(Math.min(digits, 3));
}

/** Columns of equal width; the first is aligned left, the others right. */
export function formatTable(rows: readonly (readonly string[])[]): string[] {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}
