import { describe, expect, test } from 'vitest';
import { createHarness, createReadyHarness, keyOf } from '../fakes/harness.js';
import { containing, matching } from '../fakes/matchers.js';

const k8s = (name: string): string =>
  `IgnoreUnknown=1;K8S_POD_NAMESPACE=web;K8S_POD_NAME=${name};K8S_POD_UID=u1`;

describe('ADD', () => {
  test('wires the pod and answers with what it did', async () => {
    const agent = await createReadyHarness();
    const { ok, json } = await agent.call('ADD', { args: k8s('shop') });
    expect(ok).toBe(true);
    expect(json).toEqual({
      cniVersion: '1.1.0',
      interfaces: [
        { name: matching(/^cali[0-9a-f]{11}$/), mac: 'ee:ee:ee:ee:ee:ee', mtu: 1450 },
        { name: 'eth0', mac: '02:00:00:00:00:01', mtu: 1450, sandbox: '/run/netns/c1' },
      ],
      ips: [
        { interface: 1, address: '10.244.0.1/32' },
        { interface: 1, address: 'fd00:244::1/128' },
      ],
      routes: [
        { dst: '0.0.0.0/0', gw: '169.254.1.1' },
        { dst: '::/0', gw: 'fe80::ecee:eeff:feee:eeee' },
      ],
    });
    expect(agent.context.endpoints.get(keyOf('c1'))).toMatchObject({
      phase: 'ready',
      pod: { namespace: 'web', name: 'shop', uid: 'u1' },
      endpoint: { network: 'default' },
    });
    expect(agent.records.records.get(keyOf('c1'))).toMatchObject({ phase: 'ready', answer: json });
    expect(agent.engine.of(`endpoint:${keyOf('c1')}`).map(({ kind }) => kind)).toContain('veth');
  });

  test('the record stands before the first change, and the block has its route before the pod', async () => {
    const agent = await createReadyHarness();
    const seen: string[] = [];
    agent.engine.between = (point) => {
      if (point.startsWith('apply')) seen.push(`${agent.records.records.get(keyOf('c1'))?.phase} ${point}`);
    };
    await agent.call('ADD');
    expect(new Set(seen.map((line) => line.split(' ')[0]))).toEqual(new Set(['wiring']));
    expect(agent.engine.calls.slice(-2)).toEqual(['apply node', `apply endpoint:${keyOf('c1')}`]);
    expect(agent.engine.of('node')).toContainEqual(
      expect.objectContaining({ kind: 'route', type: 'blackhole', destination: '10.244.0.0/26' }),
    );
    await agent.call('ADD', { id: 'c2' });
    expect(agent.engine.calls.at(-1)).toBe(`apply endpoint:${keyOf('c2')}`);
    expect(agent.engine.calls.at(-2)).toBe(`apply endpoint:${keyOf('c1')}`);
  });

  test.each(['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'])(
    'answers in version %s',
    async (cniVersion) => {
      const agent = await createReadyHarness();
      const { ok, json } = await agent.call('ADD', { config: { cniVersion } });
      expect(ok).toBe(true);
      expect(json['cniVersion']).toBe(cniVersion);
      if (cniVersion < '0.3')
        expect(json).toMatchObject({ ip4: { ip: '10.244.0.1/32' }, ip6: { ip: 'fd00:244::1/128' } });
      else if (cniVersion < '1')
        expect(json).toMatchObject({ ips: [{ version: '4' }, { version: '6' }], dns: {} });
      else
        expect(json).toMatchObject({ ips: [{ address: '10.244.0.1/32' }, { address: 'fd00:244::1/128' }] });
    },
  );

  test('on a node without IPv6 the pod gets IPv4 only', async () => {
    const agent = createHarness();
    agent.world.host = { ...agent.world.host, ipv6: false };
    await agent.recover();
    const { json } = await agent.call('ADD');
    expect(json).toMatchObject({ ips: [{ address: '10.244.0.1/32' }] });
    expect((json['ips'] as unknown[]).length).toBe(1);
  });

  test('resolver settings go into the result in its own words', async () => {
    const agent = await createReadyHarness();
    const dns = { servers: ['10.96.0.10'], searches: ['svc.local'], options: ['ndots:5'] };
    const { json } = await agent.call('ADD', { config: { runtimeConfig: { dns } } });
    expect(json['dns']).toEqual({ nameservers: ['10.96.0.10'], search: ['svc.local'], options: ['ndots:5'] });
  });
});

describe('choosing the network', () => {
  const yaml = `
networks:
- { name: first, pools: [{ cidr: 10.1.0.0/24 }] }
- { name: default, pools: [{ cidr: 10.2.0.0/24 }] }
- { name: blue, pools: [{ cidr: 10.3.0.0/24 }] }
`;
  test.each([
    [{ network: 'first' }, '10.1.0.1/32'],
    [{}, '10.2.0.1/32'],
    [{ name: 'blue' }, '10.3.0.1/32'],
    [{ name: 'blue', network: 'first' }, '10.1.0.1/32'],
  ])('%j', async (config, address) => {
    const agent = await createReadyHarness({ yaml });
    const { json } = await agent.call('ADD', { config });
    expect(json).toMatchObject({ ips: [{ address }] });
  });

  test('without one called default it is the first', async () => {
    const agent = await createReadyHarness({
      yaml: 'networks: [{ name: a, pools: [{ cidr: 10.1.0.0/24 }] }]',
    });
    expect((await agent.call('ADD')).json).toMatchObject({ ips: [{ address: '10.1.0.1/32' }] });
  });

  test('an unknown one is an error that lists the known ones', async () => {
    const agent = await createReadyHarness({ yaml });
    const { ok, json } = await agent.call('ADD', { config: { network: 'green' } });
    expect(ok).toBe(false);
    expect(json).toMatchObject({
      code: 7,
      msg: containing('"green" on this node; configured: first, default, blue'),
    });
  });
});

describe('asking for addresses, pools and a MAC', () => {
  const annotations = (values: Record<string, string>): Record<string, unknown> => ({
    runtimeConfig: { 'io.kubernetes.cri.pod-annotations': values },
  });
  const project = 'cni.projectcalico.org';
  test.each([
    ['the ips capability', { config: { runtimeConfig: { ips: ['10.244.7.7/16'] } } }],
    ['CNI_ARGS', { args: 'IP=10.244.7.7' }],
    ['args.cni.ips', { config: { args: { cni: { ips: ['10.244.7.7'] } } } }],
    ['an annotation of the runtime', { config: annotations({ [`${project}/ipAddrs`]: '["10.244.7.7"]' }) }],
    ['an annotation in CNI_ARGS', { args: `${project}/ipAddrs=["10.244.7.7"]` }],
    ['an annotation in args', { config: { args: { [`${project}/ipAddrs`]: ['10.244.7.7'] } } }],
    [
      'the capability before everything else',
      {
        args: 'IP=10.244.9.9',
        config: { runtimeConfig: { ips: ['10.244.7.7'] }, args: { cni: { ips: ['10.244.8.8'] } } },
      },
    ],
  ])('%s', async (_, call) => {
    const agent = await createReadyHarness();
    const { ok, json } = await agent.call('ADD', call);
    expect(ok).toBe(true);
    expect(json).toMatchObject({ ips: [{ address: '10.244.7.7/32' }, { address: 'fd00:244::1/128' }] });
  });

  test('pools of one family leave the other alone', async () => {
    const yaml = `networks: [{ name: a, pools: [{ cidr: 10.1.0.0/24 }, { cidr: 10.2.0.0/24, name: two }, { cidr: fd00::/64 }] }]`;
    const agent = await createReadyHarness({ yaml });
    const { json } = await agent.call('ADD', {
      config: annotations({ [`${project}/ipv4pools`]: '["two"]' }),
    });
    expect(json).toMatchObject({ ips: [{ address: '10.2.0.1/32' }, { address: 'fd00::1/128' }] });
  });

  test('families by annotation', async () => {
    const agent = await createReadyHarness();
    const { json } = await agent.call('ADD', {
      config: annotations({ [`${project}/ipFamilies`]: '["IPv6"]' }),
    });
    expect(json['ips']).toEqual([{ interface: 1, address: 'fd00:244::1/128' }]);
  });

  test.each([
    ['the mac capability', { config: { runtimeConfig: { mac: 'C2:B0:57:49:47:F1' } } }],
    ['CNI_ARGS', { args: 'MAC=c2-b0-57-49-47-f1' }],
    ['args.cni.mac', { config: { args: { cni: { mac: 'c2:b0:57:49:47:f1' } } } }],
    ['an annotation', { config: annotations({ [`${project}/hwAddr`]: 'c2:b0:57:49:47:f1' }) }],
  ])('a MAC by %s', async (_, call) => {
    const agent = await createReadyHarness();
    const { json } = await agent.call('ADD', call);
    expect(json).toMatchObject({ interfaces: [{}, { mac: 'c2:b0:57:49:47:f1' }] });
  });

  test.each([
    [{ args: 'IP=10.244.7' }, 7, 'CNI_ARGS IP: not an IP address'],
    [{ config: { runtimeConfig: { ips: ['x'] } } }, 7, 'runtimeConfig.ips[0]'],
    [{ config: { args: { cni: { ips: '10.244.0.9' } } } }, 7, 'args.cni.ips: is not JSON'],
    [{ config: { args: { cni: { ips: [4] } } } }, 7, 'args.cni.ips: must be a JSON array of strings'],
    [{ config: annotations({ [`${project}/ipAddrs`]: '["10.0.0.1"' }) }, 7, 'ipAddrs: is not JSON'],
    [{ config: annotations({ [`${project}/ipFamilies`]: '["IPv5"]' }) }, 7, '"IPv5" is neither'],
    [{ config: { runtimeConfig: { ips: ['192.168.0.1'] } } }, 7, 'ADDRESS_NOT_IN_POOL'],
    [{ config: { runtimeConfig: { mac: '01:00:5e:00:00:01' } } }, 7, 'is not a MAC address of a link'],
    [{ args: 'MAC=nonsense' }, 7, 'CNI_ARGS MAC'],
    [
      { config: { runtimeConfig: { portMappings: [{ hostPort: 70000, containerPort: 1 }] } } },
      7,
      'portMappings[0].hostPort',
    ],
    [
      { config: { runtimeConfig: { bandwidth: { ingressRate: 'fast' } } } },
      7,
      'runtimeConfig.bandwidth.ingressRate',
    ],
    [{ config: { runtimeConfig: 'x' } }, 7, 'runtimeConfig: must be an object'],
  ])('refuses %j', async (call, code, message) => {
    const agent = await createReadyHarness();
    const { ok, json } = await agent.call('ADD', call);
    expect(ok).toBe(false);
    expect(json).toMatchObject({ code, msg: containing(message) });
    expect(agent.records.records.size).toBe(0);
    expect(agent.context.networks[0]?.ipam.leases()).toEqual([]);
  });

  test('an address that another pod has', async () => {
    const agent = await createReadyHarness();
    await agent.call('ADD');
    const { json } = await agent.call('ADD', { id: 'c2', args: 'IP=10.244.0.1' });
    expect(json).toMatchObject({ code: 102, msg: containing(keyOf('c1')) });
  });

  test('a limit of 0 is none', async () => {
    const agent = await createReadyHarness();
    const bandwidth = { ingressRate: 0, ingressBurst: 8, egressRate: 1_000_000, egressBurst: 0 };
    await agent.call('ADD', { config: { runtimeConfig: { bandwidth } } });
    expect(agent.context.endpoints.get(keyOf('c1'))?.endpoint.bandwidth).toEqual({ egressRate: 1_000_000 });
  });
});

describe('requests that make no sense', () => {
  test.each([
    [{ environment: { CNI_CONTAINERID: '' } }, 4, 'CNI_CONTAINERID'],
    [{ id: '../c1' }, 4, 'container id'],
    [{ ifName: 'a/b' }, 4, 'interface name'],
    [{ ifName: 'abcdefghijklmnop' }, 4, 'longer than 15'],
    [{ netns: '/run/netns/no.where' }, 3, 'NAMESPACE_GONE'],
    [{ netns: '/run/netns/own' }, 8, 'NAMESPACE_INVALID'],
    [{ config: { name: 'a,b' } }, 7, 'network name'],
    [{ config: { name: '' } }, 7, 'network name is missing'],
    [{ config: { cniVersion: '9.9.9' } }, 1, 'incompatible CNI versions'],
    [{ config: { cniVersion: 4 } }, 6, 'cniVersion'],
    [{ stdin: '' }, 6, 'is empty'],
    [{ stdin: '[]' }, 6, 'must be an object'],
    [{ stdin: '{"name":' }, 6, 'is no JSON'],
    [{ stdin: '['.repeat(50) }, 6, 'deeper than 32 levels'],
    [{ args: 'IP' }, 4, 'CNI_ARGS'],
    [{ config: { prevResult: { cniVersion: '1.1.0', ips: [] } } }, 7, 'must be the first plugin'],
  ])('%j', async (call, code, message) => {
    const agent = await createReadyHarness();
    const { ok, json } = await agent.call('ADD', call);
    expect(ok).toBe(false);
    expect(json).toMatchObject({ cniVersion: '1.1.0', code, msg: containing(message) });
    expect(agent.engine.calls).toEqual(['reconcile']);
  });

  test('an unknown command', async () => {
    const agent = await createReadyHarness();
    expect((await agent.call('JUMP')).json).toMatchObject({ code: 4, msg: 'unknown CNI_COMMAND: JUMP' });
  });

  test('unknown keys are left alone', async () => {
    const agent = await createReadyHarness();
    const config = { x: 1, runtimeConfig: { y: { z: 2 } }, args: { q: 3 }, dns: { nameservers: [] } };
    expect((await agent.call('ADD', { args: 'FOO=bar', config })).ok).toBe(true);
  });

  test('its own namespace when the runtime insists', async () => {
    const agent = await createReadyHarness();
    const call = { netns: '/run/netns/own', environment: { CNI_NETNS_OVERRIDE: '1' } };
    expect((await agent.call('ADD', call)).ok).toBe(true);
  });

  test('an error carries what can be done about it, and the version of the request', async () => {
    const agent = await createReadyHarness();
    const { json } = await agent.call('ADD', { netns: '/run/netns/gone/x', config: { cniVersion: '0.4.0' } });
    expect(json).toMatchObject({ cniVersion: '0.4.0', details: containing('makes a new sandbox') });
  });
});

test('two sandboxes of one pod at once get different links', async () => {
  const agent = await createReadyHarness();
  const first = await agent.call('ADD', { id: 'c1', args: k8s('shop') });
  const second = await agent.call('ADD', { id: 'c2', args: k8s('shop') });
  const linkOf = ({ json }: typeof first): string => (json['interfaces'] as { name: string }[])[0]!.name;
  expect(linkOf(second)).not.toBe(linkOf(first));
  await agent.call('DEL', { id: 'c1' });
  const third = await agent.call('ADD', { id: 'c3', args: k8s('shop') });
  expect(linkOf(third)).toBe(linkOf(first));
});

test('every request is in the log and in the traces, with its stages', async () => {
  const agent = await createReadyHarness();
  await agent.call('ADD', { args: k8s('shop'), environment: { TRACEPARENT: '00-aa-bb-01' } });
  const [trace] = agent.service.traces.list();
  expect(trace).toMatchObject({
    command: 'ADD',
    endpoint: keyOf('c1'),
    pod: 'web/shop',
    parent: '00-aa-bb-01',
    result: 'ok',
  });
  expect(trace?.stages.map(({ name }) => name)).toEqual([
    ...['parse', 'validate', 'lock', 'namespace', 'plan', 'record', 'node', 'apply', 'finish', 'answer'],
  ]);
  expect(trace?.resources.length).toBeGreaterThan(5);
  expect(agent.logged.at(-1)).toMatchObject({
    msg: 'request',
    command: 'ADD',
    pod: 'web/shop',
    result: 'ok',
  });
});
