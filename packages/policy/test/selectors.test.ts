import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSelector, type Selector } from '@podwire/objects';
import {
  formatSelector,
  fromLabelSelector,
  keysOf,
  matchSelector,
  requiredLabels,
  simplifySelector,
} from '../src/index.js';

function read(text: string, ofNamespaces = false): Selector {
  const parsed = parseSelector(text, { ofNamespaces });
  if (!parsed.ok) throw new Error(`${parsed.problem.at}: ${parsed.problem.message}`);
  return parsed.selector;
}

describe("Calico's grammar", () => {
  it.each<[string, Record<string, string>, boolean]>([
    ['', {}, true],
    ['all()', {}, true],
    ['!all()', { a: 'b' }, false],
    ["role == 'web'", { role: 'web' }, true],
    ['role == "web"', { role: 'db' }, false],
    ["role=='web'", {}, false],
    ["role != 'web'", {}, true],
    ["role != 'web'", { role: 'web' }, false],
    ["role in { 'web', 'db' }", { role: 'db' }, true],
    ["role in {'web','db',}", { role: 'web' }, true],
    ['role in {}', { role: 'web' }, false],
    ['role not in {}', {}, true],
    ["role not in { 'web' }", {}, true],
    ["role not in { 'web' }", { role: 'web' }, false],
    ['has(role)', { role: '' }, true],
    ['!has(role)', { role: '' }, false],
    ['!has(role)', {}, true],
    ["role starts with 'we'", { role: 'web' }, true],
    ["role starts with 'we'", {}, false],
    ["role ends with 'eb'", { role: 'web' }, true],
    ["role contains 'e'", { role: 'web' }, true],
    ["! role contains 'e'", {}, true],
    ["a == '1' || b == '2' && c == '3'", { a: '1' }, true],
    ["(a == '1' || b == '2') && c == '3'", { a: '1' }, false],
    ["!(a == '1' || b == '2')", { c: '3' }, true],
    ['!!has(a)', { a: '1' }, true],
    ["app.kubernetes.io/name == 'x'", { 'app.kubernetes.io/name': 'x' }, true],
    ['note == "it\'s"', { note: "it's" }, true],
    ["has == 'x'", { has: 'x' }, true],
    ["in == 'x' && not != 'y'", { in: 'x' }, true],
    ['has(constructor)', {}, false],
  ])('%s over %j: %s', (text, labels, matches) => {
    expect(matchSelector(read(text), labels)).toBe(matches);
  });

  it.each([
    ['all()', { 'kubernetes.io/metadata.name': 'a' }, true],
    ['all()', {}, false],
    ['global()', {}, true],
    ['global()', { 'kubernetes.io/metadata.name': 'a' }, false],
    ["global() || team == 'x'", { 'kubernetes.io/metadata.name': 'a', team: 'x' }, true],
    ["team != 'x'", {}, true],
  ])('of namespaces, %s over %j: %s', (text, labels, matches) => {
    expect(matchSelector(read(text, true), labels)).toBe(matches);
  });

  it.each([
    ["a = 'b'", 2, '"=" means nothing here; write =='],
    ["a == 'b", 5, 'a quote is not closed'],
    ['a == b', 5, 'expected a value in quotes, found "b"'],
    [
      'a',
      1,
      'expected ==, !=, in, not in, contains, starts with or ends with behind the label, found the end',
    ],
    ["a == 'b' c", 9, 'expected && or ||, found "c"'],
    ["a == 'b' && ", 12, 'expected a label, has(), all(), ! or (, found the end'],
    ["(a == 'b'", 9, 'expected ), found the end'],
    ["a in 'b'", 5, 'expected {, found "b"'],
    ['a starts "b"', 9, 'expected with, found "b"'],
    ['any()', 0, 'any() is no function; there are has(), all() and global()'],
    ['global()', 0, 'global() stands in a namespaceSelector only'],
    ['a == "b" && ü == "c"', 12, '"ü" means nothing here'],
  ])('%s is refused at %i: %s', (text, at, message) => {
    expect(parseSelector(text)).toEqual({ ok: false, problem: { at, message } });
  });

  it('has caps on length and depth', () => {
    expect(parseSelector(`a == '${'x'.repeat(70_000)}'`).ok).toBe(false);
    expect(parseSelector(`${'('.repeat(64)}has(a)${')'.repeat(64)}`).ok).toBe(true);
    expect(parseSelector(`${'('.repeat(65)}has(a)${')'.repeat(65)}`).ok).toBe(false);
    expect(parseSelector(`${'!'.repeat(50_000)}has(a)`).ok).toBe(false);
  });
});

const key = fc.constantFrom('a', 'b', 'example.com/c');
const value = fc.constantFrom('', 'x', 'y', 'xy', "it's");
const { selector: anySelector } = fc.letrec<{ selector: Selector }>((tie) => {
  const parts = fc.array(tie('selector'), { maxLength: 3 });
  const leaf = fc.oneof(
    fc.constant<Selector>({ is: 'all' }),
    fc.constant<Selector>({ is: 'none' }),
    fc.record({ is: fc.constant('has' as const), key }),
    fc.record({ is: fc.constant('in' as const), key, values: fc.array(value, { maxLength: 3 }) }),
    fc.record({
      is: fc.constantFrom('startsWith' as const, 'endsWith' as const, 'contains' as const),
      key,
      value,
    }),
  );
  return {
    selector: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.record({ is: fc.constant('not' as const), of: tie('selector') }),
      fc.record({ is: fc.constantFrom('and' as const, 'or' as const), of: parts }),
    ),
  };
});
const anyLabels = fc.dictionary(key, value, { maxKeys: 3 });

describe('any selector', () => {
  it('means the same once written and read again, and once made simple', () => {
    fc.assert(
      fc.property(anySelector, anyLabels, (selector, labels) => {
        const matches = matchSelector(selector, labels);
        expect(matchSelector(read(formatSelector(selector)), labels)).toBe(matches);
        expect(matchSelector(simplifySelector(selector), labels)).toBe(matches);
      }),
      { numRuns: 2000 },
    );
  });

  it('has one text: written, read and written again it stays as it is', () => {
    fc.assert(
      fc.property(anySelector, (selector) => {
        const text = formatSelector(selector);
        expect(formatSelector(read(text))).toBe(text);
      }),
    );
  });

  it('selects nothing without one of the labels that it requires', () => {
    fc.assert(
      fc.property(anySelector, anyLabels, (selector, labels) => {
        const required = requiredLabels(selector);
        if (required === undefined || !matchSelector(selector, labels)) return;
        const isThere = required.some(
          (each) => Object.hasOwn(labels, each.key) && (each.value ?? labels[each.key]) === labels[each.key],
        );
        expect(isThere).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('looks at no other labels than it says', () => {
    fc.assert(
      fc.property(anySelector, anyLabels, (selector, labels) => {
        const keys = keysOf(selector);
        const seen = Object.fromEntries(Object.entries(labels).filter(([each]) => keys.has(each)));
        expect(matchSelector(selector, seen)).toBe(matchSelector(selector, labels));
      }),
    );
  });

  it('is never read from noise without an answer', () => {
    const noise = fc.array(
      fc.constantFrom('a', "'x'", '==', '!', '(', ')', '&&', '||', 'in', '{', '}', ',', 'has'),
    );
    fc.assert(
      fc.property(noise, (parts) => void expect(typeof parseSelector(parts.join(' ')).ok).toBe('boolean')),
    );
  });
});

describe('one text', () => {
  it.each([
    ["b == '2' && a == '1'", "a == '1' && b == '2'"],
    ["(a == '1' && (b == '2' && a == '1'))", "a == '1' && b == '2'"],
    ["a in {'y','x','y'}", "a in {'x', 'y'}"],
    ["a in {'x'}", "a == 'x'"],
    ["!(a in {'x'})", "a != 'x'"],
    ['!!has(a)', 'has(a)'],
    ['all() && has(a)', 'has(a)'],
    ['all() || has(a)', 'all()'],
    ['has(a) && !has(a)', '!all()'],
    ["a starts with ''", 'has(a)'],
  ])('%s is %s', (text, canonical) => {
    expect(formatSelector(read(text))).toBe(canonical);
  });
});

describe("Kubernetes' label selectors", () => {
  it.each<[Parameters<typeof fromLabelSelector>[0], string]>([
    [{}, 'all()'],
    [{ matchLabels: {} }, 'all()'],
    [{ matchLabels: { app: 'web' } }, "app == 'web'"],
    [{ matchLabels: { b: '2', a: '1' } }, "a == '1' && b == '2'"],
    [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['x', 'y'] }] }, "a in {'x', 'y'}"],
    [{ matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['x'] }] }, "a != 'x'"],
    [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }, 'has(a)'],
    [
      { matchLabels: { b: '2' }, matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] },
      "!has(a) && b == '2'",
    ],
  ])('%j is %s', (selector, text) => {
    expect(formatSelector(fromLabelSelector(selector))).toBe(text);
  });

  it('NotIn holds without the label', () => {
    const selector = fromLabelSelector({
      matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['x'] }],
    });
    expect(matchSelector(selector, {})).toBe(true);
  });
});

describe('labels that an index looks for', () => {
  it.each([
    ["a == '1'", [{ key: 'a', value: '1' }]],
    [
      "has(a) && b in {'1','2'}",
      [
        { key: 'b', value: '1' },
        { key: 'b', value: '2' },
      ],
    ],
    ["a == '1' || has(b)", [{ key: 'a', value: '1' }, { key: 'b' }]],
    ["a == '1' || !has(b)", undefined],
    ["a != '1'", undefined],
    ['all()', undefined],
    ['a in {}', []],
  ])('%s: %j', (text, labels) => {
    expect(requiredLabels(read(text))).toEqual(labels);
  });
});
