import assert from 'node:assert/strict';
import {
  addAddressRequest,
  addNeighbourRequest,
  createLink,
  createLinkRequest,
  deleteLinkRequest,
  lookUpRoute,
  readLink,
  readNeighbour,
  readQdisc,
  renameLinkRequest,
  replaceQdiscRequest,
  setLinkRequest,
} from '@podwire/netlink';
import type { Case } from './environment.js';

const mac = '02:00:00:00:00:09';
const bucket = { kind: 'tbf', rate: 8_000_000, burst: 10_000, limit: 20_000 } as const;

/** One thing at a time, by name or number. */
export const readCases: readonly Case[] = [
  {
    name: 'a link is made and read, by name and by index',
    run({ host: { connection } }) {
      const made = createLink(connection, { kind: 'ifb', name: 'i0', index: 30, up: true });
      assert.deepEqual([made.index, made.name, made.kind, made.up], [30, 'i0', 'ifb', true]);
      assert.equal(readLink(connection, 'i0')?.index, 30);
      assert.equal(readLink(connection, 30)?.name, 'i0');
      assert.throws(() => createLink(connection, { kind: 'ifb', name: 'i0' }), { code: 'EEXIST' });
    },
  },
  {
    name: 'what is not there is undefined',
    run({ host: { connection } }) {
      assert.equal(readLink(connection, 'nowhere'), undefined);
      assert.equal(readLink(connection, 999), undefined);
      assert.equal(readNeighbour(connection, { link: 999, address: '192.0.2.1' }), undefined);
      assert.equal(readNeighbour(connection, { link: 1, address: '192.0.2.1' }), undefined);
      assert.equal(readQdisc(connection, { link: 999 }), undefined);
    },
  },
  {
    name: 'a neighbour, a qdisc and a route are read',
    run({ host: { connection } }) {
      const { index: link } = createLink(connection, { kind: 'ifb', name: 'i0', up: true });
      connection.request([
        addAddressRequest({ link, address: '192.0.2.1/24' }),
        addNeighbourRequest({ link, address: '192.0.2.9', mac }),
        replaceQdiscRequest({ link, ...bucket }),
      ]);
      assert.equal(readNeighbour(connection, { link, address: '192.0.2.9' })?.mac, mac);
      assert.deepEqual(readQdisc(connection, { link })?.settings, bucket);
      assert.equal(lookUpRoute(connection, '192.0.2.9').link, link);
      assert.throws(() => lookUpRoute(connection, '198.51.100.1'), { code: 'ENETUNREACH' });
    },
  },
  {
    name: 'a name that is too long is refused in words before anything is sent',
    run({ host: { connection } }) {
      const name = 'a-name-of-16-byt';
      const message = 'the link name "a-name-of-16-byt" has 16 bytes; Linux allows 15';
      for (const build of [
        () => createLinkRequest({ kind: 'ifb', name }),
        () => createLinkRequest({ kind: 'veth', peer: { name } }),
        () => setLinkRequest(name, { up: true }),
        () => renameLinkRequest(1, name),
        () => deleteLinkRequest(name),
        () => readLink(connection, name),
      ])
        assert.throws(build, new RangeError(message));
      // Bytes count, not letters.
      assert.throws(() => createLinkRequest({ kind: 'ifb', name: 'äöüäöüäö' }), /has 16 bytes/);
      assert.equal(createLink(connection, { kind: 'ifb', name: 'a-name-of-15-by' }).name, 'a-name-of-15-by');
    },
  },
];
