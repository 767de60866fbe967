/** Output of `peers` and `status` about a node that holds no lease in the store. */
import { expect, test } from 'vitest';
import { askAgent, type Run } from '../support.js';

const ask = async (path: string, body: object, argv: readonly string[]): Promise<Run> =>
  askAgent({ [`GET ${path}`]: { body } }, argv, 90_000);

const since = new Date(65_000).toISOString();

const status = {
  node: 'n1',
  version: '0.1.0',
  pid: 42,
  startedAt: new Date(0).toISOString(),
  ready: true,
  problem: null,
  recordProblems: [],
  networks: [],
  endpoints: { ready: 3, wiring: 1, removing: 0 },
  connections: 0,
  memory: { rss: 64 << 20 },
  lastReconcile: { startedAt: 60_000, duration: 5, changes: [{}], removed: [], failures: [] },
};

test('peers: without a lease it is unreachable, which is a problem; what the store does not tell is unknown', async () => {
  const peer = { ipv4: '192.0.2.2/24', mtu: 1500, blocks: [], resources: 1, problems: [] };
  const body = {
    peers: [
      { ...peer, name: 'n2', reachable: false, unreachableSince: since },
      { ...peer, name: 'n3', reachable: true, unreachableSince: null },
      { ...peer, name: 'n4', reachable: null, unreachableSince: null },
    ],
  };
  const { code, stdout } = await ask('/v1/peers', body, ['peers']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^n2 +unreachable 25s /m);
  expect(stdout).toMatch(/^n3 +ready /m);
  expect(stdout).toMatch(/^n4 +unknown /m);
  const asked = await ask('/v1/peers', body, ['peers', '--problems', '-o', 'name']);
  expect(asked).toMatchObject({ code: 4, stdout: 'n2\n' });
});

test('status: the nodes that hold no lease, four of them by name', async () => {
  const gone = ['n2', 'n3', 'n4', 'n5', 'n6'].map((name) => ({ name, since }));
  const render = async (unreachable?: readonly object[]): Promise<string> => {
    const cluster = {
      ...{ standing: 'registered', instance: 'x', confirmedAt: since, fenced: false, holdings: [] },
      ...{ unreported: 0, controller: { enabled: true, leading: false }, problems: [] },
      store: { kind: 'etcd', connected: true, since },
      peers: { count: 7, withProblems: 0, unreachable },
    };
    const { stdout } = await ask('/v1/status', { ...status, cluster }, ['status']);
    return stdout.replaceAll(/\n +/g, ' ');
  };
  expect(await render(gone.slice(0, 1))).toContain('registered, 1 of 8 nodes unreachable: n2 (25s)\n');
  expect(await render(gone)).toContain(
    '5 of 8 nodes unreachable: n2 (25s), n3 (25s), n4 (25s), n5 (25s), 1 more\n',
  );
  expect(await render()).not.toContain('unreachable');
});
