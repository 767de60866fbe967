import { translateSelector } from '@podwire/calico-import';
import { describe, expect, it } from 'vitest';

describe('selectors of Calico', () => {
  it.each([
    ['', 'all'],
    ['all()', 'all'],
    ['all() || zone == "a"', 'all'],
    ['!all()', 'none'],
    ['zone == "a" && !all()', 'none'],
    ['!all() || !all()', 'none'],
  ])('%s selects %s', (text, selects) => {
    expect(translateSelector(text)).toEqual({ selects });
  });

  it.each([
    ['zone == "a"', 'zone=a'],
    [`zone=='a'`, 'zone=a'],
    ['zone != "a"', 'zone!=a'],
    ['node-role.kubernetes.io/control-plane == ""', 'node-role.kubernetes.io/control-plane='],
    ['zone in {"", "a"}', 'zone in (,a)'],
    ['!(zone == "a")', 'zone!=a'],
    ['!!zone == "a"', 'zone=a'],
    ['has(disk)', 'disk'],
    ['!has(disk)', '!disk'],
    ['has( node-role.kubernetes.io/worker )', 'node-role.kubernetes.io/worker'],
    [`zone in {'a', "b"}`, 'zone in (a,b)'],
    [`zone in {"a",}`, 'zone=a'],
    [`zone not in {'a','b'}`, 'zone notin (a,b)'],
    [`zone notin {'a'}`, 'zone!=a'],
    [`!(zone in {'a','b'})`, 'zone notin (a,b)'],
    ['zone == "a" && has(disk)', 'zone=a,disk'],
    ['all() && zone == "a"', 'zone=a'],
    ['zone == "a" || zone == "b"', 'zone in (a,b)'],
    [`zone in {'a'} || (zone == "b")`, 'zone in (a,b)'],
    ['!(zone == "a" || disk == "ssd")', 'zone!=a,disk!=ssd'],
    ['!(zone != "a" || !has(disk))', 'zone=a,disk'],
    ['(zone == "a" || !all()) && has(x)', 'zone=a,x'],
    ['kubernetes.io/os == "linux"', 'kubernetes.io/os=linux'],
  ])('%s is %s', (text, expected) => {
    expect(translateSelector(text)).toMatchObject({ selects: 'some', text: expected });
  });

  it.each([
    ['zone == "a" || disk == "ssd"', /\|\| between different labels/],
    ['!(zone == "a" && zone == "b")', /\|\| between different labels/],
    ['zone != "a" || zone != "b"', /\|\| between different labels/],
    ['zone contains "a"', /parts of values/],
    ['zone starts with "a"', /parts of values/],
    ['zone ends with "a"', /parts of values/],
    ['global()', /global\(\) means nothing/],
    ['zone in {}', /empty set/],
    ['zone', /expected an operator at the end/],
    ['zone ==', /quoted value at the end/],
    ['zone == a', /quoted value before "a"/],
    ['zone = "a"', /cannot be read from/],
    ['zone == "a" has(b)', /something is left/],
    ['(zone == "a"', /expected \) at the end/],
    ['zone == "a b"', /no value that a label can have/],
    ['-zone == "a"', /no name of a label/],
    [`${'('.repeat(100)}all()${')'.repeat(100)}`, /nested too deeply/],
  ])('%s has no equal', (text, message) => {
    expect(() => translateSelector(text)).toThrow(message);
  });
});
