/** The lines that change one text into another, with some that stay around them. */

const around = 3;
/** The table of a comparison has one cell for each pair of lines. */
const mostCells = 4_000_000;

type Line = readonly [sign: ' ' | '-' | '+', text: string];

/** Lines of a unified diff without its head; none where the texts are equal. */
export function diffLines(before: string, after: string): readonly string[] {
  if (before === after) return [];
  const [old, now] = [toLines(before), toLines(after)];
  const lines = old.length * now.length > mostCells ? replaceAll(old, now) : compare(old, now);
  return trim(lines);
}

const toLines = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

const replaceAll = (old: readonly string[], now: readonly string[]): Line[] => [
  ...old.map((line): Line => ['-', line]),
  ...now.map((line): Line => ['+', line]),
];

/** By the longest common subsequence. */
function compare(old: readonly string[], now: readonly string[]): Line[] {
  const common = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      common[i]![j] =
        old[i] === now[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push([' ', old[i]!]);
      i++;
      j++;
    } else if (j >= now.length || (i < old.length && common[i + 1]![j]! >= common[i]![j + 1]!)) {
      lines.push(['-', old[i++]!]);
    } else {
      lines.push(['+', now[j++]!]);
    }
  }
  return lines;
}

/** Lines far from every change are left out; `…` stands in their place. */
function trim(lines: readonly Line[]): string[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - around), index + around + 1).some(([sign]) => sign !== ' '),
  );
  return lines.flatMap(([sign, text], index) => {
    if (isNear[index]) return [`${sign} ${text}`];
    return isNear[index - 1] === true || index === 0 ? ['…'] : [];
  });
}
