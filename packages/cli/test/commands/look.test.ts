/** Commands that ask the agent, with one that answers what it is told. */
import { describe, expect, test } from 'vitest';
import type { Trace } from '../../src/api/shapes.js';
import { selectTraces } from '../../src/commands/trace.js';
import { askAgent, run } from '../support.js';

describe('peers', () => {
  const peers = [
    { name: 'n2', ipv4: '192.0.2.2/24', mtu: 1500, blocks: ['10.0.1.0/26'], resources: 1, problems: [] },
    { name: 'n3', ipv6: '2001:db8::3/64', blocks: [], resources: 0, problems: ['MTU_MISMATCH: too large'] },
  ];

  test('a line for each, and what is wrong below', async () => {
    const { code, stdout } = await askAgent({ 'GET /v1/peers': { body: { peers } } }, [
      'peers',
      '-o',
      'wide',
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^n2 +unknown +192\.0\.2\.2\/24 +1500 +10\.0\.1\.0\/26/m);
    expect(stdout).toContain('problem  n3: MTU_MISMATCH: too large');
  });

  test('--problems ends with 4 when there are any', async () => {
    const asked = await askAgent({ 'GET /v1/peers': { body: { peers } } }, [
      'peers',
      '--problems',
      '-o',
      'json',
    ]);
    expect(asked.code).toBe(4);
    expect(JSON.parse(asked.stdout)).toEqual({ peers: [peers[1]] });
    const none = await askAgent({ 'GET /v1/peers': { body: { peers: [peers[0]] } } }, [
      'peers',
      '--problems',
    ]);
    expect(none).toMatchObject({ code: 0, stderr: 'no problems\n' });
  });
});

const endpoint = (name: string, namespace = 'shop') => ({
  key: `net,${name}-id,eth0`,
  containerId: `${name}-id`,
  ifName: 'eth0',
  network: 'default',
  cniNetwork: 'net',
  pod: { namespace, name },
  phase: 'ready',
  addresses: ['10.0.0.1'],
  mac: '02:00:00:00:00:01',
  hostInterface: 'cali1',
  netns: '/run/netns/x',
  portMappings: [{ hostPort: 80, containerPort: 8080, protocol: 'tcp' }],
  createdAt: new Date(0).toISOString(),
});
const endpoints = {
  'GET /v1/endpoints': { body: { endpoints: [endpoint('web'), endpoint('api'), endpoint('dns', 'sys')] } },
};

describe('pods', () => {
  test('are the list of ps, and need the node agent alone', async () => {
    const { stdout, stderr } = await askAgent(endpoints, ['pods'], 5_000);
    expect(stdout.split('\n').map((line) => line.split(/ {3,}/))).toEqual([
      ['POD', 'READY', 'STATE', 'RESTARTS', 'ADDRESSES', 'AGE', 'REASON'],
      ...['shop/api', 'shop/web', 'sys/dns'].map((name) => [
        ...[name, '-', 'attached', expect.stringMatching(/^ *-$/) as string, '10.0.0.1', '5s', '-'],
      ]),
      [''],
    ]);
    expect(stderr).toBe('');
  });

  test('of one namespace, by name, as JSON', async () => {
    expect((await askAgent(endpoints, ['pods', '-n', 'shop', '-o', 'name'])).stdout).toBe(
      'pod/shop/api\npod/shop/web\n',
    );
    const { stdout } = await askAgent(endpoints, ['pods', '-n', 'sys', '-o', 'json']);
    expect(JSON.parse(stdout)).toEqual({ endpoints: [endpoint('dns', 'sys')] });
  });

  test('none', async () => {
    const { code, stdout, stderr } = await askAgent(endpoints, ['pods', '-n', 'other']);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: 'no pods\n' });
  });
});

describe('explain', () => {
  const link = { kind: 'link-up', in: 'host', link: 'cali1' };
  const intact = { ...endpoint('web'), resources: [{ resource: link, state: 'ok' }] };
  const drifted = {
    ...intact,
    resources: [
      ...intact.resources,
      { resource: { ...link, link: 'x' }, state: 'missing', detail: 'no link x' },
    ],
  };

  test.each([
    [['pod/web'], 'web'],
    [['pod/shop/web'], 'shop%2Fweb'],
    [['web', '-n', 'shop'], 'shop%2Fweb'],
    [['shop/web', '-n', 'other'], 'shop%2Fweb'],
    [['node'], 'node'],
  ])('%j asks for %s', async (argv, path) => {
    const { code } = await askAgent({ [`GET /v1/explain/${path}`]: { body: intact } }, ['explain', ...argv]);
    expect(code).toBe(0);
  });

  test('what differs ends with 4 and says what to do', async () => {
    const { code, stdout } = await askAgent({ 'GET /v1/explain/web': { body: drifted } }, ['explain', 'web']);
    expect(code).toBe(4);
    expect(stdout).toMatch(/✓ +node +link cali1 up +as planned/);
    expect(stdout).toMatch(/✗ +node +link x up +missing: no link x/);
    expect(stdout).toContain('1 of 2 differs');
    expect(stdout).toContain('"podwire reconcile" repairs it now');
  });

  test('only the drift', async () => {
    const { stdout } = await askAgent({ 'GET /v1/explain/web': { body: drifted } }, [
      'explain',
      'web',
      '--drift',
    ]);
    expect(stdout).not.toContain('cali1 up');
    expect(stdout).toContain('no link x');
  });

  test('the node itself, and an endpoint under way', async () => {
    const node = { owner: 'node', resources: intact.resources };
    expect(
      (await askAgent({ 'GET /v1/explain/node': { body: node } }, ['explain', 'node'])).stdout,
    ).toContain('the node\n');
    const wiring = { ...drifted, phase: 'wiring' };
    expect(
      (await askAgent({ 'GET /v1/explain/web': { body: wiring } }, ['explain', 'web'])).stdout,
    ).toContain('It is wiring');
  });

  test("an unknown pod is the agent's error", async () => {
    const error = { code: 'ENDPOINT_UNKNOWN', message: 'no endpoint is called x', action: 'Do.' };
    const { code, stderr } = await askAgent({ 'GET /v1/explain/x': { status: 404, body: { error } } }, [
      'explain',
      'x',
    ]);
    expect(code).toBe(1);
    expect(stderr).toBe('error: no endpoint is called x\nwhat to do: Do.\ncode: ENDPOINT_UNKNOWN\n');
  });
});

describe('ipam', () => {
  const ipam = {
    networks: [
      {
        network: 'default',
        pools: [
          {
            name: '10.0.0.0/16',
            cidr: '10.0.0.0/16',
            size: '65536',
            used: 1,
            cooling: 0,
            reserved: '2',
            free: '65533',
            blocks: [],
          },
        ],
        leases: [{ address: 'fd00::1', pool: 'p', owner: 'net,c,eth0', since: '2026-01-01T00:00:00.000Z' }],
        foreign: [{ address: '10.9.9.9', owner: 'net,old,eth0', pod: 'default/b' }],
      },
    ],
  };
  const answers = { 'GET /v1/ipam': { body: ipam } };

  test('pools, and addresses outside of them', async () => {
    const { stdout } = await askAgent(answers, ['ipam', 'show']);
    expect(stdout).toMatch(/^10\.0\.0\.0\/16 +65536 +1 +0 +2 +65533$/m);
    expect(stdout).toContain('outside every pool of this node: 10.9.9.9, default/b\n');
  });

  test.each([
    [
      'fd00:0::0001',
      {
        address: 'fd00::1',
        state: 'used',
        owner: 'net,c,eth0',
        network: 'default',
        since: '2026-01-01T00:00:00.000Z',
      },
    ],
    [
      '10.9.9.9',
      { address: '10.9.9.9', state: 'used', owner: 'net,old,eth0', pod: 'default/b', network: 'default' },
    ],
  ])('who has %s', async (ip, expected) => {
    const { stdout } = await askAgent(answers, ['ipam', 'show', '--ip', ip, '-o', 'json']);
    expect(JSON.parse(stdout)).toEqual(expected);
  });

  test('an unused address can be queried without an allocation', async () => {
    const free = await askAgent({ ...answers, 'POST /v1/plan': { body: {} } }, [
      'ipam',
      'show',
      '--ip',
      '10.0.0.9',
      '-o',
      'json',
    ]);
    expect(JSON.parse(free.stdout)).toEqual({ address: '10.0.0.9', state: 'available', network: 'default' });
    expect(free.asked.at(-1)).toBe('POST /v1/plan {"args":"IP=10.0.0.9","config":{"network":"default"}}');
    const error = { code: 'ADDRESS_NOT_IN_POOL', message: 'reserved' };
    const refused = await askAgent({ ...answers, 'POST /v1/plan': { status: 409, body: { error } } }, [
      'ipam',
      'show',
      '--ip',
      '10.0.0.0',
      '-o',
      'json',
    ]);
    expect(JSON.parse(refused.stdout)).toEqual({
      address: '10.0.0.0',
      state: 'unavailable',
      reason: 'reserved',
    });
  });
});

describe('trace', () => {
  const trace = (id: number, command: string, pod?: string): Trace => ({
    id,
    command,
    ...(pod === undefined ? {} : { pod, endpoint: `net,${pod.split('/')[1]}-id,eth0` }),
    startedAt: 0,
    duration: 1,
    result: 'ok',
    stages: [{ name: 'plan', start: 0, duration: 1 }],
    resources: [],
  });
  const all = [
    trace(1, 'ADD', 'shop/web'),
    trace(2, 'ADD', 'sys/web'),
    trace(3, 'DEL', 'shop/web'),
    trace(4, 'STATUS'),
  ];
  const answers = { 'GET /v1/traces?limit=100000': { body: { traces: all } } };

  test.each([
    ['last', {}, [1, 2, 3]],
    ['last', { verb: 'status' }, [4]],
    ['last', { verb: 'add' }, [1, 2]],
    ['pod/web', {}, [1, 2, 3]],
    ['pod/shop/web', {}, [1, 3]],
    ['web', { namespace: 'sys' }, [2]],
    ['web-id', {}, [1, 2, 3]],
    ['net,web-id,eth0', { verb: 'DEL' }, [3]],
    ['eb', {}, []],
    ['#2', {}, [2]],
  ])('%s %j', (target, options, ids) => {
    expect(selectTraces(all, target, options).map(({ id }) => id)).toEqual(ids);
  });

  test('the latest one as a chart, all of them in lines, and as JSON', async () => {
    expect((await askAgent(answers, ['trace', 'last'])).stdout).toMatch(
      /^DEL shop\/web: ok, 1\.00 ms in the agent \(#3, .*\n\nplan +1\.00 ms +█+\n$/,
    );
    const list = await askAgent(answers, ['trace', 'web', '--list']);
    expect(
      list.stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(':')[0]),
    ).toEqual(['ADD shop/web', 'ADD sys/web', 'DEL shop/web']);
    const json = await askAgent(answers, ['trace', 'pod/shop/web', '-o', 'json']);
    expect(JSON.parse(json.stdout)).toEqual(all[2]);
  });

  test('nothing that is remembered', async () => {
    const { code, stderr } = await askAgent(answers, ['trace', 'pod/unknown', '--verb', 'del']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: the agent remembers no DEL about pod\/unknown\n[^]*TRACE_UNKNOWN\n$/);
  });
});

describe('reconcile', () => {
  test('what was repaired, and what could not be', async () => {
    const report = {
      startedAt: 0,
      duration: 12,
      changes: [
        { owner: 'endpoint:net,a,eth0', pod: 'default/a', action: 'repaired', what: 'redirect r', gap: true },
        { action: 'removed', what: 'link x' },
      ],
      removed: ['net,c,eth0'],
      removedEndpoints: [{ key: 'net,c,eth0', pod: 'default/c' }],
      failures: ['net,d,eth0: busy'],
    };
    const { code, stdout } = await askAgent({ 'POST /v1/reconcile': { body: report } }, ['reconcile']);
    expect(code).toBe(4);
    expect(stdout.split('\n')).toEqual([
      'repaired   redirect r (default/a), with a gap in its traffic',
      'removed    link x (no owner)',
      'removed    endpoint default/c',
      'failure    net,d,eth0: busy',
      '3 changes, 1 failure in 12.0 ms',
      '',
    ]);
  });
});

describe('version', () => {
  test('no agent is no error', async () => {
    const { code, stdout } = await run(['version', '-o', 'json', '--socket', '/nonexistent']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ podwire: '0.1.0', agent: null, node: process.versions.node });
  });

  test('an agent of another version is worth a word', async () => {
    const { stdout } = await askAgent({ 'GET /v1/status': { body: { version: '9.9.9' } } }, ['version']);
    expect(stdout).toContain('agent    9.9.9');
    expect(stdout).toContain('of another version');
  });
});
