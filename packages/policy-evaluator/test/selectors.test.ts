/** Both selector languages, as tables. */
import { describe, expect, it } from 'vitest';
import { parseCalicoSelector } from '../src/selectors/calico.js';
import { matchesSelector } from '../src/selectors/kubernetes.js';

const labels = { app: 'web', tier: 'front-end', empty: '', 'example.com/zone': 'a' };

describe('selectors of Calico', () => {
  it.each([
    '',
    '  ',
    'all()',
    'all( )',
    "app == 'web'",
    'app=="web"',
    "app != 'db'",
    "none != 'db'",
    "app in {'db', 'web'}",
    "app in{'web',}",
    "app not in {'db'}",
    "none notin {'db'}",
    'app not in {}',
    'has(app)',
    'has(empty)',
    "empty == ''",
    '!has(none)',
    '! ! has(app)',
    "tier contains 't-e'",
    "tier starts with 'front'",
    "tier startswith 'front'",
    "tier ends with 'end'",
    "example.com/zone == 'a'",
    "app == 'web' && tier == 'front-end'",
    "app == 'db' || tier == 'front-end'",
    "app == 'web' || app == 'db' && none == 'x'",
    "!(app == 'db')",
    "!has(none) && !(app == 'db' || none == 'x')",
  ])('%j matches', (text) => {
    expect(parseCalicoSelector(text)(labels)).toBe(true);
  });

  it.each([
    "app == 'db'",
    "none == ''",
    'has(none)',
    'app in {}',
    "none in {'web'}",
    "app != 'web'",
    "none contains ''",
    "none starts with ''",
    "none ends with ''",
    "(app == 'web' || app == 'db') && none == 'x'",
    "!app == 'web'",
    "constructor != 'x' && has(constructor)",
  ])('%j does not match', (text) => {
    expect(parseCalicoSelector(text)(labels)).toBe(false);
  });

  it.each([
    'app',
    'app ==',
    'app = "web"',
    'app == web',
    'app == "web',
    '(has(app)',
    'has()',
    "app in 'web'",
    'all() all()',
    '&&',
  ])('%j is refused', (text) => {
    expect(() => parseCalicoSelector(text)).toThrow(SyntaxError);
  });
});

describe('selectors of Kubernetes', () => {
  const one = (key: string, operator: string, values?: string[]): object => ({
    matchExpressions: [{ key, operator, ...(values && { values }) }],
  });
  it.each([
    [{}, true],
    [{ matchLabels: {} }, true],
    [{ matchLabels: { app: 'web' } }, true],
    [{ matchLabels: { app: 'web', tier: 'back-end' } }, false],
    [one('app', 'In', ['db', 'web']), true],
    [one('none', 'In', ['web']), false],
    [one('app', 'NotIn', ['web']), false],
    [one('none', 'NotIn', ['web']), true],
    [one('empty', 'Exists'), true],
    [one('none', 'Exists'), false],
    [one('constructor', 'Exists'), false],
    [one('none', 'DoesNotExist'), true],
    [one('app', 'DoesNotExist'), false],
    [{ matchLabels: { app: 'web' }, ...one('tier', 'NotIn', ['front-end']) }, false],
  ])('%j: %s', (selector, expected) => {
    expect(matchesSelector(selector, labels)).toBe(expected);
  });

  it('refuses an operator that is none', () => {
    expect(() => matchesSelector(one('app', 'Like', ['web']), labels)).toThrow(TypeError);
  });
});
