import assert from 'node:assert/strict';
import {
  addClassRequest,
  addFilterRequest,
  addQdiscRequest,
  CLSACT_EGRESS_FILTERS,
  createLinkRequest,
  decodeQdisc,
  deleteClassRequest,
  deleteFilterRequest,
  deleteFiltersRequest,
  deleteLinkRequest,
  deleteQdiscRequest,
  getQdiscRequest,
  INGRESS_FILTERS,
  listClasses,
  listFilters,
  listQdiscs,
  type NetlinkConnection,
  replaceQdiscRequest,
  sameTokenBucket,
  TC_INGRESS,
  TC_ROOT,
  tcHandle,
} from '@podwire/netlink';
import { assertContains, type Case, type Environment, outcome, outcomes } from './environment.js';
import { localPair } from './links.js';

function prepare({ host: { connection } }: Environment): NetlinkConnection {
  connection.request([
    createLinkRequest(localPair),
    createLinkRequest({ kind: 'ifb', name: 'i0', index: 30 }),
  ]);
  return connection;
}

const kinds = (connection: NetlinkConnection, link: number): string[] =>
  listQdiscs(connection, { link }).map(({ kind }) => kind);

/** From the slowest that the kernel can do to a terabit. */
const buckets = [
  { rate: 8_000, burst: 2_000, limit: 4_000 },
  { rate: 1_000_000, burst: 20_000, limit: 30_000 },
  { rate: 10_000_000_000, burst: 1_500_000, limit: 3_000_000 },
  { rate: 100_000_000_000, burst: 20_000_000, limit: 30_000_000 },
  { rate: 1_000_000_000_000, burst: 200_000_000, limit: 300_000_000 },
].map((bucket) => ({ kind: 'tbf', ...bucket }) as const);

export const trafficCases: readonly Case[] = [
  {
    name: 'a token bucket is read back as it was asked for',
    run(environment) {
      const connection = prepare(environment);
      for (const bucket of buckets) {
        connection.request([replaceQdiscRequest({ link: 10, ...bucket })]);
        const [qdisc] = listQdiscs(connection, { link: 10 });
        const { settings } = qdisc!;
        assert.ok(settings?.kind === 'tbf', JSON.stringify(settings));
        assert.ok(sameTokenBucket(bucket, settings), `${JSON.stringify(bucket)} ${JSON.stringify(settings)}`);
        assert.equal(settings.rate, bucket.rate);
        assert.ok(!sameTokenBucket({ ...bucket, burst: bucket.burst * 1.01 }, settings));
        assert.ok(!sameTokenBucket({ ...bucket, rate: bucket.rate + 8 }, settings));
      }
    },
  },
  {
    name: 'qdiscs are added, replaced and deleted',
    run(environment) {
      const connection = prepare(environment);
      const [, bucket] = buckets;
      const tbf = { link: 10, ...bucket! };
      assert.deepEqual(
        outcomes(
          connection,
          addQdiscRequest(tbf),
          addQdiscRequest(tbf),
          replaceQdiscRequest({ ...tbf, rate: 2_000_000 }),
          replaceQdiscRequest({ link: 10, kind: 'htb', handle: tcHandle(1) }),
          deleteQdiscRequest({ link: 10 }),
          deleteQdiscRequest({ link: 10 }),
          addQdiscRequest({ ...tbf, burst: 0 }),
          addQdiscRequest({ ...tbf, link: 99 }),
          deleteQdiscRequest({ link: 99 }),
        ),
        ['ok', 'EEXIST', 'ok', 'ok', 'ok', 'ENOENT', 'EINVAL', 'ENODEV', 'ENODEV'],
      );
      assert.deepEqual(kinds(connection, 10), []);
    },
  },
  {
    name: 'the qdisc of one place is asked for',
    run(environment) {
      const connection = prepare(environment);
      connection.request([
        addQdiscRequest({ link: 10, ...buckets[1]! }),
        addQdiscRequest({ link: 10, kind: 'ingress' }),
      ]);
      const replies = connection.request([
        getQdiscRequest({ link: 10 }),
        getQdiscRequest({ link: 10, parent: TC_INGRESS }),
      ]);
      assert.deepEqual(
        replies.map((messages) => messages.map((message) => decodeQdisc(message).kind)),
        [['tbf'], ['ingress']],
      );
      assert.deepEqual(
        outcomes(
          connection,
          getQdiscRequest({ link: 30, parent: TC_INGRESS }),
          getQdiscRequest({ link: 99 }),
        ),
        ['ENOENT', 'ENODEV'],
      );
    },
  },
  {
    name: 'all that arrives is redirected',
    run(environment) {
      const connection = prepare(environment);
      const redirect = {
        link: 10,
        priority: 5,
        action: { kind: 'mirred', target: 30, direction: 'egress' },
      } as const;
      assert.deepEqual(
        outcomes(
          connection,
          addFilterRequest(redirect),
          addQdiscRequest({ link: 10, kind: 'ingress' }),
          addQdiscRequest({ link: 10, kind: 'ingress' }),
          addQdiscRequest({ link: 10, kind: 'clsact' }),
          addFilterRequest(redirect),
          addFilterRequest({ ...redirect, action: { ...redirect.action, target: 999 } }),
          addFilterRequest({ ...redirect, link: 999 }),
        ),
        ['EINVAL', 'ok', 'EEXIST', 'EEXIST', 'ok', 'ENODEV', 'ENODEV'],
      );
      const filters = () => listFilters(connection, { link: 10 });
      assertContains(filters(), [
        {
          link: 10,
          parent: INGRESS_FILTERS,
          priority: 5,
          protocol: 3,
          kind: 'u32',
          settings: { keys: [], actions: [redirect.action] },
        },
      ]);
      assert.deepEqual(
        outcomes(
          connection,
          deleteFilterRequest({ link: 10, priority: 9 }),
          deleteFilterRequest({ link: 10, priority: 5 }),
          addFilterRequest(redirect),
          addFilterRequest({ ...redirect, priority: 6 }),
          deleteFiltersRequest({ link: 10 }),
          deleteFiltersRequest({ link: 10 }),
        ),
        ['ENOENT', 'ok', 'ok', 'ok', 'ok', 'ok'],
      );
      assert.deepEqual(filters(), []);
    },
  },
  {
    name: 'filters go with their qdisc, and lose a target that goes',
    run(environment) {
      const connection = prepare(environment);
      const action = { kind: 'mirred', target: 30, direction: 'egress' } as const;
      connection.request([
        addQdiscRequest({ link: 10, kind: 'ingress' }),
        addFilterRequest({ link: 10, priority: 1, action }),
        deleteLinkRequest(30),
      ]);
      const [filter] = listFilters(connection, { link: 10 });
      assertContains(filter?.settings?.actions, [{ ...action, target: 0 }]);
      connection.request([deleteQdiscRequest({ link: 10, parent: TC_INGRESS })]);
      assert.deepEqual(kinds(connection, 10), []);
      assert.equal(outcome(connection, deleteFiltersRequest({ link: 10 })), 'EINVAL');
      assert.equal(outcome(connection, deleteQdiscRequest({ link: 10, parent: TC_INGRESS })), 'ENOENT');
      assert.deepEqual(listFilters(connection, { link: 10 }), []);
      assert.deepEqual(listFilters(connection, { link: 999 }), []);
    },
  },
  {
    name: 'clsact has filters for both directions, which match what they are told to',
    run(environment) {
      const connection = prepare(environment);
      const key = { value: 0x0a000001, mask: 0xffffffff, offset: 16 };
      const action = { kind: 'mirred', target: 30, direction: 'egress', mirror: true } as const;
      connection.request([
        addQdiscRequest({ link: 10, kind: 'clsact' }),
        addFilterRequest({
          link: 10,
          parent: CLSACT_EGRESS_FILTERS,
          priority: 1,
          protocol: 0x0800,
          keys: [key],
          action,
        }),
      ]);
      assertContains(listFilters(connection, { link: 10, parent: CLSACT_EGRESS_FILTERS }), [
        { protocol: 0x0800, settings: { keys: [key], actions: [action] } },
      ]);
      assert.deepEqual(listFilters(connection, { link: 10 }), []);
    },
  },
  {
    name: 'classes of an HTB qdisc',
    run(environment) {
      const connection = prepare(environment);
      const root = tcHandle(1);
      const inner = { link: 10, parent: root, handle: tcHandle(1, 1), rate: 100_000_000_000 };
      const leaf = {
        link: 10,
        parent: tcHandle(1, 1),
        handle: tcHandle(1, 0x10),
        rate: 8_000_000,
        ceil: 16_000_000,
        burst: 20_000,
        priority: 3,
      };
      assert.deepEqual(
        outcomes(
          connection,
          addClassRequest(inner),
          addQdiscRequest({ link: 10, kind: 'htb', handle: root, defaultClass: 0x10 }),
          addClassRequest(inner),
          addClassRequest(leaf),
          addClassRequest(leaf),
          deleteClassRequest({ link: 10, handle: tcHandle(1, 0x99) }),
          deleteClassRequest({ link: 10, handle: tcHandle(1, 1) }),
        ),
        ['ENOENT', 'ok', 'ok', 'ok', 'EEXIST', 'ENOENT', 'EBUSY'],
      );
      assertContains(listQdiscs(connection, { link: 10 }), [
        { kind: 'htb', handle: root, parent: TC_ROOT, settings: { kind: 'htb', defaultClass: 0x10 } },
      ]);
      const { parent: _parent, link: _link, handle: _handle, burst: _burst, ...settings } = leaf;
      const classes = listClasses(connection, { link: 10 }).sort((a, b) => a.handle - b.handle);
      assertContains(classes, [
        {
          kind: 'htb',
          handle: inner.handle,
          parent: TC_ROOT,
          settings: { rate: inner.rate, ceil: inner.rate },
        },
        { kind: 'htb', handle: leaf.handle, parent: inner.handle, settings },
      ]);
    },
  },
];
