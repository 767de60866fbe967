import net from 'node:net';
import { describe, expect, test } from 'vitest';
import { PodwireError } from '@podwire/errors';
import { type ConfigOrigin, parseConfig } from '../../src/config/index.js';
import { anyText, containing } from '../fakes/matchers.js';
import { request, startTestAgent } from '../fakes/running-agent.js';

/** An agent whose file says `text`, which tests change. */
async function started(text: string) {
  const file = { text };
  const running = await startTestAgent({
    yaml: text,
    origin: (head) => {
      const originOf = (hash: string): ConfigOrigin => ({
        file: '/etc/podwire/agent.yaml',
        hash,
        readAgain: () => ({
          config: parseConfig(`${head}${file.text}`, '/etc/podwire/agent.yaml'),
          origin: originOf(`hash of ${file.text}`),
        }),
      });
      return originOf('first');
    },
  });
  await running.agent.ready;
  const status = async () => (await running.get('/v1/status')).json['configuration'];
  return { ...running, file, status };
}

async function listenAnywhere(): Promise<{ port: number; close: () => Promise<void> }> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  return { port, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

const pool = (cidr: string, more = ''): string =>
  `networks: [{ name: n, pools: [{ cidr: 10.1.0.0/24 }${cidr}] ${more}}]`;

describe('a reload', () => {
  test('says what has changed, and status shows when and what was loaded', async () => {
    const { get, file, status, agent } = await started('limits: { traces: 5 }');
    expect(await status()).toMatchObject({ file: '/etc/podwire/agent.yaml', hash: 'first', waiting: [] });
    file.text = 'limits: { traces: 6 }\ncoolDown: 7s';
    const { json } = await get('/v1/reload', {});
    expect(json).toEqual({
      file: '/etc/podwire/agent.yaml',
      hash: `hash of ${file.text}`,
      loadedAt: anyText,
      applied: ['limits.traces'],
      waiting: [{ path: 'coolDown', reason: 'needs a restart of the agent' }],
      problem: null,
    });
    expect(await status()).toEqual(json);
    expect(agent.configuration.running).toMatchObject({ limits: { traces: 6 }, coolDown: 60_000 });
  });

  test('back to what it was: nothing waits any more', async () => {
    const { get, file } = await started('');
    file.text = 'coolDown: 7s';
    await get('/v1/reload', {});
    file.text = '';
    expect((await get('/v1/reload', {})).json).toMatchObject({ applied: [], waiting: [] });
  });

  test('an invalid file changes nothing; line and column are said', async () => {
    const { get, file, status } = await started('coolDown: 7s');
    file.text = 'coolDown: 8s\nlog: { level: loud }';
    const { status: code, json } = await get('/v1/reload', {});
    expect(code).toBe(400);
    const message = containing('/etc/podwire/agent.yaml:5:8: log.level');
    expect(json).toMatchObject({ error: { code: 'CONFIG_INVALID', message } });
    expect(await status()).toMatchObject({ hash: 'first', problem: message });
  });

  test('pods get addresses of a pool that was added', async () => {
    const { get, file, call } = await started(pool('', ''));
    file.text = pool(', { cidr: 10.2.0.0/24 }').replace('10.1.0.0/24', '10.1.0.0/24, disabled: true');
    await get('/v1/reload', {});
    expect(await call('ADD', 'c1')).toContain('10.2.0.1');
  });

  test('a pool that pods have addresses of stays, and goes when they are gone', async () => {
    const { get, file, call } = await started(pool(', { cidr: 10.2.0.0/24 }'));
    await call('ADD', 'c1');
    file.text = 'networks: [{ name: n, pools: [{ cidr: 10.2.0.0/24 }] }]';
    const path = 'networks[n].pools[10.1.0.0/24]';
    const reason = '1 pod has an address of it; reload again when they are gone';
    expect((await get('/v1/reload', {})).json).toMatchObject({ applied: [], waiting: [{ path, reason }] });
    await call('DEL', 'c1');
    expect((await get('/v1/reload', {})).json).toMatchObject({ applied: [path], waiting: [] });
  });

  test('a new pool that overlaps one that stays is refused, with the reason', async () => {
    const { get, file, call, agent } = await started(pool(', { cidr: 10.2.0.0/24 }'));
    await call('ADD', 'c1');
    file.text = 'networks: [{ name: n, pools: [{ cidr: 10.1.0.0/16 }] }]';
    const { json } = await get('/v1/reload', {});
    expect(json).toMatchObject({ applied: [] });
    expect(JSON.stringify(json['waiting'])).toMatch(/overlaps/);
    expect(agent.configuration.running.networks[0]?.pools).toHaveLength(2);
  });

  test('metrics move; a place that cannot be had leaves them where they are', async () => {
    const taken = await listenAnywhere();
    const free = await listenAnywhere();
    await free.close();
    const { get, file } = await started('');
    file.text = `metrics: { listen: "127.0.0.1:${free.port}" }`;
    expect((await get('/v1/reload', {})).json).toMatchObject({ applied: ['metrics.listen'], waiting: [] });
    expect(await request({ port: free.port, host: '127.0.0.1', path: '/healthz' })).toMatchObject({
      text: 'ok\n',
    });
    file.text = `metrics: { listen: "127.0.0.1:${taken.port}" }`;
    const { json } = await get('/v1/reload', {});
    expect(json).toMatchObject({
      applied: [],
      waiting: [{ path: 'metrics.listen', reason: containing('EADDRINUSE') }],
    });
    expect(await request({ port: free.port, host: '127.0.0.1', path: '/healthz' })).toMatchObject({
      text: 'ok\n',
    });
    await taken.close();
  });

  test('an agent that was started without a file has nothing to load', async () => {
    const { get, agent } = await startTestAgent();
    await agent.ready;
    expect((await get('/v1/reload', {})).json).toMatchObject({ file: null, applied: [], waiting: [] });
  });

  test('the error of a reload is coded', async () => {
    const { agent, file } = await started('');
    file.text = 'nonsense: 1';
    await expect(agent.configuration.reload()).rejects.toBeInstanceOf(PodwireError);
  });
});
