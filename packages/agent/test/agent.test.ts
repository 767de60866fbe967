import { describe, expect, test } from 'vitest';
import { FakeEngine } from './fakes/fake-engine.js';
import { createReadyHarness } from './fakes/harness.js';
import { encodeCall, startTestAgent } from './fakes/running-agent.js';
import { connect } from './fakes/sockets.js';
import { containing } from './fakes/matchers.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the life of an agent', () => {
  test('serves, stops, and leaves the network of pods alone', async () => {
    const { agent, call, engine, records } = await startTestAgent();
    await agent.ready;
    expect(await call('ADD')).toMatch(/^0\{"cniVersion":"1\.1\.0"/);
    expect(await call('CHECK')).toMatch(/^1\{.*"code":7/);
    const before = engine.present.size;
    await agent.stop();
    expect(engine.closed).toBe(true);
    expect(engine.present.size).toBe(before);
    expect(records.records.size).toBe(1);
    await expect(call('ADD', 'c2')).rejects.toThrow(/ENOENT|ECONNREFUSED/);
  });

  test('lets requests wait while it recovers', async () => {
    const engine = new FakeEngine();
    let go = (): void => undefined;
    const recovered = new Promise<void>((resolve) => (go = resolve));
    engine.between = (point) => (point === 'reconcile' ? recovered : undefined);
    const { agent, call, get } = await startTestAgent({ engine });
    const adding = call('ADD');
    await turn();
    expect(await call('STATUS')).toMatch(/^1\{.*"code":50/);
    expect((await get('/readyz')).status).toBe(503);
    expect(engine.calls).toEqual(['reconcile']);
    go();
    await agent.ready;
    expect(await adding).toMatch(/^0\{/);
    expect(await call('STATUS')).toBe('0');
  });

  test('finishes running requests when it is asked to stop', async () => {
    const { agent, call, engine } = await startTestAgent();
    await agent.ready;
    let go = (): void => undefined;
    const wired = new Promise<void>((resolve) => (go = resolve));
    const entered = new Promise<void>((resolve) => {
      engine.between = (point) => {
        if (point !== 'apply veth') return undefined;
        resolve();
        return wired;
      };
    });
    const adding = call('ADD');
    await entered;
    const stopped = agent.stop();
    await turn();
    expect(engine.closed).toBe(false);
    go();
    expect(await adding).toMatch(/^0\{/);
    await stopped;
    expect(engine.closed).toBe(true);
  });

  test('does not start beside another one', async () => {
    const { agent, socket } = await startTestAgent();
    await agent.ready;
    const engine = new FakeEngine();
    await expect(startTestAgent({ engine, socket })).rejects.toMatchObject({ code: 'AGENT_RUNNING' });
    expect(engine.calls).toEqual([]);
  });
});

describe('metrics', () => {
  test('count and time requests, and show pools and endpoints', async () => {
    const { agent, call, get } = await startTestAgent();
    await agent.ready;
    await call('ADD');
    await call('ADD', 'c2', { network: 'nowhere' });
    await call('JUMP');
    const { status, type, text } = await get('/metrics');
    expect([status, type]).toEqual([200, containing('text/plain')]);
    const lines = text.split('\n');
    for (const line of [
      'podwire_requests_total{command="ADD",result="ok"} 1',
      'podwire_requests_total{command="ADD",result="CONFIG_INVALID"} 1',
      'podwire_requests_total{command="unknown",result="CNI_4"} 1',
      'podwire_requests_in_flight 0',
      'podwire_request_duration_seconds_count{command="ADD"} 2',
      'podwire_stage_duration_seconds_count{command="ADD",stage="apply"} 1',
      'podwire_ready 1',
      'podwire_endpoints{network="default",phase="ready"} 1',
      'podwire_pool_addresses{network="default",pool="10.244.0.0/16",state="used"} 1',
      'podwire_pool_addresses{network="default",pool="10.244.0.0/16",state="free"} 65533',
      'podwire_reconcile_duration_seconds_count{result="ok"} 1',
      `podwire_build_info{version="1.2.3",node_version="${process.version}"} 1`,
    ]) {
      expect(lines).toContain(line);
    }
    expect(text).toMatch(/^podwire_event_loop_lag_seconds [\d.e-]+$/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d{7,}$/m);
    expect(text).toMatch(/^process_cpu_seconds_total [\d.]+$/m);
  });
});

test('a plugin that was killed in the middle of its call is no defect of the agent', async () => {
  const { agent, get, socket } = await startTestAgent();
  await agent.ready;
  const plugin = await connect(socket);
  plugin.end(encodeCall('ADD', 'c1', {}), () => plugin.destroy());
  const metrics = async (): Promise<string> => (await get('/metrics')).text;
  await expect.poll(metrics).toContain('podwire_requests_total{command="ADD",result="CALLER_GONE"} 1');
  expect(await metrics()).not.toContain('INTERNAL');
});

test('a pool that is gone is gone from the metrics', async () => {
  const { context, service } = await createReadyHarness();
  const [network] = context.networks;
  const { pools, view } = network!;
  expect((await service.metrics.render()).text).toContain('pool="10.244.0.0/16"');
  network!.setPools(pools.slice(1), view.pools.slice(1));
  const scrape = async (): Promise<string> => (await service.metrics.render()).text;
  expect(await scrape()).toContain('pool="fd00:244::/48"');
  expect(await scrape()).not.toContain('pool="10.244.0.0/16"');
});
