import fc from 'fast-check';
import { createColors } from 'picocolors';
import { describe, expect, test } from 'vitest';
import { formatCount, formatPlural } from '../../src/render/counts.js';
import { type Column, renderTable } from '../../src/render/table.js';
import { measureText, shortenText } from '../../src/render/text.js';

const plain = createColors(false);
const colored = createColors(true);

const letters = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'abcxyz0159:./-'), minLength: 1, maxLength: length });
const text = fc.oneof(
  fc.array(letters(40), { maxLength: 4 }).map((words) => words.join(' ')),
  fc.constantFrom('-', '', 'döner', '日本語の名前', '✓ 24', 'fd00:10:244:0:1234:5678:9abc:def0'),
);
const digits = fc.bigInt({ min: 0n, max: 10n ** 20n }).map(String);
const short = letters(8);

interface Case {
  readonly column: Column;
  readonly cells: readonly string[];
}

function columnOf(cells: fc.Arbitrary<string>, more: Partial<Column>, rows: number): fc.Arbitrary<Case> {
  return fc
    .record({
      column: fc.record({
        title: fc.constantFrom('POD', 'ADDRESSES', 'AGE', 'LAST-ERROR'),
        least: fc.integer({ min: 4, max: 30 }),
        importance: fc.constantFrom(1, 2, 3, 4, 5, Infinity),
      }),
      cells: fc.array(cells, { minLength: rows, maxLength: rows }),
    })
    .map(({ column, cells: texts }) => ({ column: { ...column, ...more }, cells: texts }));
}

const anyColumn = (rows: number): fc.Arbitrary<Case> =>
  fc.oneof(
    ...(['end', 'middle', 'list', 'name'] as const).map((cut) => columnOf(text, { cut }, rows)),
    columnOf(digits, { right: true }, rows),
    columnOf(short, { cut: 'never' }, rows),
  );

const anyTable = fc
  .integer({ min: 1, max: 6 })
  .chain((rows) =>
    fc.tuple(columnOf(text, { cut: 'name' }, rows), fc.array(anyColumn(rows), { maxLength: 9 })),
  )
  .map(([first, others]) => [first, ...others]);

const anyRoom = fc.integer({ min: 40, max: 200 });

const rowsOf = (columns: readonly Case[]): string[][] =>
  columns[0]!.cells.map((_, row) => columns.map(({ cells }) => cells[row]!));

describe('a table on a terminal', () => {
  test('gives one line for each row, and none is wider than the terminal', () => {
    fc.assert(
      fc.property(anyTable, anyRoom, fc.constantFrom(plain, colored), (columns, room, paint) => {
        const rows = rowsOf(columns).map((row) => row.map(paint.red));
        const lines = renderTable({ head: columns.map(({ column }) => column), rows }, paint, room);
        // The last line may say what is not shown.
        expect([rows.length + 1, rows.length + 2]).toContain(lines.length);
        expect(Math.max(...lines.map(measureText))).toBeLessThanOrEqual(room);
      }),
    );
  });

  test('shows a number, and a column that stays whole, completely or not at all', () => {
    fc.assert(
      fc.property(anyTable, anyRoom, (columns, room) => {
        const head = columns.map(({ column }, index) => ({ ...column, title: `${column.title}${index}` }));
        const lines = renderTable({ head, rows: rowsOf(columns) }, plain, room);
        const titles = lines[0]!.split(/ +/);
        const missing = columns.flatMap(({ column, cells }, index) =>
          (column.cut === 'never' || column.right === true) && titles.includes(head[index]!.title)
            ? cells.filter((cell, row) => !` ${lines[row + 1]} `.includes(` ${cell} `))
            : [],
        );
        expect(missing).toEqual([]);
      }),
    );
  });

  test('is complete where there is room, and in a pipe', () => {
    fc.assert(
      fc.property(anyTable, (columns) => {
        const rows = rowsOf(columns);
        const lines = renderTable({ head: columns.map(({ column }) => column), rows }, plain);
        const missing = rows.flatMap((row, index) => row.filter((cell) => !lines[index + 1]!.includes(cell)));
        expect(missing).toEqual([]);
        expect(lines).toHaveLength(rows.length + 1);
      }),
    );
  });

  test('leaves out the least important column and says so', () => {
    const head: Column[] = [
      { title: 'POD' },
      { title: 'ADDRESSES', cut: 'list', importance: 2 },
      { title: 'STATE', cut: 'never', importance: 3 },
      { title: 'AGE', cut: 'never', importance: 1 },
    ];
    const rows = [['default/web', '10.244.0.7 fd00:10:244::7', 'ready', '5m10s']];
    expect(renderTable({ head, rows }, plain, 60)).toEqual([
      'POD           ADDRESSES                   STATE   AGE',
      'default/web   10.244.0.7 fd00:10:244::7   ready   5m10s',
    ]);
    expect(renderTable({ head, rows }, plain, 44)).toEqual([
      'POD          ADDRESSES      STATE  AGE',
      'default/web  10.244.0.7 +1  ready  5m10s',
    ]);
    expect(renderTable({ head, rows }, plain, 36)).toEqual([
      'POD          ADDRESSES      STATE',
      'default/web  10.244.0.7 +1  ready',
      '-o wide also shows AGE',
    ]);
  });

  test('a column that says nothing goes first, without a word', () => {
    const head: Column[] = [
      { title: 'POD' },
      { title: 'HOST PORTS', importance: 9 },
      { title: 'STATE', cut: 'never', importance: 1 },
    ];
    expect(renderTable({ head, rows: [['default/web', '-', 'ready']] }, plain, 24)).toEqual([
      'POD          STATE',
      'default/web  ready',
    ]);
  });

  test('a line break in a cell does not break the row', () => {
    expect(renderTable({ head: ['A', 'B'], rows: [['one\n  two', 'x']] }, plain)).toEqual([
      'A         B',
      'one two   x',
    ]);
  });
});

describe('text is shortened', () => {
  test.each([
    ['end', 'cannot reach the agent', 12, 'cannot reac…'],
    ['end', 'has 65536 addresses', 8, 'has…'],
    ['middle', 'fd00:10:244::1234:5678', 12, 'fd00:1…:5678'],
    ['list', '10.244.0.7 fd00::7 fd00::8', 20, '10.244.0.7 +2'],
    ['list', 'fd00:10:244:0:1:2:3:4 10.0.0.1', 14, 'fd00:…2:3:4 +1'],
    ['end', '日本語の名前', 7, '日本語…'],
  ] as const)('at its %s: %s', (cut, whole, width, shorter) => {
    expect(shortenText(whole, width, cut)).toBe(shorter);
    expect(measureText(shorter)).toBeLessThanOrEqual(width);
  });

  test('with its colours', () => {
    expect(shortenText(colored.red('unreachable'), 6, 'end')).toBe(colored.red('unrea…'));
  });
});

test.each([
  [1, 'block', '1 block'],
  [0, 'block', '0 blocks'],
  [2, 'address', '2 addresses'],
  [3, 'more failure', '3 more failures'],
  [2, 'process', '2 processes'],
  [2, 'family', '2 families'],
])('%d %s is written %s', (count, word_, expected) => expect(formatPlural(count, word_)).toBe(expected));

test('counts can be pasted', () => {
  expect(formatCount('65536')).toBe('65536');
  expect(formatCount(999_999_999_999n)).toBe('999999999999');
  expect(formatCount('1208925819614629174706176')).toBe('≈1.2e24');
});
