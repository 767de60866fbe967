/** Eighths of a character cell, from the left. */
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const full = '█';

export interface Span {
  readonly start: number;
  readonly duration: number;
}

/**
 * A span on a line of time, `width` characters for `total`. A span too short to see is still a thin stroke: it happened.
 * The start is exact to a character, the length to an eighth.
 */
export function renderBar({ start, duration }: Span, total: number, width: number): string {
  if (total <= 0) return '';
  const offset = Math.min(width - 1, Math.floor((start / total) * width));
  const room = (width - offset) * 8;
  const length = Math.min(room, Math.max(1, Math.round((duration / total) * width * 8)));
  return ' '.repeat(offset) + full.repeat(Math.floor(length / 8)) + (eighths[length % 8] ?? '');
}
