import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CheckpointFiles, createCheckpointStore, fnv32a } from '../src/checkpoint-store.js';

let directory = '';
beforeEach(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'podwire-checkpoints-'));
});
afterEach(() => fs.rm(directory, { recursive: true, force: true }));

describe('FNV-32a', () => {
  test.each([
    ['', 0x811c9dc5],
    ['a', 0xe40c292c],
    ['foobar', 0xbf9cf968],
  ])('%j', (text, hash) => expect(fnv32a(text)).toBe(hash));
});

describe('a checkpoint store', () => {
  test('gives back whatever JSON can hold', async () => {
    const store = createCheckpointStore<unknown>(directory);
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        await store.write('key', value);
        expect(await store.read('key')).toEqual({
          state: 'found',
          data: JSON.parse(JSON.stringify(value)) as unknown,
        });
      }),
      { numRuns: 50 },
    );
    expect(await store.keys()).toEqual(['key']);
  });

  test('a directory that is not there is empty, and made by the first write', async () => {
    const store = createCheckpointStore<number>(path.join(directory, 'a/b'));
    expect(await store.keys()).toEqual([]);
    expect(await store.read('x')).toEqual({ state: 'missing' });
    await store.remove('x');
    await store.write('x', 1);
    expect((await fs.stat(path.join(directory, 'a/b'))).mode & 0o777).toBe(0o700);
    expect((await fs.stat(path.join(directory, 'a/b/x'))).mode & 0o777).toBe(0o600);
  });

  test('field names', async () => {
    const names = { dataField: 'Pod', checksumField: 'Checksum' };
    await createCheckpointStore(directory, names).write('p', { a: 1 });
    const text = await fs.readFile(path.join(directory, 'p'), 'utf8');
    expect(JSON.parse(text)).toEqual({ Pod: { a: 1 }, Checksum: fnv32a('{"a":1}') });
    expect(await createCheckpointStore(directory).read('p')).toEqual({
      state: 'corrupt',
      reason: 'data is missing',
    });
  });

  test('a file written with other spaces is the same', async () => {
    const store = createCheckpointStore(directory);
    await store.write('p', { b: [1, 2], a: 'x' });
    const file = path.join(directory, 'p');
    const sealed = JSON.parse(await fs.readFile(file, 'utf8')) as unknown;
    await fs.writeFile(file, JSON.stringify(sealed, null, 2));
    expect(await store.read('p')).toEqual({ state: 'found', data: { b: [1, 2], a: 'x' } });
  });

  test.each([
    ['', 'it is empty'],
    ['{"data":1,"chec', 'it is no JSON'],
    ['null', 'it is no map'],
    ['{"checksum":1}', 'data is missing'],
    ['{"data":1}', 'checksum does not match'],
    ['{"data":2,"checksum":873244444}', 'checksum does not match'],
  ])('%j is corrupt', async (text, reason) => {
    await fs.writeFile(path.join(directory, 'k'), text);
    expect(await createCheckpointStore(directory).read('k')).toEqual({ state: 'corrupt', reason });
  });

  test('every flipped bit of the data is noticed', async () => {
    const store = createCheckpointStore(directory);
    await store.write('k', { name: 'web' });
    const file = path.join(directory, 'k');
    const good = await fs.readFile(file);
    const [from, to] = [good.indexOf('web'), good.indexOf('web') + 3];
    for (let at = from; at < to; at++) {
      for (let bit = 0; bit < 7; bit++) {
        const bad = Buffer.from(good);
        bad[at]! ^= 1 << bit;
        await fs.writeFile(file, bad);
        expect((await store.read('k')).state).toBe('corrupt');
      }
    }
  });

  test.each(['', '.', '..', '.hidden', 'a/b', '../x', 'a\0', 'x'.repeat(201)])(
    'the key %j is refused',
    async (key) => {
      const store = createCheckpointStore(directory);
      await expect(store.write(key, 1)).rejects.toThrow(/no name for a checkpoint/);
      await expect(store.read(key)).rejects.toThrow(/no name for a checkpoint/);
    },
  );

  test.each(['open', 'rename'] as const)(
    'when %s fails the old data stays and nothing lies about',
    async (broken) => {
      await createCheckpointStore<string>(directory).write('k', 'old');
      const full = (): Promise<never> => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }));
      const failing: CheckpointFiles = { ...fs, [broken]: full };
      const store = createCheckpointStore<string>(directory, { fs: failing });
      await expect(store.write('k', 'new')).rejects.toMatchObject({ code: 'ENOSPC' });
      expect(await createCheckpointStore(directory).read('k')).toEqual({ state: 'found', data: 'old' });
      expect(await fs.readdir(directory)).toEqual(['k']);
    },
  );

  test('what a crash left half-written is not listed', async () => {
    const store = createCheckpointStore(directory);
    await store.write('k', 1);
    await fs.writeFile(path.join(directory, '.k.1234'), '{"da');
    expect(await store.keys()).toEqual(['k']);
  });
});

test('fields of the header stand at the top, outside of the checksum', async () => {
  const place = await fs.mkdtemp(path.join(os.tmpdir(), 'podwire-checkpoint-'));
  try {
    const data = { name: 'web', ports: [80], version: 'v1' };
    const options = { header: ['version', 'name'] };
    await createCheckpointStore<typeof data>(place, options).write('one', data);
    const text = await fs.readFile(path.join(place, 'one'), 'utf8');
    assertHeader(text);
    expect(await createCheckpointStore<typeof data>(place, options).read('one')).toEqual({
      state: 'found',
      data,
    });
    await fs.writeFile(path.join(place, 'one'), text.replace('80', '81'));
    expect(await createCheckpointStore<typeof data>(place, options).read('one')).toMatchObject({
      state: 'corrupt',
    });
  } finally {
    await fs.rm(place, { recursive: true });
  }
});

function assertHeader(text: string): void {
  const body = '{"ports":[80]}';
  expect(text).toBe(`{"version":"v1","name":"web","data":${body},"checksum":${fnv32a(body)}}\n`);
}
