import type { Change } from '@podwire/store';
import { expect, it } from 'vitest';
import { Mirror } from '../src/store/mirror.js';

const item = (key: string, revision: number, value = `${key} at ${revision}`) => ({ key, value, revision });
const put = (key: string, revision: number): Change => ({ type: 'put', item: item(key, revision) });
const gone = (key: string, revision: number): Change => ({ type: 'delete', key, revision });

function createMirror() {
  const decoded: string[] = [];
  const mirror = new Mirror('', ({ value }) => {
    decoded.push(value);
    return value;
  });
  return { mirror, decoded };
}

it('has items in the order of their keys, with what was reported since the list', () => {
  const { mirror } = createMirror();
  mirror.begin([item('a', 1), item('c', 2)]);
  expect(mirror.apply([put('b', 3), gone('a', 4), put('c', 5)])).toBe(true);
  expect(mirror.list()).toEqual(['b at 3', 'c at 5']);
  expect(mirror.takeDifferences()).toEqual([
    { key: 'b', before: undefined, after: 'b at 3' },
    { key: 'a', before: 'a at 1', after: undefined },
    { key: 'c', before: 'c at 2', after: 'c at 5' },
  ]);
  expect(mirror.takeDifferences()).toEqual([]);
});

it('passes over reports that are older than an own write', () => {
  const { mirror } = createMirror();
  mirror.note(put('a', 5));
  expect(mirror.apply([put('a', 4), put('a', 5), gone('a', 3)])).toBe(false);
  expect(mirror.get('a')).toBe('a at 5');
  expect(mirror.apply([put('a', 6)])).toBe(true);
  expect(mirror.get('a')).toBe('a at 6');
});

it('does not bring back by an older report what it has deleted itself', () => {
  const { mirror } = createMirror();
  mirror.begin([item('a', 1)]);
  mirror.note(gone('a', 5));
  expect(mirror.apply([put('a', 4)])).toBe(false);
  expect(mirror.get('a')).toBeUndefined();
  expect(mirror.apply([gone('a', 5)])).toBe(false);
  expect(mirror.apply([put('a', 6)])).toBe(true);
  expect(mirror.get('a')).toBe('a at 6');
});

it('says nothing of what has come and gone again', () => {
  const { mirror } = createMirror();
  mirror.apply([put('a', 1), gone('a', 2)]);
  expect(mirror.takeDifferences()).toEqual([]);
});

it('begins anew, and decodes again what is another text alone', () => {
  const { mirror, decoded } = createMirror();
  mirror.begin([item('a', 1), item('b', 2), item('c', 3)]);
  mirror.note(gone('c', 9));
  decoded.length = 0;
  // A store that was restored counts its revisions again.
  mirror.begin([item('a', 1), item('b', 2, 'another life'), item('c', 3)]);
  expect(decoded).toEqual(['another life', 'c at 3']);
  expect(mirror.takeDifferences()).toEqual([]);
  expect(mirror.apply([gone('c', 4)])).toBe(true);
});
