/** `podwire status`, with an agent that answers what it is told. */
import { describe, expect, test } from 'vitest';
import { askAgent } from '../support.js';

const status = {
  node: 'n1',
  version: '0.1.0',
  pid: 42,
  startedAt: new Date(0).toISOString(),
  ready: true,
  problem: null,
  recordProblems: [],
  networks: [
    {
      name: 'default',
      model: 'sdn',
      pools: [{ name: 'p', cidr: '10.0.0.0/16', natOutgoing: true }],
      blocks: ['10.0.0.0/26'],
      mtu: 1500,
      ipv6: false,
      settings: { mode: 'subnet', datapath: 'netdev' },
    },
  ],
  endpoints: { ready: 3, wiring: 1, removing: 0 },
  connections: 0,
  memory: { rss: 64 << 20 },
  lastReconcile: { startedAt: 60_000, duration: 5, changes: [{}], removed: [], failures: [] },
};
const notReady = { ...status, ready: false, problem: 'no nft' };

describe('status', () => {
  test('what the last reconcile could not do is a problem too, said once and not without end', async () => {
    const failures = ['node: table: no nft', ...Array.from({ length: 12 }, (_, n) => `endpoint:${n}: busy`)];
    const body = { ...status, problem: failures[0], lastReconcile: { ...status.lastReconcile, failures } };
    const { stdout } = await askAgent({ 'GET /v1/status': { body } }, ['status'], 90_000);
    const problems = stdout.split('\n').filter((line) => line.startsWith('problem'));
    expect(problems).toHaveLength(12);
    expect(problems[1]).toBe('problem    endpoint:0: busy');
    expect(problems.at(-1)).toBe('problem    2 more failures of the last reconcile (podwire status -o json)');
  });

  test('ready', async () => {
    const { code, stdout } = await askAgent({ 'GET /v1/status': { body: status } }, ['status'], 90_000);
    expect(code).toBe(0);
    expect(stdout.split('\n')).toEqual([
      'agent on n1: ready',
      'version    0.1.0, process 42, up 90s, 64 MiB resident',
      'endpoints  3 ready, 1 wiring, 0 removing',
      'network    default (sdn): 10.0.0.0/16, 1 block, MTU 1500, mode subnet, datapath netdev, no IPv6 on this node',
      'reconcile  30s ago: 1 change, 0 failures',
      '',
    ]);
  });

  test('a network whose addresses come from a controller has neither pools nor blocks', async () => {
    const network = {
      ...status.networks[0]!,
      model: 'ovn',
      pools: [],
      blocks: [],
      settings: { encapsulation: 'geneve' },
    };
    const body = { ...status, networks: [network] };
    const { stdout } = await askAgent({ 'GET /v1/status': { body } }, ['status'], 90_000);
    expect(stdout).toContain(
      '\nnetwork    default (ovn): MTU 1500, encapsulation geneve, no IPv6 on this node\n',
    );
  });

  test('in a cluster: the store, the node, its peers and what is wrong', async () => {
    const cluster = {
      store: { kind: 'etcd', connected: false, since: new Date(30_000).toISOString() },
      standing: 'away',
      instance: 'x',
      confirmedAt: new Date(60_000).toISOString(),
      fenced: true,
      ...{ underlay: null, tunnel: null, labels: {} },
      holdings: [{ cidr: '10.0.0.0/26', state: 'confirmed' }],
      unreported: 2,
      peers: { count: 7, withProblems: 1, unreachable: null },
      controller: { enabled: true, leading: false },
      problems: ['NODE_STATE_STALE: pod a/b'],
    };
    const { stdout } = await askAgent(
      { 'GET /v1/status': { body: { ...status, cluster } } },
      ['status'],
      90_000,
    );
    expect(stdout.split('\n')).toEqual(
      expect.arrayContaining([
        'agent on n1: ready, cut off from the store',
        'problem    NODE_STATE_STALE: pod a/b',
        'store      etcd, away for 60s, last confirmed 30s ago',
        'cluster    not registered, the store does not answer, hands out nothing: cut off for too long',
        'ipam       1 block or borrowed address, 2 changes not reported yet',
        'peers      7, 1 with problems (podwire peers)',
      ]),
    );
    const { stdout: before } = await askAgent(
      { 'GET /v1/status': { body: { ...status, cluster: { ...cluster, confirmedAt: null } } } },
      ['status'],
      90_000,
    );
    expect(before).toContain('hands out nothing: has not joined yet');
  });

  test('not ready ends with 4 and says why', async () => {
    const { code, stdout } = await askAgent({ 'GET /v1/status': { body: notReady } }, ['status']);
    expect(code).toBe(4);
    expect(stdout).toContain('agent on n1: not ready\nproblem    no nft\n');
  });

  test('as JSON it is what the agent says', async () => {
    const { code, stdout } = await askAgent({ 'GET /v1/status': { body: notReady } }, [
      'status',
      '-o',
      'json',
    ]);
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toEqual(notReady);
  });

  test('waits until it is ready', async () => {
    const answers = { 'GET /v1/status': [{ body: notReady }, { body: notReady }, { body: status }] };
    const { code, asked } = await askAgent(answers, ['status', '--wait']);
    expect(code).toBe(0);
    expect(asked).toHaveLength(3);
  });

  test('waits no longer than it is told', async () => {
    const { code } = await askAgent({ 'GET /v1/status': { body: notReady } }, [
      'status',
      '--wait',
      '--timeout',
      '0.3',
    ]);
    expect(code).toBe(4);
  });

  test('does not wait for what will not change', async () => {
    const refusal = { status: 500, body: { error: { code: 'INTERNAL', message: 'm' } } };
    const { code, asked } = await askAgent({ 'GET /v1/status': refusal }, ['status', '--wait']);
    expect(code).toBe(1);
    expect(asked).toHaveLength(1);
  });
});
