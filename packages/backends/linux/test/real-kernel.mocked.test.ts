import fs from 'node:fs';
import { expect, test, vi } from 'vitest';
import { openOwnNamespace, SystemError } from '@podwire/linux';
import { openKernel } from '../src/index.js';

const sockets = vi.hoisted(() => ({ left: 0 }));

vi.mock('@podwire/netlink', async (original) => ({
  ...(await original<object>()),
  openRouteConnection: () => {
    if (sockets.left-- === 0) throw new SystemError('socket', 24);
    return { close: () => undefined };
  },
}));
vi.mock('@podwire/nftables', async (original) => ({
  ...(await original<object>()),
  openNftables: () => ({ close: () => undefined }),
  openConntrack: () => ({ close: () => undefined }),
}));

/** Descriptors of this process that hold a network namespace. */
const namespacesHeld = (): number =>
  fs.readdirSync('/proc/self/fd').filter((fd) => linkOf(fd)?.startsWith('net:[')).length;

function linkOf(fd: string): string | undefined {
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined; // that of the directory itself
  }
}

test('a namespace in which no socket can be opened is let go of', () => {
  const own = openOwnNamespace();
  own.close();
  sockets.left = 2;
  const kernel = openKernel();
  const held = namespacesHeld();
  expect(() => kernel.enter(own)).toThrow('EMFILE');
  expect(namespacesHeld()).toBe(held);
  kernel.close();
});
