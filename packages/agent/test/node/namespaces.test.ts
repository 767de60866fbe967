import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createNamespaces } from '../../src/node/namespaces.js';
import { makeDirectory } from '../fakes/sockets.js';

const own = '/proc/self/ns/net';

describe('network namespaces by path', () => {
  test.each([
    ['run/netns/x', 'NAMESPACE_INVALID', 'absolute path'],
    ['', 'NAMESPACE_INVALID', 'absolute path'],
    ['/run/netns/x\0y', 'NAMESPACE_INVALID', 'absolute path'],
    ['/run/netns/podwire-nothing-here', 'NAMESPACE_GONE', 'no network namespace at'],
    ['/etc/passwd/x', 'NAMESPACE_GONE', 'no network namespace at'],
    ['/etc/passwd', 'NAMESPACE_INVALID', 'is no network namespace'],
    ['/proc/../etc/passwd', 'NAMESPACE_INVALID', 'is no network namespace'],
    ['/proc', 'NAMESPACE_INVALID', 'is no network namespace'],
    [own, 'NAMESPACE_INVALID', 'of the node itself'],
  ])('%j', (path, code, message) => {
    const namespaces = createNamespaces();
    expect(() => namespaces.identify(path)).toThrow(expect.objectContaining({ code }));
    expect(() => namespaces.identify(path)).toThrow(message);
  });

  test('a namespace of another kind', () => {
    expect(() => createNamespaces().identify('/proc/self/ns/mnt')).toThrow(
      expect.objectContaining({ code: 'NAMESPACE_INVALID' }),
    );
  });

  test('a FIFO does not hang', () => {
    const fifo = `${makeDirectory()}/fifo`;
    execFileSync('mkfifo', [fifo]);
    expect(() => createNamespaces().identify(fifo)).toThrow(
      expect.objectContaining({ code: 'NAMESPACE_INVALID' }),
    );
  });

  test('its own, when that is allowed', () => {
    const { ino } = fs.statSync(own);
    expect(createNamespaces().identify(own, { allowOwn: true })).toMatchObject({ path: own, inode: ino });
  });

  test('gone is what leads nowhere or elsewhere; what cannot be told is alive', () => {
    const namespaces = createNamespaces();
    const { device, inode } = namespaces.identify(own, { allowOwn: true });
    const directory = makeDirectory();
    fs.writeFileSync(`${directory}/file`, '');
    expect(namespaces.isGone({ path: own, device, inode })).toBe(false);
    expect(namespaces.isGone({ path: own, device, inode: inode + 1 })).toBe(true);
    expect(namespaces.isGone({ path: `${directory}/nothing`, device, inode })).toBe(true);
    expect(namespaces.isGone({ path: `${directory}/file`, device, inode })).toBe(false);
  });
});
