import { describe, expect, test } from 'vitest';
import {
  addAddressRequest,
  createLinkRequest,
  getLinkRequest,
  listAddresses,
  listLinks,
  type NetlinkConnection,
  setLinkRequest,
} from '@podwire/netlink';
import { FakeKernel } from '../src/fake/index.js';

const names = (connection: NetlinkConnection): string[] => listLinks(connection).map(({ name }) => name);

describe('the fake kernel', () => {
  test('makes the nth request fail, without effect, once', () => {
    const kernel = new FakeKernel();
    const connection = kernel.open();
    kernel.failRequest(2, { code: 'ENOMEM', message: 'out of everything' });
    const make = (name: string) => createLinkRequest({ kind: 'ifb', name });
    expect(() => connection.request([make('a'), make('b'), make('c')])).toThrow(
      'create link b: ENOMEM (RTNETLINK answers: out of everything)',
    );
    expect(names(connection)).toEqual(['lo', 'a', 'c']);
    connection.request([make('b')]);
    expect(names(connection)).toEqual(['lo', 'a', 'c', 'b']);
  });

  test('counts from the next request on, dumps too', () => {
    const kernel = new FakeKernel();
    const connection = kernel.open();
    connection.request([setLinkRequest(1, { up: true })]);
    kernel.failRequest(1, { code: 'EBUSY' });
    kernel.failRequest(2, { code: 'EPERM' });
    expect(() => listLinks(connection)).toThrow('EBUSY');
    expect(() => listLinks(connection)).toThrow('EPERM');
    expect(names(connection)).toEqual(['lo']);
  });

  test('asks a hook', () => {
    const kernel = new FakeKernel();
    kernel.intercept = ({ type, namespace }) =>
      type === 16 && namespace === '/run/netns/pod' ? { code: 'EACCES' } : undefined;
    const pod = kernel.createNamespace('/run/netns/pod');
    const make = createLinkRequest({ kind: 'ifb', name: 'a' });
    kernel.open().request([make]);
    expect(() => kernel.open({ namespace: pod }).request([make])).toThrow('EACCES');
  });

  test('keeps a record of the requests', () => {
    const kernel = new FakeKernel();
    const connection = kernel.open();
    connection.request([setLinkRequest(1, { up: true }), getLinkRequest(1)]);
    listAddresses(connection);
    expect(kernel.requests).toEqual([
      { namespace: '/proc/self/ns/net', type: 19, dump: false },
      { namespace: '/proc/self/ns/net', type: 18, dump: false },
      { namespace: '/proc/self/ns/net', type: 22, dump: true },
    ]);
  });

  test('interrupts dumps', () => {
    const kernel = new FakeKernel();
    kernel.interruptDumps(3);
    expect(names(kernel.open())).toEqual(['lo']);
    expect(kernel.requests).toHaveLength(4);
    kernel.interruptDumps(100);
    expect(() => listLinks(kernel.open())).toThrow('the tables changed');
  });

  test('keeps namespaces apart, until they end', () => {
    const kernel = new FakeKernel();
    const pod = kernel.createNamespace('/run/netns/pod');
    const host = kernel.open();
    host.request([
      createLinkRequest({ kind: 'veth', name: 'cali0', peer: { name: 'eth0', namespace: pod.fd } }),
    ]);
    kernel.open({ namespace: pod }).request([addAddressRequest({ link: 2, address: '10.0.0.1/32' })]);
    expect([names(host), names(kernel.open({ namespace: pod }))]).toEqual([
      ['lo', 'cali0'],
      ['lo', 'eth0'],
    ]);
    expect(listAddresses(host)).toEqual([]);
    kernel.deleteNamespace(pod);
    expect(names(host)).toEqual(['lo']);
    expect(() => kernel.open({ namespace: { fd: 3 } })).toThrow('EBADF');
  });

  test('answers asynchronous requests', async () => {
    const connection = new FakeKernel().open();
    const { signal } = new AbortController();
    const replies = await connection.requestAsync(
      [setLinkRequest(1, { up: true }), getLinkRequest(1)],
      signal,
    );
    expect(replies.map((list) => list.length)).toEqual([0, 1]);
  });
});
