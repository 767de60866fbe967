import { describe, expect, test, vi } from 'vitest';
import { PodwireError } from '@podwire/errors';
import { FakeEngine } from '../fakes/fake-engine.js';
import { createHarness, createReadyHarness, keyOf } from '../fakes/harness.js';
import { anyText, containing, matching } from '../fakes/matchers.js';

const portMappings = [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }];
const k8s = (name: string): string =>
  `IgnoreUnknown=1;K8S_POD_NAMESPACE=web;K8S_POD_NAME=${name};K8S_POD_UID=u1`;

describe('an ADD that comes twice', () => {
  test('gets the same answer, and nothing is done', async () => {
    const agent = await createReadyHarness();
    const call = {
      config: { runtimeConfig: { portMappings, bandwidth: { ingressRate: 8000, ingressBurst: 8000 } } },
    };
    const first = await agent.call('ADD', call);
    const calls = agent.engine.calls.length;
    const second = await agent.call('ADD', call);
    expect(first.ok && second.ok).toBe(true);
    expect(second.body).toBe(first.body);
    expect(agent.engine.calls.length).toBe(calls);
  });

  test('may ask in another version', async () => {
    const agent = await createReadyHarness();
    await agent.call('ADD');
    expect((await agent.call('ADD', { config: { cniVersion: '0.2.0' } })).json).toMatchObject({
      ip4: { ip: '10.244.0.1/32' },
    });
  });

  test.each([
    [{ netns: '/run/netns/other' }, 'another network namespace'],
    [{ args: 'IP=10.244.0.9' }, 'does not have the address 10.244.0.9'],
    [{ args: 'MAC=02:02:02:02:02:02' }, 'its MAC address is'],
    [{ config: { runtimeConfig: { portMappings } } }, 'its host ports are others'],
    [{ config: { runtimeConfig: { bandwidth: { ingressRate: 8 } } } }, 'its bandwidth limits are others'],
  ])('with %j is an error', async (call, message) => {
    const agent = await createReadyHarness();
    await agent.call('ADD');
    const { ok, json } = await agent.call('ADD', call);
    expect(ok).toBe(false);
    expect(json).toMatchObject({ code: 4, msg: matching(`ENDPOINT_EXISTS: .*${message}`) });
    expect(agent.context.endpoints.get(keyOf('c1'))?.phase).toBe('ready');
  });

  test('replaces what is left of a pod whose namespace is gone', async () => {
    const agent = await createReadyHarness();
    await agent.call('ADD');
    agent.namespaces.set('/run/netns/c1', 77);
    const { ok, json } = await agent.call('ADD');
    expect(ok).toBe(true);
    expect(json).toMatchObject({ ips: [{ address: '10.244.0.2/32' }, {}] });
    expect(agent.engine.calls).toContain(`remove endpoint:${keyOf('c1')}`);
  });

  test('finishes a removal that had failed, then adds', async () => {
    const agent = await createReadyHarness();
    await agent.call('ADD');
    agent.engine.between = (point) => {
      if (point === 'remove veth') throw new PodwireError('REMOVE_INCOMPLETE', 'no');
    };
    expect((await agent.call('DEL')).ok).toBe(false);
    agent.engine.between = () => undefined;
    expect((await agent.call('ADD')).ok).toBe(true);
    expect(agent.context.endpoints.get(keyOf('c1'))?.phase).toBe('ready');
  });
});

describe('host ports', () => {
  const withPort = (mapping: object) => ({ config: { runtimeConfig: { portMappings: [mapping] } } });

  test('a port that another pod has is an error that names the pod', async () => {
    const agent = await createReadyHarness();
    await agent.call('ADD', { args: k8s('shop'), ...withPort(portMappings[0]!) });
    const { json } = await agent.call('ADD', {
      id: 'c2',
      ...withPort({ ...portMappings[0], hostIP: '192.0.2.7' }),
    });
    expect(json).toMatchObject({
      code: 103,
      msg: matching(/tcp 192\.0\.2\.7:8080 is taken by pod web\/shop/),
    });
    // Nothing was spent on the attempt: the next pod gets the next address.
    expect((await agent.call('ADD', { id: 'c3' })).json).toMatchObject({
      ips: [{ address: '10.244.0.2/32' }, {}],
    });
  });

  test.each([
    [{ hostPort: 8080, containerPort: 80, protocol: 'udp' }],
    [{ hostPort: 8081, containerPort: 80, protocol: 'tcp' }],
  ])('%j is free beside it', async (mapping) => {
    const agent = await createReadyHarness();
    await agent.call('ADD', withPort(portMappings[0]!));
    expect((await agent.call('ADD', { id: 'c2', ...withPort(mapping) })).ok).toBe(true);
  });

  test('one address each is no conflict, and DEL frees the port', async () => {
    const agent = await createReadyHarness();
    const at = (hostIP: string) => withPort({ ...portMappings[0], hostIP });
    await agent.call('ADD', at('192.0.2.1'));
    expect((await agent.call('ADD', { id: 'c2', ...at('192.0.2.2') })).ok).toBe(true);
    await agent.call('DEL');
    await agent.call('DEL', { id: 'c2' });
    expect((await agent.call('ADD', { id: 'c3', ...withPort(portMappings[0]!) })).ok).toBe(true);
  });
});

describe('an ADD that fails on the way', () => {
  const nothingLeft = (agent: Awaited<ReturnType<typeof createReadyHarness>>): void => {
    expect(agent.engine.of(`endpoint:${keyOf('c1')}`)).toEqual([]);
    expect(agent.records.records.size).toBe(0);
    expect(agent.context.endpoints.size).toBe(0);
    expect(agent.context.networks[0]?.ipam.leases()).toEqual([]);
  };

  test('in the kernel', async () => {
    const agent = await createReadyHarness();
    agent.engine.between = (point) => {
      if (point === 'apply route') throw new PodwireError('KERNEL_REFUSED', 'route 10.0.0.0/8: EINVAL');
    };
    const { json } = await agent.call('ADD');
    expect(json).toMatchObject({ code: 104, msg: containing('EINVAL') });
    nothingLeft(agent);
  });

  test('because the disk is full', async () => {
    const agent = await createReadyHarness();
    agent.records.failing = new Set(['write']);
    expect((await agent.call('ADD')).json).toMatchObject({ code: 5, msg: containing('ENOSPC') });
    expect(agent.engine.calls).toEqual(['reconcile']);
    agent.records.failing = new Set();
    nothingLeft(agent);
  });

  test('because the record cannot be advanced', async () => {
    const agent = await createReadyHarness();
    agent.engine.between = () => {
      agent.records.failing = new Set(['advance']);
    };
    expect((await agent.call('ADD')).json).toMatchObject({ code: 5 });
    // It cannot even be marked as going; the next reconcile finds it half wired and removes it.
    expect(agent.context.endpoints.get(keyOf('c1'))?.phase).toBe('wiring');
    agent.engine.between = () => undefined;
    agent.records.failing = new Set();
    await agent.reconciler.run();
    nothingLeft(agent);
  });

  test('with its deadline', async () => {
    const engine = new FakeEngine();
    const agent = await createReadyHarness({ engine, yaml: 'deadlines: { request: 100ms }' });
    engine.between = (point) =>
      point === 'apply address' ? new Promise((resolve) => setTimeout(resolve, 150)) : undefined;
    expect((await agent.call('ADD')).json).toMatchObject({
      code: 11,
      msg: containing('DEADLINE_EXCEEDED'),
    });
    nothingLeft(agent);
  });

  test('when the engine cannot go all the way back, the endpoint waits for its removal', async () => {
    const agent = await createReadyHarness();
    agent.engine.between = (point) => {
      if (point === 'apply route') throw new PodwireError('REMOVE_INCOMPLETE', 'and the way back failed');
    };
    expect((await agent.call('ADD')).json).toMatchObject({ code: 105 });
    expect(agent.context.endpoints.get(keyOf('c1'))?.phase).toBe('removing');
    expect(agent.context.networks[0]?.ipam.leases()).toHaveLength(2);
    agent.engine.between = () => undefined;
    expect((await agent.call('DEL')).ok).toBe(true);
    nothingLeft(agent);
  });

  test('because the client is gone', async () => {
    const agent = await createReadyHarness();
    const answer = vi.fn().mockRejectedValue(new Error('EPIPE'));
    await agent.call('ADD', { answer });
    nothingLeft(agent);
    expect(agent.engine.calls.at(-1)).toBe(`remove endpoint:${keyOf('c1')}`);
  });

  test('but an endpoint that was there before stays when the client is gone', async () => {
    const agent = await createReadyHarness();
    await agent.call('ADD');
    await agent.call('ADD', { answer: () => Promise.reject(new Error('EPIPE')) });
    expect(agent.context.endpoints.get(keyOf('c1'))?.phase).toBe('ready');
  });

  test('while the node is not ready', async () => {
    const agent = createHarness();
    const { json } = await agent.call('ADD');
    expect(json).toMatchObject({ code: 11, msg: containing('AGENT_NOT_READY') });
  });

  test('because the pool is full', async () => {
    const yaml = 'networks: [{ name: small, pools: [{ cidr: 10.1.0.0/30 }] }]';
    const agent = await createReadyHarness({ yaml });
    for (const id of ['c1', 'c2']) expect((await agent.call('ADD', { id })).ok).toBe(true);
    const { json } = await agent.call('ADD', { id: 'c3' });
    expect(json).toMatchObject({ code: 11, msg: matching(/POOL_EXHAUSTED: .*10\.1\.0\.0\/30/) });
  });

  test('because of a defect', async () => {
    const agent = await createReadyHarness();
    agent.engine.between = () => {
      throw new TypeError('x is not a function');
    };
    const { json } = await agent.call('ADD');
    expect(json).toMatchObject({ code: 999, msg: containing('x is not a function') });
    expect(agent.logged.at(-1)).toMatchObject({ level: 'warn', err: { stack: anyText } });
    nothingLeft(agent);
  });
});
