import net from 'node:net';
import { describe, expect, test } from 'vitest';
import { request, startTestAgent } from '../fakes/running-agent.js';
import { anyText, containing, matching } from '../fakes/matchers.js';

const started = async (yaml = '') => {
  const running = await startTestAgent({ yaml });
  await running.agent.ready;
  await running.call('ADD', 'c1', {
    runtimeConfig: {
      portMappings: [{ hostPort: 80, containerPort: 8080 }],
      bandwidth: { egressRate: 8_000_000 },
    },
  });
  return running;
};

describe('the API', () => {
  test('health, also before anything else', async () => {
    const { get } = await started();
    expect(await get('/healthz')).toMatchObject({ status: 200, text: 'ok\n' });
    expect(await get('/readyz')).toMatchObject({ status: 200, json: { ready: true } });
  });

  test('status', async () => {
    const { get } = await started();
    const { json } = await get('/v1/status');
    expect(json).toMatchObject({
      node: 'node1',
      version: '1.2.3',
      pid: process.pid,
      ready: true,
      problem: null,
      networks: [
        {
          name: 'default',
          model: 'routed',
          mtu: 1450,
          ipv6: true,
          blocks: ['10.244.0.0/26', 'fd00:244::/122'],
          settings: {},
        },
      ],
      endpoints: { ready: 1, wiring: 0, removing: 0 },
      lastReconcile: { failures: [] },
    });
  });

  test('endpoints: all, and one by key, container, pod or name', async () => {
    const { get } = await started();
    const view = {
      key: 'podwire,c1,eth0',
      containerId: 'c1',
      ifName: 'eth0',
      network: 'default',
      cniNetwork: 'podwire',
      hostInterface: matching(/^cali/),
      pod: { namespace: 'web', name: 'c1' },
      phase: 'ready',
      addresses: ['10.244.0.1', 'fd00:244::1'],
      mac: '06:07:07:07:07:07',
      netns: '/run/netns/c1',
      portMappings: [{ hostPort: 80, containerPort: 8080, protocol: 'tcp' }],
      warnings: [],
      bandwidth: { egressRate: 8_000_000 },
      createdAt: anyText,
    };
    expect((await get('/v1/endpoints')).json).toEqual({ endpoints: [view] });
    for (const name of ['podwire,c1,eth0', 'c1', 'web/c1', 'web%2Fc1']) {
      expect((await get(`/v1/endpoints/${name}`)).json).toMatchObject({
        ...view,
        answer: { cniVersion: '1.1.0' },
      });
    }
  });

  test('a name that means none, or several', async () => {
    const { get, call } = await started();
    await call('ADD', 'c1', { name: 'second' });
    expect(await get('/v1/endpoints/c9')).toMatchObject({
      status: 404,
      json: {
        error: { code: 'ENDPOINT_UNKNOWN', message: containing('c9'), action: containing('`podwire ps`') },
      },
    });
    expect(await get('/v1/endpoints/c1')).toMatchObject({
      status: 400,
      json: { error: { details: { keys: ['podwire,c1,eth0', 'second,c1,eth0'] } } },
    });
  });

  test('addresses', async () => {
    const { get } = await started();
    expect((await get('/v1/ipam')).json).toMatchObject({
      networks: [
        {
          network: 'default',
          pools: [
            { name: '10.244.0.0/16', size: '65536', used: 1, free: '65533' },
            { name: 'fd00:244::/48', size: '1208925819614629174706176', used: 1 },
          ],
          leases: [
            { address: '10.244.0.1', owner: 'podwire,c1,eth0', pod: 'web/c1' },
            { address: 'fd00:244::1', owner: 'podwire,c1,eth0', pod: 'web/c1' },
          ],
          foreign: [],
        },
      ],
    });
  });

  test('traces: the latest, and one with its stages', async () => {
    const { get, call } = await started();
    await call('DEL');
    const { json } = await get('/v1/traces?limit=1');
    expect(json).toMatchObject({ traces: [{ id: 2, command: 'DEL', result: 'ok' }] });
    expect((await get('/v1/traces/1')).json).toMatchObject({
      command: 'ADD',
      result: 'ok',
    });
    expect((await get('/v1/traces/99')).status).toBe(404);
    expect((await get('/v1/traces?limit=x')).status).toBe(400);
  });

  test('explain marks what is adrift', async () => {
    const { get, engine } = await started();
    for (const [identity, { resource }] of engine.present) {
      if (resource.kind === 'nft-element') engine.present.delete(identity);
    }
    const { json } = await get('/v1/explain/web/c1');
    const resources = json['resources'] as { resource: { kind: string }; state: string; detail?: string }[];
    const adrift = resources.filter(({ state }) => state !== 'ok');
    expect(resources.length).toBeGreaterThan(adrift.length + 5);
    expect(
      new Set(adrift.map(({ resource, state, detail }) => `${resource.kind} ${state} ${detail}`)),
    ).toEqual(new Set(['nft-element missing it is not there']));
    expect((await get('/v1/explain/node')).json).toMatchObject({ owner: 'node' });
    expect((await get('/v1/explain/x')).status).toBe(404);
  });

  test('plan says what an ADD would do, and does nothing', async () => {
    const { get, engine, records } = await started(
      'networks: [{ name: n, pools: [{ cidr: 10.1.0.0/24, blockSize: 31 }] }]',
    );
    const before = [...engine.present.keys()];
    const { status, json } = await get('/v1/plan', {
      ifName: 'eth0',
      args: 'K8S_POD_NAMESPACE=web;K8S_POD_NAME=next',
      config: { runtimeConfig: { portMappings: [{ hostPort: 81, containerPort: 80 }] } },
    });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      network: 'n',
      addresses: ['10.1.0.2'],
      answer: { ips: [{ address: '10.1.0.2/32' }] },
    });
    expect(json['node']).toMatchObject([{ kind: 'route', type: 'blackhole', destination: '10.1.0.2/31' }]);
    expect((json['resources'] as { kind: string }[]).map(({ kind }) => kind)).toContain('nft-element');
    expect([...engine.present.keys()]).toEqual(before);
    expect(records.records.size).toBe(1);
    expect((await get('/v1/ipam')).json).toMatchObject({ networks: [{ leases: [{ address: '10.1.0.1' }] }] });
  });

  test.each([
    [
      { config: { runtimeConfig: { portMappings: [{ hostPort: 80, containerPort: 80 }] } } },
      409,
      'PORT_IN_USE',
    ],
    [{ args: 'IP=10.244.0.1' }, 409, 'ADDRESS_IN_USE'],
    [{ config: { network: 'x' } }, 400, 'CONFIG_INVALID'],
    [{ foo: 1 }, 400, 'REQUEST_INVALID'],
    [{ ifName: 'a b' }, 400, undefined],
    ['{', 400, undefined],
  ])('a plan that cannot be: %j', async (body, status, code) => {
    const { get } = await started();
    const answer = await get('/v1/plan', body);
    expect(answer.status).toBe(status);
    expect((answer.json['error'] as { code?: string }).code).toBe(code);
  });

  test('a long list is planned in turns with pods that come, and one that is too long is refused', async () => {
    const { get, call } = await started();
    const list = (length: number) => Array.from({ length }, (_, index) => ({ containerId: `plan${index}` }));
    const ended: string[] = [];
    const planned = get('/v1/plan', list(1_000)).then(({ status }) => ended.push(`plan ${status}`));
    const added = call('ADD', 'c2').then((answer) => ended.push(`ADD ${answer[0]}`));
    await Promise.all([planned, added]);
    expect(ended).toEqual(['ADD 0', 'plan 200']);
    const { status, json } = await get('/v1/plan', list(1_001));
    expect(status).toBe(400);
    expect(json['error']).toMatchObject({ code: 'REQUEST_INVALID', message: matching(/at most 1000/) });
  });

  test('a body that is too large is read, and refused', async () => {
    const { get } = await started();
    expect((await get('/v1/plan', `"${'x'.repeat(1 << 20)}"`)).status).toBe(413);
  });

  test('reconcile now', async () => {
    const { get, engine } = await started();
    engine.present.clear();
    const { status, json } = await get('/v1/reconcile', {});
    expect(status).toBe(200);
    const changes = json['changes'] as { owner?: string; pod?: string }[];
    expect(changes.length).toBeGreaterThan(10);
    // The pod's name beside the key of its endpoint; the node has none.
    const named = changes.filter(({ owner }) => owner?.startsWith('endpoint:') === true);
    expect(new Set(named.map(({ pod }) => pod))).toEqual(new Set(['web/c1']));
    expect(changes.find(({ owner }) => owner === 'node')).not.toHaveProperty('pod');
  });

  test('a failure inside a report is in words', async () => {
    const { get, engine } = await started();
    engine.repairWith = ({ owner }) =>
      Promise.resolve([{ owner, action: 'failed', what: 'link x', error: new Error('EBUSY') }]);
    const { changes } = (await get('/v1/reconcile', {})).json;
    expect(changes).toContainEqual({ owner: 'node', action: 'failed', what: 'link x', error: 'EBUSY' });
  });

  test.each([
    ['/nothing', 404],
    ['/v1/endpoints/%E0%A4%A', 400],
    ['/v1/plan', 404],
  ])('%s is %i', async (path, status) => {
    const { get } = await started();
    expect((await get(path)).status).toBe(status);
  });
});

describe('the loopback listener', () => {
  test('has health and metrics and nothing else', async () => {
    const port = await freePort();
    await started(`metrics: { listen: "127.0.0.1:${port}" }`);
    const at = (path: string) => request({ host: '127.0.0.1', port, path });
    expect((await at('/metrics')).text).toContain('podwire_ready 1');
    expect((await at('/readyz')).status).toBe(200);
    expect((await at('/v1/status')).status).toBe(404);
    expect((await at('/v1/endpoints/c1')).status).toBe(404);
  });

  test('a port that is taken is an error of the configuration, and nothing stays open', async () => {
    const taken = net.createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as net.AddressInfo;
    await expect(startTestAgent({ yaml: `metrics: { listen: "127.0.0.1:${port}" }` })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: containing('metrics.listen'),
    });
    taken.close();
  });
});

async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
