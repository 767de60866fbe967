/** Saved inputs of policy, as they are found by an agent that was killed at any moment. */
import { systemClock } from '@podwire/platform';
import type { InputChange } from '@podwire/policy';
import { expect, test } from 'vitest';
import type { StateFiles } from '../../src/cluster/state-files.js';
import { createLog } from '../../src/log.js';
import { SavedInputs } from '../../src/policy/inputs/saved-inputs.js';

const log = createLog({ level: 'silent', nodeName: 'n1' });

class MemoryFile implements StateFiles {
  text: string | undefined;
  refuses = { append: false, write: false };
  read = () => this.text;
  write = (_name: string, text: string) => {
    if (this.refuses.write && text !== '') throw new Error('ENOSPC');
    this.text = text;
  };
  append = (_name: string, text: string) => {
    if (this.refuses.append) throw new Error('ENOSPC');
    this.text = (this.text ?? '') + text;
  };
}

const begin = (files: StateFiles) => new SavedInputs({ files, node: 'n1', clock: systemClock, log });
const namespace = (name: string, labels?: Record<string, string>): InputChange => ({
  topic: 'namespace',
  key: name,
  value: labels && { name, labels },
});

/** A life that knows everything and is killed: without `stop`. */
function live(files: StateFiles, ...changes: (readonly InputChange[])[]): void {
  const saved = begin(files);
  saved.takeGone();
  for (const change of changes) saved.note(change);
}

test('each change is there at once, the last of each key', () => {
  const files = new MemoryFile();
  live(
    files,
    [namespace('a', { x: '1' }), namespace('b', {})],
    [namespace('a', { x: '2' })],
    [namespace('b')],
  );
  expect(begin(files).restore()).toEqual([namespace('a', { x: '2' })]);
});

test('a change that was being written was not in force', () => {
  const files = new MemoryFile();
  live(files, [namespace('a', {})], [namespace('b', {})]);
  files.text = files.text!.slice(0, -3);
  const next = begin(files);
  expect(next.restore()).toEqual([namespace('a', {})]);
  next.note([namespace('c', {})]);
  expect(begin(files).restore()).toEqual([namespace('a', {}), namespace('c', {})]);
});

test('an earlier life is left alone until all is known', () => {
  const files = new MemoryFile();
  live(files, [namespace('a', {})]);
  begin(files).note([namespace('b', {})]);
  expect(begin(files).restore()).toEqual([namespace('a', {})]);
});

test('what the store no longer has is told as gone', () => {
  const files = new MemoryFile();
  live(files, [namespace('a', {}), namespace('b', {})]);
  const next = begin(files);
  next.restore();
  next.note([namespace('a', {})]);
  expect(next.takeGone()).toEqual([namespace('b')]);
  expect(begin(files).restore()).toEqual([namespace('a', {})]);
});

test('many changes do not make the file longer and longer', async () => {
  const files = new MemoryFile();
  const saved = begin(files);
  saved.takeGone();
  for (let at = 0; at < 2_001; at++) saved.note([namespace('a', { at: `${at}` })]);
  await expect.poll(() => files.text!.split('\n').length, { timeout: 5_000 }).toBeLessThan(10);
  expect(begin(files).restore()).toEqual([namespace('a', { at: '2000' })]);
  await saved.stop();
});

test('a full disk leaves no file that is older than the table', () => {
  const files = new MemoryFile();
  live(files, [namespace('a', {})]);
  const next = begin(files);
  next.takeGone();
  files.refuses = { append: true, write: true };
  next.note([namespace('a', { closed: 'yes' })]);
  expect(begin(files).restore()).toBeUndefined();
});

test.each([
  ['no file', undefined],
  ['an empty file', ''],
  ['another version', '{"version":2}\n{}\n'],
  ['no JSON', '{"version":1}\n{"topic"\n{}\n'],
])('%s says nothing', (_, text) => {
  const files = new MemoryFile();
  files.text = text;
  expect(begin(files).restore()).toBeUndefined();
});
