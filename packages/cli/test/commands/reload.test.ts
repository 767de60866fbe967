import { describe, expect, test } from 'vitest';
import { askAgent, type FakeAnswer, type Run } from '../support.js';

const reload = async (answer: FakeAnswer, ...more: string[]): Promise<Run> =>
  askAgent({ 'POST /v1/reload': answer }, ['config', 'reload', ...more], 3_000);

const view = {
  file: '/etc/podwire/agent.yaml',
  hash: '0123456789abcdef',
  loadedAt: new Date(0).toISOString(),
  applied: ['log.level'],
  waiting: [] as { path: string; reason: string }[],
  problem: null,
};

describe('config reload', () => {
  test('says what has changed', async () => {
    const { code, stdout } = await reload({ body: view });
    expect(code).toBe(0);
    expect(stdout).toBe('/etc/podwire/agent.yaml, loaded 3s ago, sha256 0123456789ab\nchanged  log.level\n');
  });

  test('ends with 4 when something waits, and names it', async () => {
    const waiting = [{ path: 'socket', reason: 'needs a restart of the agent' }];
    const { code, stdout } = await reload({ body: { ...view, waiting } });
    expect(code).toBe(4);
    expect(stdout).toMatch(/\nwaiting {2}socket: needs a restart of the agent\n$/);
  });

  test('nothing has changed', async () => {
    const { stdout } = await reload({ body: { ...view, applied: [] } });
    expect(stdout).toMatch(/\nnothing has changed\n$/);
  });

  test('an invalid file fails with its line', async () => {
    const error = { code: 'CONFIG_INVALID', message: '/etc/podwire/agent.yaml:3:1: log.level: no' };
    const { code, stderr } = await reload({ status: 400, body: { error } });
    expect(code).toBe(1);
    expect(stderr).toContain('agent.yaml:3:1');
  });

  test('JSON is what the agent says', async () => {
    const { stdout } = await reload({ body: view }, '-o', 'json');
    expect(JSON.parse(stdout)).toEqual(view);
  });
});

test('status shows what is loaded, what waits and what was refused', async () => {
  const status = {
    ...{
      node: 'n1',
      version: '0.1.0',
      pid: 1,
      startedAt: new Date(0).toISOString(),
      ready: true,
      problem: null,
    },
    ...{ recordProblems: [], networks: [], endpoints: { ready: 0, wiring: 0, removing: 0 }, connections: 0 },
    ...{ memory: { rss: 0 }, lastReconcile: null },
    configuration: { ...view, waiting: [{ path: 'socket', reason: 'r' }], problem: 'a.yaml:1:1: bad' },
  };
  const { stdout } = await askAgent({ 'GET /v1/status': { body: status } }, ['status'], 3_000);
  expect(stdout).toContain(
    [
      'config     /etc/podwire/agent.yaml, loaded 3s ago, sha256 0123456789ab',
      'refused    a.yaml:1:1: bad',
      'waiting    socket: r\n',
    ].join('\n'),
  );
});
