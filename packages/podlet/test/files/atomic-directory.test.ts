import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { writeAtomicDirectory } from '../../src/files/atomic-directory.js';
import type { ProjectedFile } from '../../src/files/config-map.js';
import { temporaryDirectories } from './temporary.js';

const temporary = temporaryDirectories();
const file = (name: string, content: string, mode = 0o644): ProjectedFile => ({
  path: name,
  content: Buffer.from(content),
  mode,
});

/** The files as a reader through the links sees them. */
function visible(directory: string): Record<string, string> {
  const seen: Record<string, string> = {};
  const look = (prefix: string) => {
    for (const name of fs.readdirSync(path.join(directory, prefix))) {
      if (prefix === '' && name.startsWith('..')) continue;
      const relative = path.join(prefix, name);
      const stats = fs.statSync(path.join(directory, relative));
      if (stats.isDirectory()) look(relative);
      else
        seen[relative] =
          `${(stats.mode & 0o777).toString(8)} ${fs.readFileSync(path.join(directory, relative), 'utf8')}`;
    }
  };
  look('');
  return seen;
}

const hidden = (directory: string) => fs.readdirSync(directory).filter((name) => name.startsWith('..'));

describe('writing', () => {
  test('names are links through ..data', async () => {
    const directory = path.join(temporary(), 'new');
    await writeAtomicDirectory(directory, [file('a', '1'), file('sub/b', '2', 0o400), file('sub/c', '3')]);
    expect(visible(directory)).toEqual({ a: '644 1', 'sub/b': '400 2', 'sub/c': '644 3' });
    expect(fs.readlinkSync(path.join(directory, 'a'))).toBe('..data/a');
    expect(fs.readlinkSync(path.join(directory, 'sub'))).toBe('..data/sub');
    expect(hidden(directory)).toHaveLength(2);
  });

  test('what is as wanted is not touched', async () => {
    const directory = temporary();
    const files = [file('a', '1'), file('sub/b', '2')];
    await writeAtomicDirectory(directory, files);
    const before = fs.readlinkSync(path.join(directory, '..data'));
    await writeAtomicDirectory(directory, files);
    expect(fs.readlinkSync(path.join(directory, '..data'))).toBe(before);
  });

  test('a file that is open keeps its content, its name gets the new one', async () => {
    const directory = temporary();
    await writeAtomicDirectory(directory, [file('a', 'old')]);
    const fd = fs.openSync(path.join(directory, 'a'), 'r');
    await writeAtomicDirectory(directory, [file('a', 'new')]);
    expect(fs.readFileSync(fd, 'utf8')).toBe('old');
    expect(fs.readFileSync(path.join(directory, 'a'), 'utf8')).toBe('new');
    fs.closeSync(fd);
  });

  test('all names change in one moment', async () => {
    const directory = temporary();
    const both = (value: string) => [file('a', value), file('b', value)];
    await writeAtomicDirectory(directory, both('0'));
    let done = false;
    const pairs = (async () => {
      const seen: string[] = [];
      while (!done) {
        // Through one open directory, as a reader that wants a consistent state has it.
        const data = fs.readlinkSync(path.join(directory, '..data'));
        const read = (name: string) => fs.readFileSync(path.join(directory, data, name), 'utf8');
        seen.push(read('a') + read('b'));
        await new Promise(setImmediate);
      }
      return seen;
    })();
    for (let value = 1; value <= 20; value++) await writeAtomicDirectory(directory, both(String(value)));
    done = true;
    for (const pair of await pairs) expect(pair.slice(0, pair.length / 2)).toBe(pair.slice(pair.length / 2));
  });

  test('what a killed writer left goes', async () => {
    const directory = temporary();
    fs.mkdirSync(path.join(directory, '..half', 'sub'), { recursive: true });
    fs.symlinkSync('..half', path.join(directory, '..data_next'));
    fs.symlinkSync('..data/gone', path.join(directory, 'gone'));
    await writeAtomicDirectory(directory, [file('a', '1')]);
    expect(visible(directory)).toEqual({ a: '644 1' });
    expect(hidden(directory)).toHaveLength(2);
  });

  test('a failed writing leaves the old state and no rest', async () => {
    const directory = temporary();
    await writeAtomicDirectory(directory, [file('a', '1')]);
    await expect(writeAtomicDirectory(directory, [file('a', '2'), file('a/b', '3')])).rejects.toThrow();
    expect(visible(directory)).toEqual({ a: '644 1' });
    expect(hidden(directory)).toHaveLength(2);
  });
});

test('after any sequence of changes the last one is to be seen, and nothing else', async () => {
  const names = fc.constantFrom('a', 'b', 'd/x', 'd/y', 'e/f/g');
  const state = fc.dictionary(
    names,
    fc.tuple(fc.string({ maxLength: 3 }), fc.constantFrom(0o644, 0o400, 0o755)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(state, { minLength: 1, maxLength: 5 }), async (states) => {
      const directory = temporary();
      for (const each of states) {
        const files = Object.entries(each).map(([name, [content, mode]]) => file(name, content, mode));
        await writeAtomicDirectory(directory, files);
        const expected = Object.entries(each).map(([name, [content, mode]]) => [
          name,
          `${mode.toString(8)} ${content}`,
        ]);
        expect(visible(directory)).toEqual(Object.fromEntries(expected));
        expect(hidden(directory)).toHaveLength(2);
      }
    }),
    { numRuns: 40 },
  );
});
