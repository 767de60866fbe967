import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import {
  bind,
  connect,
  createNamespace,
  deleteNamespace,
  inNamespace,
  openNamespace,
  send,
  socket,
} from '@podwire/linux';
import {
  addAddressRequest,
  addRouteRequest,
  createLinkRequest,
  decodeLink,
  deleteLinkRequest,
  deleteLinkGroupRequest,
  getLinkRequest,
  listAddresses,
  listLinks,
  listRoutes,
  NetlinkBatchError,
  NETLINK_NETFILTER,
  type NetlinkRequest,
  openNetlinkConnection,
  NLM_F_CREATE,
  openRouteConnection,
  PayloadWriter,
  setLinkRequest,
} from '@podwire/netlink';
import { ack } from './scripted-port.js';
import { withNamespace, withNamespaceAsync } from './private-namespace.js';

const never = (): AbortSignal => new AbortController().signal;

const veth = (name: string, group = 0): NetlinkRequest =>
  createLinkRequest({ kind: 'veth', name, group, peer: { name: `${name}p` } });

test('a connection stays in its namespace when that has lost its name', () => {
  const file = `/run/netns/podwire-netlink-gone-${process.pid}`;
  createNamespace(file);
  const handle = openNamespace(file);
  const connection = openRouteConnection({ namespace: handle });
  handle.close();
  deleteNamespace(file);
  connection.request([veth('a')]);
  assert.deepEqual(
    listLinks(connection).map(({ name }) => name),
    ['lo', 'ap', 'a'],
  );
  connection.close();
});

test('descriptors are not inherited, and are closed', () => {
  withNamespace(({ fd }) => {
    const before = fs.readdirSync('/proc/self/fd').length;
    const connections = Array.from({ length: 20 }, () => openRouteConnection({ namespace: { fd } }));
    const flags = fs
      .readdirSync('/proc/self/fdinfo')
      .filter((entry) => isSocket(entry))
      .map((entry) => /flags:\s*(\d+)/.exec(fs.readFileSync(`/proc/self/fdinfo/${entry}`, 'utf8'))![1]!);
    const closeOnExec = 0o2000000;
    assert.ok(flags.length >= 20);
    assert.ok(flags.every((text) => (Number.parseInt(text, 8) & closeOnExec) !== 0));
    for (const connection of connections) connection.close();
    assert.equal(fs.readdirSync('/proc/self/fd').length, before);
  });
});

function isSocket(fd: string): boolean {
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
  } catch {
    return false;
  }
}

/** As createLinkRequest would make it, if it did not refuse the name. */
function longName(): NetlinkRequest {
  const RTM_NEWLINK = 16;
  const IFLA_IFNAME = 3;
  const payload = new PayloadWriter(16).text(IFLA_IFNAME, 'a-name-of-sixteen').finish();
  return { type: RTM_NEWLINK, flags: NLM_F_CREATE, payload, label: 'create link a-name-of-sixteen' };
}

test('the kernel’s own words and the place of the mistake are in the error', () => {
  withNamespace(({ connection }) => {
    const long = longName();
    const bad = addRouteRequest({ destination: '10.0.0.0/8', gateway: '203.0.113.1' });
    assert.throws(
      () => connection.request([long, setLinkRequest('lo', { up: true }), bad]),
      (error) => {
        assert.ok(error instanceof NetlinkBatchError);
        const [name, gateway] = error.failures;
        // nlmsghdr, ifinfomsg, then IFLA_IFNAME.
        assert.deepEqual([name!.index, name!.code, name!.attributeOffset], [0, 'ERANGE', 32]);
        assert.deepEqual([gateway!.index, gateway!.code], [2, 'ENETUNREACH']);
        assert.match(gateway!.kernelMessage!, /gateway/);
        assert.match(error.message, /^create link a-name-of-sixteen: ERANGE \(RTNETLINK answers: /);
        return true;
      },
    );
    const taken = createLinkRequest({ kind: 'ifb', name: 'x' });
    assert.throws(() => connection.request([taken, taken]), {
      message: 'create link x: EEXIST (RTNETLINK answers: file already exists)',
    });
  });
});

test('requests and dumps may be large', () => {
  withNamespace(({ connection }) => {
    connection.request([createLinkRequest({ kind: 'ifb', name: 'i0', index: 10, up: true })]);
    const addresses = Array.from({ length: 4000 }, (_, index) => `10.1.${index >> 8}.${index & 255}/32`);
    connection.request(addresses.map((address) => addAddressRequest({ link: 10, address })));
    const read = listAddresses(connection, { link: 10, family: 4 }).map(({ address }) => address);
    assert.deepEqual(new Set(read), new Set(addresses));
    assert.equal(read.length, 4000);
    assert.equal(listRoutes(connection, { family: 4, link: 10 }).length, 4000);
    assert.equal(listRoutes(connection, { family: 4, link: 999 }).length, 0);
  });
});

test('many failures of one batch are all reported', () => {
  withNamespace(({ connection }) => {
    const missing = Array.from({ length: 3000 }, (_, index) => deleteLinkRequest(1000 + index));
    assert.throws(
      () => connection.request(missing),
      (error) => error instanceof NetlinkBatchError && error.failures.length === 3000,
    );
    assert.equal(listLinks(connection).length, 1);
  });
});

test('the pool works while the thread goes on, on one connection', async () => {
  await withNamespaceAsync(async ({ connection }) => {
    connection.request(Array.from({ length: 8 }, (_, index) => veth(`v${index}`, 7)));
    const deleted = connection.requestAsync([deleteLinkGroupRequest(7)], never());
    const made = connection.requestAsync([veth('w'), getLinkRequest('w')], never());
    const refused = assert.rejects(connection.requestAsync([deleteLinkRequest('nothing')], never()), {
      code: 'ENODEV',
    });
    const names = Array.from({ length: 20 }, () => {
      const [replies] = connection.request([getLinkRequest('lo')]);
      return decodeLink(replies![0]!).name;
    });
    assert.deepEqual(new Set(names), new Set(['lo']));
    listLinks(connection);
    await Promise.all([deleted, refused]);
    const [, replies] = await made;
    assert.equal(decodeLink(replies![0]!).name, 'w');
    assert.deepEqual(
      listLinks(connection).map(({ name }) => name),
      ['lo', 'wp', 'w'],
    );
  });
});

test('an abandoned request is carried out all the same, and disturbs no other request', async () => {
  await withNamespaceAsync(async ({ connection }) => {
    const abort = new AbortController();
    const made = connection.requestAsync([veth('a'), getLinkRequest('a')], abort.signal);
    // Its turn comes in a microtask; then it is with the pool.
    for (let step = 0; step < 3; step++) await Promise.resolve();
    abort.abort(new Error('enough'));
    await assert.rejects(made, { message: 'enough' });
    const later = await connection.requestAsync([getLinkRequest('a')], never());
    assert.equal(decodeLink(later[0]![0]!).name, 'a');
  });
});

test('closing a connection waits for its open requests', async () => {
  await withNamespaceAsync(async ({ fd }) => {
    const connection = openRouteConnection({ namespace: { fd } });
    const requests = Array.from({ length: 12 }, (_, index) =>
      connection.requestAsync([veth(`v${index}`)], never()),
    );
    connection.close();
    // Whatever is opened now must not get the socket's number while a thread is about to use it.
    const files = Array.from({ length: 20 }, () => fs.openSync('/dev/null', 'r'));
    await Promise.all(requests);
    files.forEach((file) => fs.closeSync(file));
    const another = openRouteConnection({ namespace: { fd } });
    assert.equal(listLinks(another).length, 25);
    another.close();
  });
});

test('messages of other processes are ignored', () => {
  withNamespace(({ fd }) => {
    const victim = openRouteConnection({ namespace: { fd } });
    // The first request gives the socket its port.
    victim.request([getLinkRequest('lo')]);
    const attacker = inNamespace({ fd }, () => socket(16, 3, 0));
    const address = (port: number) => new Uint8Array(new Uint32Array([16, port, 0]).buffer);
    bind(attacker, address(4711));
    const used = portsIn(fd).filter((port) => port !== 4711);
    assert.ok(used.length > 0);
    const second = { type: 18, flags: 0, sequence: 2, port: 0, payload: Buffer.alloc(16) };
    for (const port of used) {
      connect(attacker, address(port));
      for (const errno of [1, 0]) send(attacker, ack(second, errno));
    }
    const [replies] = victim.request([getLinkRequest('lo')]);
    assert.deepEqual(
      replies!.map((reply) => decodeLink(reply).name),
      ['lo'],
    );
    fs.closeSync(attacker);
    victim.close();
  });
});

/** The ports of the rtnetlink sockets of a namespace. */
function portsIn(fd: number): number[] {
  const text = inNamespace({ fd }, () => fs.readFileSync('/proc/thread-self/net/netlink', 'utf8'));
  const rows = text.trim().split('\n').slice(1);
  const fields = rows.map((row) => row.trim().split(/\s+/));
  return fields
    .filter(([, protocol, port]) => protocol === '0' && port !== '0')
    .map(([, , port]) => Number(port));
}

test('without privileges the namespace can be read, and not be changed', () => {
  withNamespace(({ fd }) => {
    process.seteuid!(65534);
    try {
      // The socket is opened in the caller's namespace: entering another one needs privileges too.
      const connection = openNetlinkConnection({ protocol: 0 });
      assert.ok(listLinks(connection).some(({ name }) => name === 'lo'));
      assert.throws(() => connection.request([setLinkRequest(0x7fffffff, {})]), { code: 'EPERM' });
      connection.close();
    } finally {
      process.seteuid!(0);
    }
    assert.ok(fd > 0);
  });
});

test('batches of nfnetlink are all or nothing', () => {
  withNamespace(({ fd }) => {
    const connection = openNetlinkConnection({ protocol: NETLINK_NETFILTER, namespace: { fd } });
    const edge = (type: number, label: string) => ({
      type,
      flags: 0,
      payload: Buffer.from([0, 0, 0, 10]),
      unacknowledged: true,
      label,
    });
    const table = (name: string) => ({
      type: 10 << 8,
      flags: 0x600,
      payload: Buffer.concat([
        Buffer.from([2, 0, 0, 0, 4 + name.length + 1, 0, 1, 0]),
        Buffer.from(`${name}\0\0\0\0`.slice(0, 4)),
      ]),
      label: `table ${name}`,
    });
    const batch = (...names: string[]) => [edge(0x10, 'begin'), ...names.map(table), edge(0x11, 'end')];
    connection.request(batch('abc', 'abd'));
    assert.throws(() => connection.request(batch('abe', 'abc', 'abf')), {
      message: 'table abc: EEXIST (NFNETLINK answers: file already exists)',
    });
    const tables = connection.dump({ type: (10 << 8) | 1, flags: 0, payload: Buffer.from([2, 0, 0, 0]) });
    assert.equal(tables.length, 2);
    connection.close();
  });
});

test('a dump that is given up leaves the connection as it was, in its namespace', () => {
  const file = `/run/netns/podwire-netlink-limit-${process.pid}`;
  createNamespace(file);
  const handle = openNamespace(file);
  const connection = openRouteConnection({ namespace: handle });
  handle.close();
  deleteNamespace(file);
  connection.request([veth('a'), setLinkRequest(1, { up: true })]);
  const addresses = Array.from({ length: 2_000 }, (_, n) => `10.${n >> 8}.${n & 255}.1/32`);
  connection.request(addresses.map((address) => addAddressRequest({ link: 1, address })));
  const descriptors = fs.readdirSync('/proc/self/fd').length;
  for (let round = 0; round < 3; round++) {
    const some = listAddresses(connection, { link: 1, limit: 300 });
    assert.equal(some.length, 300);
    assert.equal(some[1]?.address, addresses[0]);
  }
  assert.equal(listAddresses(connection, { link: 1 }).length, 2_002);
  assert.deepEqual(
    connection
      .request([getLinkRequest('a')])
      .flat()
      .map(decodeLink)
      .map(({ name }) => name),
    ['a'],
  );
  assert.equal(fs.readdirSync('/proc/self/fd').length, descriptors);
  connection.close();
});
