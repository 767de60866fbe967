import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareHostPath } from '../../src/files/host-path.js';
import { temporaryDirectories } from './temporary.js';

const temporary = temporaryDirectories();
const root = temporary();
const server = net.createServer();
const places: Record<string, string> = {
  directory: path.join(root, 'directory'),
  file: path.join(root, 'file'),
  socket: path.join(root, 'socket'),
  device: '/dev/null',
  link: path.join(root, 'link'),
  dangling: path.join(root, 'dangling'),
  nothing: path.join(root, 'nothing'),
};

beforeAll(async () => {
  fs.mkdirSync(places['directory']!);
  fs.writeFileSync(places['file']!, 'content');
  fs.symlinkSync('directory', places['link']!);
  fs.symlinkSync('nowhere', places['dangling']!);
  await new Promise<void>((resolve) => server.listen(places['socket'], resolve));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const fits: Record<string, string[]> = {
  '': Object.keys(places),
  Directory: ['directory', 'link'],
  File: ['file'],
  Socket: ['socket'],
  CharDevice: ['device'],
  BlockDevice: [],
};

describe.each(Object.entries(fits))('type %j', (type, good) => {
  test.each(Object.keys(places))('%s', async (place) => {
    const prepared = prepareHostPath({ path: places[place]!, type });
    if (good.includes(place)) await expect(prepared).resolves.toBeUndefined();
    else await expect(prepared).rejects.toThrow(/is not a |does not exist, but should be a /);
  });
});

describe('what is missing', () => {
  test('a directory is made with its parents', async () => {
    const made = path.join(root, 'x', 'y', 'z');
    await prepareHostPath({ path: made, type: 'DirectoryOrCreate' });
    expect(fs.statSync(made).isDirectory()).toBe(true);
    await prepareHostPath({ path: made, type: 'DirectoryOrCreate' });
    await expect(prepareHostPath({ path: made, type: 'FileOrCreate' })).rejects.toThrow('is not a file');
  });

  test('a file is made, but not its directory', async () => {
    const made = path.join(root, 'made');
    await prepareHostPath({ path: made, type: 'FileOrCreate' });
    expect(fs.readFileSync(made, 'utf8')).toBe('');
    await prepareHostPath({ path: places['file']!, type: 'FileOrCreate' });
    expect(fs.readFileSync(places['file']!, 'utf8')).toBe('content');
    const below = path.join(root, 'missing', 'file');
    await expect(prepareHostPath({ path: below, type: 'FileOrCreate' })).rejects.toMatchObject({
      code: 'ENOENT',
    });
  });

  test('an unknown type is named in the error', async () => {
    await expect(prepareHostPath({ path: root, type: 'Pipe' })).rejects.toThrow('"Pipe" is unknown');
  });
});
