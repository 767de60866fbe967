import fs from 'node:fs';
import path from 'node:path';
import { createTracer, parseTraceparent, type Span } from '@podwire/tracing';
import { afterEach, describe, expect, test } from 'vitest';
import {
  bridge,
  conflist,
  createHarness,
  type Harness,
  type HarnessOptions,
  makePod,
  result,
} from './support/harness.js';

let open: Harness[] = [];
afterEach(async () => {
  for (const harness of open) await harness.close();
  open = [];
});

function harnessOf(options: HarnessOptions = {}): Harness {
  const harness = createHarness(options);
  open.push(harness);
  return harness;
}

/** One with the network `pods` of these plugins. */
async function started(types: readonly (string | object)[] = ['bridge'], options: HarnessOptions = {}) {
  const harness = harnessOf(options);
  harness.write('10-pods.conflist', conflist('pods', types));
  return { harness, network: await harness.start() };
}

test('a pod gets its address, and everything goes with it', async () => {
  const { harness, network } = await started();
  const pod = makePod(harness, 'c1');
  expect(network.status()).toEqual({ ready: true, reason: '', message: '' });
  expect(await network.setUp(pod)).toEqual({ addresses: ['10.0.0.2'], network: 'pods' });
  expect(await network.addresses('c1')).toEqual(['10.0.0.2']);
  expect(harness.loopbacks).toEqual([pod.netns]);
  expect([harness.records(), harness.cached()]).toEqual([['c1'], ['pods-c1-eth0']]);

  await network.tearDown({ ...pod });
  expect(harness.trail()).toEqual(['ADD bridge c1', 'DEL bridge c1']);
  expect([harness.records(), harness.cached()]).toEqual([[], []]);
  expect(await network.addresses('c1')).toBeUndefined();
});

test('arguments and capabilities are those of kubelet, and DEL gets the same', async () => {
  const capabilities = {
    portMappings: true,
    bandwidth: true,
    ipRanges: true,
    dns: true,
    cgroupPath: true,
    'io.kubernetes.cri.pod-annotations': true,
  };
  const { harness, network } = await started([{ type: 'bridge', capabilities }]);
  network.setPodCidrs(['10.1.0.0/24', 'fd00::/64']);
  network.setPodCidrs(['10.9.0.0/24']);
  const annotations = { 'kubernetes.io/ingress-bandwidth': '1M', 'kubernetes.io/egress-bandwidth': '1500k' };
  const pod = makePod(harness, 'c1', {
    annotations,
    portMappings: [
      { hostPort: 8080, containerPort: 80, protocol: 'tcp' },
      { hostPort: 0, containerPort: 81, protocol: 'tcp' },
    ],
    dns: { servers: ['10.0.0.10'], searches: [], options: ['ndots:5'] },
    cgroupParent: '/kubepods/a',
  });
  await network.setUp(pod);
  await network.tearDown({ namespace: 'shop', name: 'c1', sandboxId: 'c1', netns: pod.netns });
  const [add, del] = [...harness.calls('ADD'), ...harness.calls('DEL')];
  expect(add?.env).toMatchObject({
    CNI_ARGS:
      'IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=c1;K8S_POD_INFRA_CONTAINER_ID=c1;K8S_POD_UID=uid-c1',
    CNI_IFNAME: 'eth0',
    CNI_NETNS: pod.netns,
    CNI_CONTAINERID: 'c1',
  });
  expect(add?.env).not.toHaveProperty('TRACEPARENT');
  expect(add?.config['runtimeConfig']).toEqual({
    portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }],
    bandwidth: {
      ...{ ingressRate: 1_000_000, ingressBurst: 2_147_483_647 },
      ...{ egressRate: 1_500_000, egressBurst: 2_147_483_647 },
    },
    ipRanges: [[{ subnet: '10.1.0.0/24' }], [{ subnet: 'fd00::/64' }]],
    dns: { servers: ['10.0.0.10'], options: ['ndots:5'] },
    'io.kubernetes.cri.pod-annotations': annotations,
    cgroupPath: '/kubepods/a',
  });
  expect(del?.env['CNI_ARGS']).toBe(add?.env['CNI_ARGS']);
  expect(del?.config['runtimeConfig']).toEqual(add?.config['runtimeConfig']);
  expect(del?.config['prevResult']).toMatchObject({ ips: [{ address: '10.0.0.2/24' }] });
});

describe('failure', () => {
  const failing = { error: { code: 11, msg: 'no more addresses' }, stderr: 'looked everywhere' };

  test('everything is taken back, and the message has all that is known', async () => {
    const { harness, network } = await started(['bridge', 'second'], {
      plugins: { second: ({ command }) => (command === 'ADD' ? { ...failing, code: 3 } : undefined) },
    });
    const pod = makePod(harness, 'c1');
    await expect(network.setUp(pod)).rejects.toMatchObject({
      code: 'NETWORK_ATTACH_FAILED',
      message:
        'pod shop/c1 could not be attached: plugin second failed to ADD: no more addresses (exit status 3, stderr: looked everywhere)',
    });
    expect(harness.trail()).toEqual(['ADD bridge c1', 'ADD second c1', 'DEL second c1', 'DEL bridge c1']);
    expect([harness.records(), harness.cached()]).toEqual([[], []]);
    await network.tearDown(pod);
    expect(harness.trail()).toHaveLength(4);
  });

  test('what cannot be taken back is told of, kept, and taken off by the next tearDown', async () => {
    let broken = true;
    const { harness, network } = await started(['bridge', 'second'], {
      plugins: {
        second: ({ command }) => (command === 'ADD' ? failing : undefined),
        bridge: (call) =>
          call.command === 'DEL' && broken
            ? { code: 2, stderr: 'busy' }
            : (bridge as (c: typeof call) => object)(call),
      },
    });
    const pod = makePod(harness, 'c1');
    await expect(network.setUp(pod)).rejects.toThrow(
      /second failed to ADD: no more addresses \(stderr: looked everywhere\); undoing it failed too; plugin bridge failed to DEL: exit status 2: busy$/,
    );
    expect(harness.records()).toEqual(['c1']);
    // An ADD that never finished keeps no pod from being deleted.
    await network.tearDown(pod);
    expect(harness.records()).toEqual(['c1']);
    await expect(network.setUp(pod)).rejects.toThrow(/cannot be taken off yet/);
    broken = false;
    await network.tearDown(pod);
    expect(harness.records()).toEqual([]);
    expect(harness.calls('DEL').at(-1)?.config).toMatchObject({ name: 'pods', type: 'bridge' });
  });

  test('a failed DEL keeps everything for another attempt', async () => {
    let broken = true;
    const { harness, network } = await started(['bridge'], {
      plugins: {
        bridge: (call) =>
          call.command === 'DEL' && broken
            ? { code: 2, stderr: 'busy' }
            : (bridge as (c: typeof call) => object)(call),
      },
    });
    const pod = makePod(harness, 'c1');
    await network.setUp(pod);
    await expect(network.tearDown(pod)).rejects.toMatchObject({
      code: 'NETWORK_DETACH_FAILED',
      message: 'network pods could not detach pod shop/c1: plugin bridge failed to DEL: exit status 2: busy',
    });
    expect([harness.records(), harness.cached()]).toEqual([['c1'], ['pods-c1-eth0']]);
    expect(await network.addresses('c1')).toEqual(['10.0.0.2']);
    broken = false;
    await network.tearDown(pod);
    expect([harness.records(), harness.cached()]).toEqual([[], []]);
  });

  test('a namespace that is not there', async () => {
    const { harness, network } = await started();
    const pod = makePod(harness, 'c1');
    harness.namespaces.clear();
    await expect(network.setUp(pod)).rejects.toThrow('there is no network namespace at /run/netns/c1');
    expect([harness.trail(), harness.records()]).toEqual([[], []]);
  });

  test('lo that does not come up', async () => {
    const { harness, network } = await started(['bridge'], {
      system: {
        bringLoopbackUp: () => {
          throw new Error('EPERM');
        },
      },
    });
    await expect(network.setUp(makePod(harness, 'c1'))).rejects.toThrow(/EPERM/);
    expect([harness.trail(), harness.records()]).toEqual([[], []]);
  });

  test('an unusable rate fails the pod only where a plugin shapes traffic', async () => {
    const annotations = { 'kubernetes.io/ingress-bandwidth': 'fast' };
    const shaped = await started([{ type: 'bridge', capabilities: { bandwidth: true } }]);
    await expect(shaped.network.setUp(makePod(shaped.harness, 'c1', { annotations }))).rejects.toThrow(
      'annotation kubernetes.io/ingress-bandwidth must be a quantity in bits per second such as 10M, is "fast"',
    );
    const plain = await started();
    await plain.network.setUp(makePod(plain.harness, 'c1', { annotations }));
  });

  test('the caller gives up: the plugin is ended, and DEL has a deadline of its own', async () => {
    let begun: () => void = () => undefined;
    const adding = new Promise<void>((resolve) => (begun = resolve));
    const { harness, network } = await started(['hanging'], {
      plugins: {
        hanging: ({ command }) => {
          if (command !== 'ADD') return undefined;
          begun();
          return new Promise(() => undefined);
        },
      },
    });
    const abort = new AbortController();
    const done = network.setUp(makePod(harness, 'c1'), { signal: abort.signal });
    await adding;
    abort.abort(new Error('the client went away'));
    await expect(done).rejects.toThrow(
      /plugin hanging failed to ADD: it was ended, since .*the client went away/,
    );
    expect(harness.trail()).toEqual(['ADD hanging c1', 'DEL hanging c1']);
    expect(harness.records()).toEqual([]);
  });

  test('the deadline passes', async () => {
    const harness = harnessOf({
      plugins: { hanging: ({ command }) => (command === 'ADD' ? new Promise(() => undefined) : undefined) },
    });
    harness.write('1.conflist', conflist('pods', ['hanging']));
    const network = await harness.start({ timeoutMs: 30 });
    await expect(network.setUp(makePod(harness, 'c1'))).rejects.toThrow(/deadline of 30 ms/);
    expect(harness.trail()).toEqual(['ADD hanging c1', 'DEL hanging c1']);
  });

  test('records that cannot be written: nothing is begun', async () => {
    const { harness, network } = await started();
    fs.mkdirSync(harness.state, { recursive: true });
    fs.writeFileSync(path.join(harness.state, 'sandboxes'), 'in the way');
    await expect(network.setUp(makePod(harness, 'c1'))).rejects.toMatchObject({
      code: 'NETWORK_ATTACH_FAILED',
    });
    expect(harness.trail()).toEqual([]);
  });
});

describe('tearDown', () => {
  test('needs no configuration', async () => {
    const { harness, network } = await started();
    const pod = makePod(harness, 'c1');
    await network.setUp(pod);
    fs.rmSync(harness.config, { recursive: true });
    await network.tearDown(pod);
    expect(harness.trail()).toEqual(['ADD bridge c1', 'DEL bridge c1']);
  });

  test('of another life of the process, without a name', async () => {
    const { harness, network } = await started();
    const pod = makePod(harness, 'c1');
    await network.setUp(pod);
    await network.close();
    fs.rmSync(path.join(harness.config, '10-pods.conflist'));
    const next = await harness.start();
    expect(next.status()).toMatchObject({ ready: false, reason: 'NetworkPluginNotReady' });
    expect(await next.addresses('c1')).toEqual(['10.0.0.2']);
    await next.tearDown({ namespace: '', name: '', sandboxId: 'c1' });
    expect(harness.calls('DEL')[0]?.env).toMatchObject({ CNI_NETNS: pod.netns });
    expect([harness.records(), harness.cached()]).toEqual([[], []]);
  });

  test('a namespace that is gone, or is another one by now, is left out', async () => {
    const { harness, network } = await started();
    const [one, two] = [makePod(harness, 'c1'), makePod(harness, 'c2')];
    await network.setUp(one);
    await network.setUp(two);
    harness.namespaces.delete(one.netns);
    harness.namespaces.set(two.netns, 'another pod');
    await network.tearDown(one);
    await network.tearDown(two);
    expect(harness.calls('DEL').map(({ env }) => env['CNI_NETNS'])).toEqual(['', '']);
  });

  test('a namespace that goes away under the hands of the plugin', async () => {
    const { harness, network } = await started(['bridge'], {
      plugins: {
        bridge: (call) => {
          if (call.command === 'ADD') return { result: result() };
          if (call.env['CNI_NETNS'] === '') return undefined;
          harness.namespaces.clear();
          return { error: { code: 999, msg: 'no such file or directory' } };
        },
      },
    });
    const pod = makePod(harness, 'c1');
    await network.setUp(pod);
    await network.tearDown(pod);
    expect(harness.trail()).toEqual(['ADD bridge c1', 'DEL bridge c1', 'DEL bridge c1']);
    expect(harness.records()).toEqual([]);
  });

  test('a cached result that is empty after a power loss', async () => {
    const { harness, network } = await started();
    const pod = makePod(harness, 'c1');
    await network.setUp(pod);
    fs.truncateSync(path.join(harness.state, 'cache/results/pods-c1-eth0'));
    await network.tearDown(pod);
    expect(harness.trail()).toEqual(['ADD bridge c1', 'DEL bridge c1']);
    expect([harness.records(), harness.cached()]).toEqual([[], []]);
  });

  test('a record that is empty after a power loss', async () => {
    const { harness, network } = await started();
    const pod = makePod(harness, 'c1');
    await network.setUp(pod);
    fs.truncateSync(path.join(harness.state, 'sandboxes/c1.json'));
    await network.tearDown(pod);
    expect(harness.trail()).toEqual(['ADD bridge c1', 'DEL bridge c1']);
    expect([harness.records(), harness.cached()]).toEqual([[], []]);
  });
});

test('loopback as a plugin: before the network, undone after it, and a failure there holds nothing up', async () => {
  const harness = harnessOf({
    plugins: { loopback: ({ command }) => (command === 'DEL' ? { code: 1, stderr: 'no' } : undefined) },
  });
  harness.write('1.conflist', conflist('pods', ['bridge']));
  const network = await harness.start({ loopback: 'plugin' });
  const pod = makePod(harness, 'c1');
  await network.setUp(pod);
  expect(harness.calls('ADD')[0]?.env).toMatchObject({ CNI_IFNAME: 'lo' });
  await network.tearDown(pod);
  expect(harness.trail()).toEqual(['ADD loopback c1', 'ADD bridge c1', 'DEL loopback c1', 'DEL bridge c1']);
  expect(harness.loopbacks).toEqual([]);
  expect(harness.records()).toEqual([]);
});

test('each plugin call is a span below the caller’s, and the plugin is told of it', async () => {
  const spans: Span[] = [];
  const tracer = createTracer({ onEnd: (span) => spans.push(span) });
  const harness = harnessOf({
    plugins: {
      second: ({ command }) => (command === 'ADD' ? { error: { code: 7, msg: 'bad' } } : undefined),
    },
  });
  harness.write('1.conflist', conflist('pods', ['bridge', 'second']));
  const network = await harness.start({ tracer });
  const parent = tracer.start('RunPodSandbox');
  await expect(network.setUp(makePod(harness, 'c1'), { parent: parent.context })).rejects.toThrow();
  expect(spans.map(({ name, error }) => [name, error])).toEqual([
    ['bring lo up', undefined],
    ['cni ADD bridge', undefined],
    ['cni ADD second', 'bad'],
    ['cni DEL second', undefined],
    ['cni DEL bridge', undefined],
  ]);
  for (const span of spans)
    expect(span).toMatchObject({ ...parent.context, parentId: parent.context.spanId, spanId: span.spanId });
  expect(spans[2]?.attributes).toMatchObject({
    'cni.container': 'c1',
    'cni.interface': 'eth0',
    'cni.exit': 1,
  });
  const told = [...harness.calls('ADD'), ...harness.calls('DEL')].map(
    ({ env }) => parseTraceparent(env['TRACEPARENT'])?.spanId,
  );
  expect(told).toEqual(spans.slice(1).map(({ spanId }) => spanId));
});

test('every call is in the log and counted', async () => {
  const { harness, network } = await started(['bridge'], {
    plugins: {
      bridge: ({ command }) =>
        command === 'ADD' ? { result: result(), stderr: 'took the last one\n' } : { code: 4, stderr: 'no' },
    },
  });
  const pod = makePod(harness, 'c1');
  await network.setUp(pod);
  await expect(network.tearDown(pod)).rejects.toThrow();
  expect(
    harness.log.filter(({ message }) => message.startsWith('CNI plugin') && message !== ''),
  ).toMatchObject([
    { level: 'debug', plugin: 'bridge', command: 'VERSION', exit: 0 },
    {
      level: 'info',
      plugin: 'bridge',
      command: 'ADD',
      exit: 0,
      containerId: 'c1',
      network: 'pods',
      stderr: 'took the last one',
    },
    { level: 'warn', plugin: 'bridge', command: 'DEL', exit: 4, stderr: 'no', message: 'CNI plugin failed' },
  ]);
  expect(network.counters()).toMatchObject([
    { plugin: 'bridge', command: 'VERSION', outcome: 'ok', count: 1 },
    { plugin: 'bridge', command: 'ADD', outcome: 'ok', count: 1 },
    { plugin: 'bridge', command: 'DEL', outcome: 'failed', count: 1 },
  ]);
});
