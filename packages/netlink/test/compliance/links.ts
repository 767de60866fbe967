import assert from 'node:assert/strict';
import {
  createLinkRequest,
  decodeLink,
  deleteLinkRequest,
  deleteLinkGroupRequest,
  getLinkRequest,
  type Link,
  listLinks,
  type NetlinkConnection,
  type NewVeth,
  readLink,
  renameLinkRequest,
  setLinkRequest,
} from '@podwire/netlink';
import { assertContains, type Case, type Environment, linkNames, outcome, outcomes } from './environment.js';

export const find = (connection: NetlinkConnection, name: string): Link | undefined =>
  listLinks(connection).find((link) => link.name === name);

/** A veth pair inside the host: `a` (10) and `b` (11). */
export const localPair: NewVeth = { kind: 'veth', name: 'a', index: 10, peer: { name: 'b', index: 11 } };

export const linkCases: readonly Case[] = [
  {
    name: 'a namespace starts with a loopback that is down',
    run({ host }) {
      const links = listLinks(host.connection);
      assert.deepEqual(
        links.map(({ index, name, up, mtu, kind }) => ({ index, name, up, mtu, kind })),
        [{ index: 1, name: 'lo', up: false, mtu: 65536, kind: undefined }],
      );
    },
  },
  {
    name: 'a veth is born with its peer in another namespace, with the indexes asked for',
    run({ host, pod }) {
      const mac = '02:00:00:00:0a:01';
      const peer = { name: 'eth0', index: 2, mtu: 1400, mac: '02:00:00:00:0a:02', namespace: pod.fd };
      host.connection.request([
        createLinkRequest({ kind: 'veth', name: 'cali1', index: 77, mtu: 1400, mac, group: 7, peer }),
      ]);
      const near = find(host.connection, 'cali1')!;
      const far = find(pod.connection, 'eth0')!;
      assertContains(near, {
        index: 77,
        kind: 'veth',
        mtu: 1400,
        mac,
        group: 7,
        parent: 2,
        up: false,
      });
      assertContains(far, { index: 2, mtu: 1400, mac: peer.mac, parent: 77, up: false });
      assert.notEqual(near.parentNamespace, undefined);
    },
  },
  {
    name: 'a link is read with its parameters for IPv4 where they are asked for',
    run({ host: { connection } }) {
      connection.request([
        createLinkRequest({ kind: 'veth', name: 'cali1', peer: {} }),
        setLinkRequest('cali1', { inetSettings: { proxy_arp: 1, rp_filter: 2 } }),
      ]);
      const detail = { inetSettings: true };
      const [listed] = listLinks(connection, detail).filter(({ name }) => name === 'cali1');
      for (const link of [readLink(connection, 'cali1', detail), listed])
        assertContains(link?.inetSettings ?? {}, { proxy_arp: 1, rp_filter: 2, accept_local: 0 });
      assert.equal(readLink(connection, 'cali1')!.inetSettings, undefined);
    },
  },
  {
    name: 'a new link is echoed',
    run({ host }) {
      const [replies] = host.connection.request([
        createLinkRequest({ kind: 'ifb', name: 'i0' }, { echo: true }),
      ]);
      const links = replies!.map(decodeLink);
      assert.deepEqual(
        links.map(({ name, kind }) => ({ name, kind })),
        [{ name: 'i0', kind: 'ifb' }],
      );
      assert.equal(find(host.connection, 'i0')!.index, links[0]!.index);
    },
  },
  {
    name: 'links without a name get one',
    run({ host }) {
      host.connection.request([
        createLinkRequest({ kind: 'veth', peer: {} }),
        createLinkRequest({ kind: 'ifb' }),
      ]);
      assert.deepEqual(linkNames(host.connection), ['ifb0', 'veth0', 'veth1']);
    },
  },
  {
    name: 'names and indexes that are taken are refused, and nothing is left behind',
    run({ host, pod }) {
      const peerInPod = { name: 'b', index: 11, namespace: pod.fd };
      host.connection.request([createLinkRequest(localPair)]);
      assert.deepEqual(
        outcomes(
          host.connection,
          createLinkRequest(localPair),
          createLinkRequest({ kind: 'ifb', name: 'x', index: 10 }),
          createLinkRequest({ kind: 'veth', name: 'x', peer: { name: 'b' } }),
          createLinkRequest({ kind: 'veth', name: 'x', index: 50, peer: { name: 'y', index: 10 } }),
          createLinkRequest({ kind: 'veth', name: 'x', peer: { name: 'x' } }),
          createLinkRequest({ kind: 'veth', name: 'x', index: 50, peer: peerInPod }),
          createLinkRequest({ kind: 'veth', name: 'z', index: 51, peer: peerInPod }),
        ),
        ['EEXIST', 'EEXIST', 'EEXIST', 'EBUSY', 'EEXIST', 'ok', 'EEXIST'],
      );
      assert.deepEqual(linkNames(host.connection), ['a', 'b', 'x']);
      assert.deepEqual(linkNames(pod.connection), ['b']);
    },
  },
  {
    name: 'what no link can have is refused',
    run({ host }) {
      const bad = (name: string) => createLinkRequest({ kind: 'ifb', name });
      assert.deepEqual(outcomes(host.connection, bad('a/b'), bad('a b'), bad('a:b'), bad('..'), bad('')), [
        'EINVAL',
        'EINVAL',
        'EINVAL',
        'EINVAL',
        'EINVAL',
      ]);
      assert.deepEqual(
        outcomes(
          host.connection,
          createLinkRequest({ kind: 'veth', name: 'm', mtu: 10, peer: {} }),
          createLinkRequest({ kind: 'veth', name: 'm', mtu: 70000, peer: {} }),
          createLinkRequest({ kind: 'ifb', name: 'm', mac: '01:00:00:00:00:01' }),
          createLinkRequest({ kind: 'ifb', name: 'm', mac: '02:00' }),
          createLinkRequest({ kind: 'veth', name: 'm', peer: { name: 'n', namespace: 999_999_999 } }),
          createLinkRequest({ kind: 'ifb', name: 'm', master: 999 }),
        ),
        ['EINVAL', 'EINVAL', 'EADDRNOTAVAIL', 'EINVAL', 'EBADF', 'EINVAL'],
      );
      assert.deepEqual(linkNames(host.connection), []);
    },
  },
  {
    name: 'links that are not there cannot be changed, asked for or deleted',
    run({ host }) {
      assert.deepEqual(
        outcomes(
          host.connection,
          setLinkRequest('zz', { up: true }),
          setLinkRequest(999, { up: true }),
          getLinkRequest('zz'),
          getLinkRequest(999),
          deleteLinkRequest('zz'),
          deleteLinkRequest(999),
          renameLinkRequest(999, 'yy'),
          deleteLinkRequest('lo'),
        ),
        ['ENODEV', 'ENODEV', 'ENODEV', 'ENODEV', 'ENODEV', 'ENODEV', 'ENODEV', 'EOPNOTSUPP'],
      );
    },
  },
  {
    name: 'a link is changed',
    run({ host }) {
      const changes = {
        mtu: 1300,
        mac: '02:00:00:00:00:99',
        group: 5,
        alias: 'pod of web',
        transmitQueueLength: 17,
        addressGenerationMode: 'none',
      } as const;
      host.connection.request([createLinkRequest(localPair), setLinkRequest('a', changes)]);
      assertContains(find(host.connection, 'a'), { ...changes, up: false });
      assert.deepEqual(
        outcomes(host.connection, setLinkRequest('a', { mtu: 1 }), setLinkRequest('a', { mac: '02:00' })),
        ['EINVAL', 'EINVAL'],
      );
    },
  },
  {
    name: 'a link is renamed',
    run({ host }) {
      host.connection.request([createLinkRequest(localPair), renameLinkRequest(10, 'c')]);
      assert.deepEqual(linkNames(host.connection), ['b', 'c']);
      assert.deepEqual(outcomes(host.connection, renameLinkRequest(10, 'b'), renameLinkRequest(10, 'x/y')), [
        'EEXIST',
        'EINVAL',
      ]);
    },
  },
  {
    name: 'a veth has a carrier when both ends are up',
    run({ host }) {
      const carriers = () => ['a', 'b'].map((name) => find(host.connection, name)!.carrier);
      host.connection.request([createLinkRequest(localPair), setLinkRequest('a', { up: true })]);
      assert.deepEqual(carriers(), [false, false]);
      host.connection.request([setLinkRequest('b', { up: true })]);
      assert.deepEqual(carriers(), [true, true]);
      host.connection.request([setLinkRequest('b', { up: false })]);
      assert.deepEqual(carriers(), [false, false]);
    },
  },
  {
    name: 'links can be born up, but for the peer of a veth',
    run({ host, pod }) {
      const peer = { name: 'eth0', namespace: pod.fd };
      const bornUp = { ...peer, up: true };
      host.connection.request([
        createLinkRequest({ kind: 'ifb', name: 'i0', up: true }),
        createLinkRequest({ kind: 'veth', name: 'a', up: true, peer }),
      ]);
      assert.deepEqual(
        [find(host.connection, 'i0')!.up, find(host.connection, 'a')!.up, find(pod.connection, 'eth0')!.up],
        [true, true, false],
      );
      const refused = createLinkRequest({ kind: 'veth', name: 'x', peer: { ...bornUp, name: 'y' } });
      assert.equal(outcome(host.connection, refused), 'ENOTCONN');
      assert.deepEqual(linkNames(host.connection), ['a', 'i0']);
    },
  },
  {
    name: 'the two ends of a veth die together, also across namespaces',
    run({ host, pod }) {
      const peer = { name: 'eth0', namespace: pod.fd };
      host.connection.request([
        createLinkRequest(localPair),
        createLinkRequest({ kind: 'veth', name: 'c', peer }),
      ]);
      pod.connection.request([deleteLinkRequest('eth0')]);
      assert.deepEqual(linkNames(host.connection), ['a', 'b']);
      host.connection.request([deleteLinkRequest(10)]);
      assert.deepEqual(linkNames(host.connection), []);
    },
  },
  {
    name: 'a group is deleted at once',
    run({ host, pod }) {
      const pairs = ['v1', 'v2', 'v3'].map((name) =>
        createLinkRequest({ kind: 'veth', name, peer: { name: `eth${name}`, namespace: pod.fd } }),
      );
      host.connection.request([
        ...pairs,
        setLinkRequest('v1', { group: 42 }),
        setLinkRequest('v3', { group: 42 }),
      ]);
      assert.deepEqual(
        listLinks(host.connection, { group: 42 }).map(({ name }) => name),
        ['v1', 'v3'],
      );
      host.connection.request([deleteLinkGroupRequest(42)]);
      assert.deepEqual(linkNames(host.connection), ['v2']);
      assert.deepEqual(linkNames(pod.connection), ['ethv2']);
      assert.deepEqual(outcomes(host.connection, deleteLinkGroupRequest(42), deleteLinkGroupRequest(0)), [
        'ENODEV',
        'EPERM',
      ]);
    },
  },
  {
    name: 'a group with hardware in it is not deleted at all',
    run({ host }) {
      host.connection.request([
        createLinkRequest(localPair),
        setLinkRequest('lo', { group: 9 }),
        setLinkRequest('a', { group: 9 }),
      ]);
      assert.equal(outcome(host.connection, deleteLinkGroupRequest(9)), 'EOPNOTSUPP');
      assert.deepEqual(linkNames(host.connection), ['a', 'b']);
    },
  },
  {
    name: 'a link moves to another namespace, keeps its index and comes down',
    run({ host, pod }) {
      host.connection.request([
        createLinkRequest(localPair),
        setLinkRequest('a', { up: true }),
        setLinkRequest('a', { namespace: pod.fd }),
      ]);
      assert.deepEqual(linkNames(host.connection), ['b']);
      assertContains(find(pod.connection, 'a'), { index: 10, up: false, parent: 11 });
      assert.equal(outcome(host.connection, setLinkRequest('b', { namespace: 999_999_999 })), 'EBADF');
    },
  },
  {
    name: 'a bridge has its ports',
    run({ host }) {
      const bridge = createLinkRequest({ kind: 'bridge', name: 'br0', index: 20, ageingTime: 60 });
      host.connection.request([bridge, createLinkRequest(localPair), setLinkRequest('a', { master: 20 })]);
      host.connection.request([createLinkRequest({ kind: 'ifb', name: 'i0', master: 20 })]);
      const ports = () =>
        listLinks(host.connection, { master: 20 })
          .map(({ name }) => name)
          .sort();
      assert.deepEqual(ports(), ['a', 'i0']);
      const { settings } = find(host.connection, 'br0')!;
      assert.equal(settings?.kind === 'bridge' && settings.ageingTime, 60);
      assert.deepEqual(
        outcomes(host.connection, setLinkRequest('b', { master: 10 }), setLinkRequest('b', { master: 999 })),
        ['EOPNOTSUPP', 'EINVAL'],
      );
      host.connection.request([setLinkRequest('a', { master: 0 })]);
      assert.deepEqual(ports(), ['i0']);
      host.connection.request([deleteLinkRequest('br0')]);
      assert.equal(find(host.connection, 'i0')!.master, undefined);
    },
  },
  {
    name: 'a VXLAN device has its settings',
    run({ host }) {
      const vxlan = { kind: 'vxlan', id: 4096, port: 4789, local: '192.0.2.1', learning: false } as const;
      host.connection.request([createLinkRequest({ name: 'vx0', ...vxlan })]);
      assertContains(find(host.connection, 'vx0')!.settings, vxlan);
      assert.equal(outcome(host.connection, createLinkRequest({ name: 'vx1', ...vxlan })), 'EEXIST');
      assert.deepEqual(linkNames(host.connection), ['vx0']);
    },
  },
  {
    name: 'a macvlan sits on a link and dies with it',
    run({ host }) {
      host.connection.request([
        createLinkRequest(localPair),
        createLinkRequest({ kind: 'macvlan', name: 'm0', parent: 10, mode: 'bridge' }),
      ]);
      assertContains(find(host.connection, 'm0'), {
        parent: 10,
        settings: { kind: 'macvlan', mode: 'bridge' },
      });
      host.connection.request([deleteLinkRequest('a')]);
      assert.deepEqual(linkNames(host.connection), []);
    },
  },
  {
    name: 'links are listed by kind',
    run({ host }) {
      host.connection.request([createLinkRequest(localPair), createLinkRequest({ kind: 'ifb', name: 'i0' })]);
      const names = (kind: string) => listLinks(host.connection, { kind }).map(({ name }) => name);
      assert.deepEqual([names('ifb'), names('veth').sort(), names('bridge')], [['i0'], ['a', 'b'], []]);
    },
  },
  {
    name: 'the requests of a batch are carried out in order, also after one that fails',
    run({ host }: Environment) {
      assert.deepEqual(
        outcomes(
          host.connection,
          deleteLinkRequest('a'),
          createLinkRequest(localPair),
          getLinkRequest('a'),
          createLinkRequest(localPair),
          setLinkRequest('b', { up: true }),
          getLinkRequest('zz'),
        ),
        ['ENODEV', 'ok', 'ok', 'EEXIST', 'ok', 'ENODEV'],
      );
      assert.equal(find(host.connection, 'b')!.up, true);
    },
  },
  {
    name: 'replies belong to their requests',
    run({ host }) {
      host.connection.request([createLinkRequest(localPair)]);
      const replies = host.connection.request([
        getLinkRequest('b'),
        setLinkRequest('a', { up: true }),
        getLinkRequest('lo'),
        getLinkRequest(10),
      ]);
      assert.deepEqual(
        replies.map((messages) => messages.map((message) => decodeLink(message).name)),
        [['b'], [], ['lo'], ['a']],
      );
    },
  },
];
