import { describe, expect, test } from 'vitest';
import type { ClusterShown, NodeShown } from '@podwire/cluster-ipam/operations';
import type { ConnectivityReport, ProbeResult } from '@podwire/testbed';
import type { Trace } from '../src/answers.js';
import { History, mostDrifts, mostPoints } from '../src/history.js';
import { lostNodes, viewErrors } from '../src/view/errors.js';
import { buildView, findChange } from '../src/view/index.js';
import { mostParties, viewMatrix } from '../src/view/matrix.js';
import { viewNodes } from '../src/view/nodes.js';
import { viewPath } from '../src/view/path.js';
import { viewPeers } from '../src/view/peers.js';
import { viewPods } from '../src/view/pods.js';
import { viewPools } from '../src/view/pools.js';
import { spansOfRequest, viewWaterfall } from '../src/view/waterfall.js';
import { answersOf, endpointOf, statusOf, wording } from './support.js';

const stored = (changes: Partial<NodeShown>): NodeShown => ({
  ...{
    name: 'n1',
    state: 'ready',
    addresses: { ipv4: '192.0.2.1/24' },
    labels: {},
    blocks: ['10.244.0.0/26'],
  },
  ...{ borrowed: ['10.244.9.9/32'], inUse: 7 },
  ...changes,
});

describe('nodes', () => {
  test('an agent that is ready is good; what is wrong beside is a reason', () => {
    const [row] = viewNodes([answersOf({ status: statusOf({ problems: ['BGP_REFUSED: no'] }) })], undefined);
    expect(row).toMatchObject({
      name: 'n1',
      level: 'busy',
      state: 'ready',
      reasons: ['BGP_REFUSED: no'],
      lease: null,
    });
  });

  test('an agent that does not answer keeps what the store knows of it', () => {
    const answers = answersOf({ status: undefined, failure: 'no agent answers' });
    const [row] = viewNodes([answers], [stored({ state: 'unreachable', since: 5 })]);
    expect(row).toMatchObject({
      level: 'bad',
      state: 'no answer',
      reasons: ['no agent answers'],
      blocks: 1,
      borrowed: 1,
    });
    expect(row?.lease).toMatchObject({ level: 'bad', state: 'unreachable', since: 5 });
  });

  test('of a node that was cut off the others know that it is unreachable', () => {
    const cluster = {
      ...{
        standing: 'registered',
        fenced: false,
        confirmedAt: null,
        controller: { leading: false },
        problems: [],
      },
      ...{ store: { kind: 'etcd', connected: false, since: '2026-11-23T08:00:00Z' }, holdings: [] },
    } as never;
    const answers = [answersOf({ status: statusOf({ cluster }) })];
    expect(viewNodes(answers, undefined)[0]?.lease).toMatchObject({ level: 'bad', state: 'store away' });
    const [row] = viewNodes(answers, [stored({ state: 'unreachable', since: 7 })]);
    expect(row?.lease).toMatchObject({ level: 'bad', state: 'unreachable', since: 7 });
  });

  test('nodes that only the store knows are there too, in order of their numbers', () => {
    const rows = viewNodes(
      [answersOf({ name: 'n2' })],
      [stored({ name: 'n10' }), stored({ name: 'n9', state: 'unregistered' })],
    );
    expect(rows.map(({ name, level }) => [name, level])).toEqual([
      ['n2', 'good'],
      ['n9', 'unknown'],
      ['n10', 'good'],
    ]);
  });

  test('the median of the ADDs that went well', () => {
    const add = (duration: number, result = 'ok'): Trace => {
      return { ...traceOf(), duration, result };
    };
    const [row] = viewNodes(
      [answersOf({ traces: [add(3), add(1), add(2), add(900, 'POOL_EXHAUSTED')] })],
      undefined,
    );
    expect(row?.adds).toEqual({ count: 3, median: 2, slowest: 3 });
  });
});

const traceOf = (changes: Partial<Trace> = {}): Trace => ({
  ...{ id: 1, command: 'ADD', endpoint: 'podwire,abc,eth0', pod: 'shop/web', startedAt: 1_000, duration: 2 },
  ...{ result: 'ok', stages: [], resources: [] },
  ...changes,
});

describe('pods', () => {
  const pod = {
    ...{
      namespace: 'shop',
      name: 'web',
      uid: 'u1',
      source: 'file',
      stage: 'running',
      sandboxId: 'abc',
      events: [],
    },
    containers: [],
    status: {
      ...{ phase: 'Running', conditions: [], podIPs: [{ ip: '10.244.0.5' }], initContainerStatuses: [] },
      containerStatuses: [
        { name: 'a', ready: true, restartCount: 2 },
        { name: 'b', ready: false, restartCount: 1 },
      ],
    },
  };

  test('a pod of the pod agent has the endpoint of its sandbox', () => {
    const rows = viewPods([answersOf({ pods: [pod as never], endpoints: [endpointOf()] })], wording);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      state: 'Running',
      ready: '1/2',
      restarts: 3,
      hostLink: 'cali0123',
      network: 'default',
    });
  });

  test('endpoints of other runtimes are pods too', () => {
    const rows = viewPods([answersOf({ pods: [], endpoints: [endpointOf({ phase: 'wiring' })] })], wording);
    expect(rows[0]).toMatchObject({
      namespace: 'shop',
      name: 'web',
      state: 'Connecting',
      level: 'busy',
      ready: '',
    });
  });

  test('an endpoint without a name is called after its container', () => {
    const [row] = viewPods(
      [answersOf({ endpoints: [endpointOf({ pod: {}, containerId: 'f'.repeat(64) })] })],
      wording,
    );
    expect(row?.name).toBe('f'.repeat(12));
  });
});

describe('pools', () => {
  const pool = (used: number, cidr: string) => ({
    ...{
      name: 'ipv4',
      cidr: '10.244.0.0/16',
      size: '65536',
      used,
      cooling: 1,
      reserved: '2',
      free: `${65_534 - used - 1}`,
    },
    blocks: [{ cidr, used, free: 63 - used, cooling: 1, reserved: 0 }],
  });
  const ipamOf = (used: number, cidr: string) => ({
    networks: [{ network: 'default', pools: [pool(used, cidr)] }],
  });

  test('without a store the nodes add up', () => {
    const answers = [
      answersOf({ ipam: ipamOf(3, '10.244.0.0/26') }),
      answersOf({ name: 'n2', ipam: ipamOf(4, '10.244.1.0/26') }),
    ];
    const rows = viewPools(answers, undefined, new Map());
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ used: 7, cooling: 2, free: '65525', inBlocks: 128 });
    expect(rows[0]?.blocks.map(({ node, used }) => [node, used])).toEqual([
      ['n1', 3],
      ['n2', 4],
    ]);
  });

  test('with a store it is asked, and a pool of IPv6 has more than a number holds', () => {
    const shown: ClusterShown = {
      pools: [
        {
          ...{
            name: 'six',
            network: 'default',
            cidr: 'fd00::/48',
            total: String(1n << 80n),
            inUse: 5,
            reserved: '0',
          },
          ...{ free: String((1n << 80n) - 5n), lent: 1, configuration: { disabled: true } as never },
          blocks: [{ cidr: 'fd00::/122', state: 'confirmed', size: 64, inUse: 5, lent: 1 } as never],
        },
      ],
      ...{ loans: [], outside: 0 },
    };
    const [row] = viewPools([answersOf({ ipam: ipamOf(9, '10.244.0.0/26') })], shown, new Map());
    expect(row).toMatchObject({
      name: 'six',
      state: 'disabled',
      used: 5,
      lent: 1,
      total: '1208925819614629174706176',
    });
    expect(row?.blocks[0]).toMatchObject({ node: '', used: 5 });
  });
});

describe('errors', () => {
  test('a failed request has its code, and what to do', () => {
    const traces = [1, 2, 3].map((id) =>
      traceOf({ id, startedAt: id, result: 'POOL_EXHAUSTED', error: 'POOL_EXHAUSTED: none is free' }),
    );
    const [row, ...others] = viewErrors([answersOf({ traces })]);
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      at: 3,
      count: 3,
      code: 'POOL_EXHAUSTED',
      message: 'ADD: none is free',
      subject: 'shop/web',
    });
    expect(row?.action).toMatch(/\w/);
  });

  test('what is wrong now comes first, and is said once', () => {
    const status = statusOf({
      ready: false,
      problem: 'STORE_UNAVAILABLE: away',
      problems: ['STORE_UNAVAILABLE: away'],
    });
    const rows = viewErrors([answersOf({ status, traces: [traceOf({ result: 'CNI_7', error: 'no' })] })]);
    expect(rows.map(({ at, code, message }) => [at, code, message])).toEqual([
      [null, 'STORE_UNAVAILABLE', 'away'],
      [1_000, 'CNI_7', 'ADD: no'],
    ]);
  });
});

test('a node that the cluster has lost is an error, since when it is', () => {
  const rows = viewNodes(
    [],
    [stored({ name: 'n4', state: 'unreachable', since: 7 }), stored({ name: 'n5' })],
  );
  expect(viewErrors([], lostNodes(rows))).toMatchObject([{ at: 7, node: 'n4', subject: 'lease' }]);
});

describe('the matrix', () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `default/p${index}`);
  function reportOf(
    parties: readonly string[],
    fails: (result: ProbeResult) => boolean = () => false,
  ): ConnectivityReport {
    const results = parties.flatMap((from) =>
      parties
        .filter((to) => to !== from)
        .flatMap((to) =>
          (['tcp', 'udp'] as const).map((kind): ProbeResult => {
            const result = {
              kind,
              from,
              to,
              family: 4 as const,
              address: '10.0.0.1',
              ok: true,
              milliseconds: 2,
            };
            return fails(result) ? { ...result, ok: false, words: 'no answer' } : result;
          }),
        ),
    );
    const all = parties.map((name) => ({ name, kind: 'pod' as const, addresses: {} }));
    return { ok: results.every(({ ok }) => ok), parties: all, results, milliseconds: 5 };
  }

  test('counts the probes of each pair and says what failed', () => {
    const report = reportOf(['a', 'b'], ({ from, kind }) => from === 'b' && kind === 'udp');
    const matrix = viewMatrix({ ...report, at: 9 });
    expect(matrix).toMatchObject({ at: 9, ok: false, good: 3, all: 4, columns: ['a', 'b'], more: 0 });
    expect(matrix?.rows[0]?.cells).toEqual([null, { good: 2, all: 2, time: 2, problem: '' }]);
    expect(matrix?.rows[1]?.cells).toEqual([
      { good: 1, all: 2, time: 2, problem: 'IPv4 udp: no answer' },
      null,
    ]);
  });

  test('of many participants those that fail are shown', () => {
    const all = names(mostParties + 10);
    const last = all.at(-1)!;
    const matrix = viewMatrix({ ...reportOf(all, ({ from, to }) => from === last && to === all[0]), at: 0 });
    expect(matrix?.columns).toHaveLength(mostParties);
    expect(matrix?.columns).toContain(last);
    expect(matrix?.more).toBe(10);
  });
});

test('a path that is not as planned says at which hop', () => {
  const explained = [
    { resource: { kind: 'veth' }, state: 'ok' },
    { resource: { kind: 'route', in: 'node' }, state: 'missing' },
    { resource: { kind: 'address', in: 'pod' }, state: 'ok' },
  ] as never[];
  const steps = viewPath(endpointOf(), explained, statusOf(), wording);
  expect(steps.map(({ title, level }) => [title, level])).toEqual([
    ['eth0', 'good'],
    ['cali0123', 'good'],
    ['routes', 'bad'],
    ['uplink', 'unknown'],
  ]);
});

test('peers with problems are bad', () => {
  const peer = {
    name: 'n2',
    ipv4: '192.0.2.2',
    blocks: ['10.244.1.0/26'],
    resources: 3,
    reachable: true,
    unreachableSince: null,
    problems: ['PEER_UNREACHABLE: x'],
  };
  const dead = { ...peer, problems: [], reachable: false, unreachableSince: '2026-01-01T00:00:00Z' };
  expect(viewPeers([answersOf({ peers: [dead] })])[0]).toMatchObject({
    level: 'bad',
    problems: ['unreachable: it holds no lease in the store'],
  });
  expect(viewPeers([answersOf({ peers: [peer] })])[0]).toMatchObject({
    node: 'n1',
    peer: 'n2',
    level: 'bad',
    path: 'direct',
  });
});

test('resources of one call to the kernel are one row of the waterfall', () => {
  const span = (kind: string, batch: number, start: number) =>
    ({ resource: { kind }, action: 'apply', start, duration: 0.2, batch }) as never;
  const trace = traceOf({
    duration: 2,
    stages: [{ name: 'apply', start: 0.5, duration: 1 }],
    resources: [span('veth', 0, 0.5), span('route', 1, 0.8), span('route', 1, 1), span('address', 1, 1.2)],
  });
  const rows = viewWaterfall(spansOfRequest(trace, wording))?.rows;
  expect(rows?.map(({ name, depth, start }) => [name, depth, Math.round(start * 10) / 10])).toEqual([
    ['agent ADD', 0, 0],
    ['apply', 1, 0.5],
    ['apply veth x', 2, 0.5],
    ['2 route, address', 2, 0.8],
  ]);
});

describe('history', () => {
  test('a point of a trend every five seconds, and no more than fit', () => {
    const history = new History();
    for (let at = 0; at <= 1_000_000; at += 1_000)
      history.notePools(at, [{ network: 'n', name: 'p', used: at }]);
    const points = history.trends.get('n/p')!;
    expect(points).toHaveLength(mostPoints);
    expect(points.at(-1)).toEqual({ at: 1_000_000, used: 1_000_000 });
    history.notePools(2_000_000, []);
    expect(history.trends.size).toBe(0);
  });

  test('a reconcile is noted once, by the pod it was for', () => {
    const history = new History();
    const change = { owner: 'endpoint:podwire,abc,eth0', action: 'repaired', what: 'route 10.244.0.5/32' };
    const lastReconcile = { startedAt: 5, changes: [change], removed: [], failures: [] };
    const answers = [answersOf({ status: statusOf({ lastReconcile }), endpoints: [endpointOf()] })];
    history.noteDrift(answers);
    history.noteDrift(answers);
    expect(history.drifts).toEqual([
      { at: 5, node: 'n1', action: 'repaired', what: change.what, owner: 'shop/web', detail: '' },
    ]);
  });

  test('repairs after an event of the kernel are noted once, with who changed it', () => {
    const history = new History();
    const entry = (second: number, what: string) => {
      return { at: `2026-11-23T08:00:0${second}Z`, owner: 'shop/web', what, action: 'repaired', by: 'ip' };
    };
    const tell = (...last: ReturnType<typeof entry>[]): void =>
      history.noteDrift([answersOf({ status: statusOf({ drift: { last } }) })]);
    tell(entry(1, 'route a'));
    tell(entry(2, 'route b'), entry(1, 'route a'));
    expect(history.drifts.map(({ what, detail }) => [what, detail])).toEqual([
      ['route b', 'by ip'],
      ['route a', 'by ip'],
    ]);
  });

  test('a node that drifts all the time does not fill the memory', () => {
    const history = new History();
    for (let startedAt = 1; startedAt < 1_000; startedAt += 1) {
      const changes = [{ action: 'repaired', what: `route ${startedAt}` }];
      const lastReconcile = { startedAt, changes, removed: [], failures: [] };
      history.noteDrift([answersOf({ status: statusOf({ lastReconcile }) })]);
    }
    expect(history.drifts).toHaveLength(mostDrifts);
    expect(history.drifts[0]?.at).toBe(999);
  });
});

test('only what differs is a change', () => {
  const round = {
    title: 't',
    cluster: undefined,
    clusterFailure: '',
    report: undefined,
    trends: new Map(),
    drifts: [],
  };
  const before = buildView({ ...round, answers: [answersOf()] }, wording);
  expect(findChange(before, buildView({ ...round, answers: [answersOf()] }, wording))).toBeUndefined();
  const after = buildView({ ...round, answers: [answersOf({ endpoints: [endpointOf()] })] }, wording);
  expect(Object.keys(findChange(before, after)!)).toEqual(['nodes', 'pods']);
});
