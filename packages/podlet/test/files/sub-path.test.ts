import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bindSubPath } from '../../src/files/sub-path.js';
import { recordMounts, temporaryDirectories } from './temporary.js';

const temporary = temporaryDirectories();

/** A volume beside a secret, with links of all kinds in it. */
function makeVolume() {
  const root = temporary();
  const volume = path.join(root, 'volume');
  fs.mkdirSync(path.join(volume, 'real', 'deep'), { recursive: true });
  fs.chmodSync(volume, 0o2777);
  fs.mkdirSync(path.join(root, 'volume-secret'));
  fs.writeFileSync(path.join(root, 'volume-secret', 'key'), 'secret');
  fs.writeFileSync(path.join(volume, 'real', 'file'), 'content');
  const links = {
    inside: 'real',
    absolute: path.join(volume, 'real'),
    outside: '../volume-secret',
    root: '/',
    dangling: '../volume-secret/new',
    loop: 'loop',
  };
  for (const [name, target] of Object.entries(links)) fs.symlinkSync(target, path.join(volume, name));
  return { root, volume, target: path.join(root, 'targets', '0') };
}

async function bind(subPath: string, create = true) {
  const { volume, target, root } = makeVolume();
  const mounts = recordMounts();
  await bindSubPath({ volume, subPath, create }, target, mounts);
  return { bound: path.relative(volume, mounts.table.get(target)!), target, volume, root };
}

describe('what is bound', () => {
  test.each([
    ['real', 'real'],
    ['real/', 'real'],
    ['./real//deep', 'real/deep'],
    ['real/file', 'real/file'],
    ['inside', 'real'],
    ['inside/deep', 'real/deep'],
    ['absolute/file', 'real/file'],
    ['new', 'new'],
    ['inside/new/deeper', 'real/new/deeper'],
  ])('%s is %s', async (subPath, expected) => expect((await bind(subPath)).bound).toBe(expected));

  test('a directory is bound to a directory, a file to a file', async () => {
    expect(fs.statSync((await bind('real')).target).isDirectory()).toBe(true);
    expect(fs.statSync((await bind('real/file')).target).isFile()).toBe(true);
  });

  test('what is made has the rights of the volume', async () => {
    const { volume } = await bind('new/deeper');
    const rights = (name: string) => fs.statSync(path.join(volume, name)).mode & 0o7777;
    expect([rights('new'), rights('new/deeper')]).toEqual([0o2777, 0o2777]);
  });
});

describe('what is refused', () => {
  test.each([
    '..',
    '../volume-secret',
    'real/../../volume-secret',
    '/etc',
    'outside',
    'outside/key',
    'outside/new',
    'root/etc',
    'dangling',
    'loop',
    'real/file/x',
  ])('%s', async (subPath) => {
    await expect(bind(subPath)).rejects.toThrow();
  });

  test('what does not exist in a volume that is only read', async () => {
    await expect(bind('new', false)).rejects.toThrow('does not exist in the volume');
  });

  test('a link that comes in between looking and opening', async () => {
    const { volume, target } = makeVolume();
    const mounts = recordMounts();
    let stop = false;
    const swapping = (async () => {
      const place = path.join(volume, 'victim');
      while (!stop) {
        fs.mkdirSync(place, { recursive: true });
        await new Promise(setImmediate);
        fs.rmdirSync(place);
        fs.symlinkSync('../volume-secret', place);
        await new Promise(setImmediate);
        fs.unlinkSync(place);
      }
    })();
    let attempts = 0;
    for (let index = 0; index < 300; index++) {
      const outcome = await bindSubPath({ volume, subPath: 'victim', create: false }, target, mounts).then(
        () => mounts.table.get(target)!,
        () => undefined,
      );
      if (outcome !== undefined) expect(outcome).not.toContain('volume-secret');
      mounts.table.clear();
      attempts++;
    }
    stop = true;
    await swapping;
    expect(attempts).toBe(300);
  });
});

test('whatever the path, nothing outside the volume is ever bound', async () => {
  const part = fc.constantFrom(
    '..',
    '.',
    '',
    'real',
    'inside',
    'outside',
    'root',
    'dangling',
    'absolute',
    'new',
    'file',
    'loop',
    'key',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 5 }), async (parts) => {
      const { volume, target, root } = makeVolume();
      const mounts = recordMounts();
      await bindSubPath({ volume, subPath: parts.join('/'), create: true }, target, mounts).catch(
        () => undefined,
      );
      const bound = mounts.table.get(target);
      if (bound !== undefined) expect(`${bound}/`.startsWith(`${volume}/`)).toBe(true);
      expect(fs.readdirSync(path.join(root, 'volume-secret'))).toEqual(['key']);
    }),
  );
});
