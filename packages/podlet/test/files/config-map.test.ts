import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectConfigMap, readConfigMapDirectory } from '../../src/files/config-map.js';
import { temporaryDirectories } from './temporary.js';

const directory = temporaryDirectories();
const configMap = { data: { a: 'one', b: 'two' }, binaryData: { c: 'AP8=' } };
type Volume = Parameters<typeof projectConfigMap>[0];
const project = (volume: Partial<Volume>, found: Parameters<typeof projectConfigMap>[1] = configMap) =>
  projectConfigMap({ name: 'settings', ...volume }, found).map(
    ({ path: name, mode, content }) =>
      `${name} ${mode.toString(8)} ${Buffer.from(content).toString('latin1')}`,
  );

describe('projection', () => {
  test('all keys', () => {
    expect(project({})).toEqual(['a 644 one', 'b 644 two', 'c 644 \0\xff']);
    expect(project({ defaultMode: 0o400 })[0]).toBe('a 400 one');
  });

  test('items with paths and modes', () => {
    const items = [
      { key: 'b', path: 'etc/app/b.conf', mode: 0o600 },
      { key: 'a', path: 'a' },
    ];
    expect(project({ items, defaultMode: 0o440 })).toEqual(['etc/app/b.conf 600 two', 'a 440 one']);
  });

  test('what is missing is an error unless optional', () => {
    expect(() => projectConfigMap({ name: 'settings' }, undefined)).toThrow(
      'ConfigMap settings does not exist',
    );
    expect(projectConfigMap({ name: 'settings', optional: true }, undefined)).toEqual([]);
    const items = [
      { key: 'x', path: 'x' },
      { key: 'a', path: 'a' },
    ];
    expect(() => project({ items })).toThrow('has no key x');
    expect(project({ items, optional: true })).toEqual(['a 644 one']);
  });

  test.each(['/etc/passwd', '../x', 'a/../../x', '', 'a//b', '..data', '..x', 'a/./b', 'a\0b', '..'])(
    'the path %j is refused',
    (bad) => expect(() => project({ items: [{ key: 'a', path: bad }] })).toThrow('no path within'),
  );
});

describe('a directory as ConfigMap', () => {
  test('files are keys, all else is passed over', async () => {
    const root = directory();
    fs.writeFileSync(path.join(root, 'b.conf'), 'two');
    fs.writeFileSync(path.join(root, 'a'), 'grün');
    fs.writeFileSync(path.join(root, 'image'), Uint8Array.of(0xff, 0xfe));
    fs.writeFileSync(path.join(root, '.hidden'), 'x');
    fs.writeFileSync(path.join(root, 'bad name'), 'x');
    fs.mkdirSync(path.join(root, 'sub'));
    expect(await readConfigMapDirectory(root)).toEqual({
      data: { a: 'grün', 'b.conf': 'two' },
      binaryData: { image: '//4=' },
    });
  });

  test('no directory is no ConfigMap, a large one is an error', async () => {
    const root = directory();
    expect(await readConfigMapDirectory(path.join(root, 'nowhere'))).toBeUndefined();
    fs.writeFileSync(path.join(root, 'a'), Buffer.alloc(600 * 1024));
    fs.writeFileSync(path.join(root, 'b'), Buffer.alloc(600 * 1024));
    await expect(readConfigMapDirectory(root)).rejects.toThrow('larger than');
  });
});
