import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PodwireError } from '@podwire/errors';
import { checkConfig, formatProblem, loadConfig, parseConfig } from '../../src/config/index.js';
import { containing, matching } from '../fakes/matchers.js';

const problemsOf = (text: string): string[] =>
  checkConfig(text).problems.map((problem) => formatProblem('f', problem));

describe('a configuration that can be used', () => {
  test('an empty file gives the defaults', () => {
    const config = parseConfig('');
    expect(config).toMatchObject({
      nodeName: os.hostname(),
      socket: '/run/podwire/cni.sock',
      apiSocket: '/run/podwire/api.sock',
      stateDir: '/run/podwire',
      coolDown: 60_000,
      reconcileInterval: 120_000,
      metrics: {},
      log: { level: 'info' },
      deadlines: { request: 10_000, receive: 2_000, reconcile: 60_000, stop: 10_000 },
    });
    expect(config.networks).toEqual([
      {
        name: 'default',
        model: 'routed',
        natOutgoing: true,
        pools: [
          {
            name: '10.244.0.0/16',
            cidr: '10.244.0.0/16',
            blockSize: 26,
            reserved: [],
            disabled: false,
            allocation: 'blocks',
          },
          {
            name: 'fd00:244::/48',
            cidr: 'fd00:244::/48',
            blockSize: 122,
            reserved: [],
            disabled: false,
            allocation: 'blocks',
          },
        ],
      },
    ]);
  });

  test.each(['# only a comment\n', '---\n', '{}', 'null'])('%j is empty too', (text) => {
    expect(parseConfig(text)).toEqual(parseConfig(''));
  });

  test('the documented example', () => {
    const config = parseConfig(`
nodeName: node1
socket: /run/podwire/cni.sock
stateDir: /run/podwire
networks:
  - name: default
    model: routed
    pools: [{ cidr: 10.244.0.0/16, blockSize: 26 }, { cidr: fd00:244::/48, blockSize: 122 }]
    natOutgoing: true
`);
    expect(config.nodeName).toBe('node1');
    expect(config.networks[0]?.pools.map(({ cidr, blockSize }) => [cidr, blockSize])).toEqual([
      ['10.244.0.0/16', 26],
      ['fd00:244::/48', 122],
    ]);
  });

  test('every key', () => {
    const config = parseConfig(`
apiSocket: /tmp/x/../api.sock
coolDown: 5m
reconcileInterval: 90s
metrics: { listen: "[::1]:9464" }
log: { level: debug }
deadlines: { request: 500ms, receive: 1s, reconcile: 2m, stop: 0s }
limits: { connections: 5, traces: 0 }
networks:
  - name: a
    mtu: 1400
    natOutgoing: false
    pools:
      - { cidr: 10.0.0.0/24, name: web, reserved: [10.0.0.0/28, 10.0.0.77], disabled: true, natOutgoing: true }
      - { cidr: 10.1.0.0/30 }
`);
    expect(config).toMatchObject({
      apiSocket: '/tmp/api.sock',
      coolDown: 300_000,
      reconcileInterval: 90_000,
      metrics: { listen: { host: '::1', port: 9464 } },
      deadlines: { request: 500, receive: 1_000, reconcile: 120_000, stop: 0 },
      limits: { connections: 5, traces: 0 },
    });
    expect(config.networks[0]).toMatchObject({ mtu: 1400, natOutgoing: false });
    expect(config.networks[0]?.pools).toMatchObject([
      {
        name: 'web',
        blockSize: 26,
        disabled: true,
        natOutgoing: true,
        reserved: ['10.0.0.0/28', '10.0.0.77'],
      },
      { name: '10.1.0.0/30', blockSize: 30 },
    ]);
  });

  test('JSON is YAML', () => {
    expect(parseConfig('{"nodeName":"n"}').nodeName).toBe('n');
  });
});

describe('a configuration that cannot be used', () => {
  test.each([
    ['nodName: x', ['f:1:1: nodName: unknown key; did you mean nodeName?']],
    ['zzz: 1', [matching(/^f:1:1: zzz: unknown key; known here: nodeName, socket, /)]],
    ['log: { levle: info }', ['f:1:8: log.levle: unknown key; did you mean level?']],
    ['nodeName: 4', ['f:1:1: nodeName: must be a text, is 4']],
    ['nodeName: a/b', [containing('must begin with a letter or digit')]],
    ['socket: run/x', ['f:1:1: socket: must be an absolute path']],
    [`socket: /${'x'.repeat(107)}`, [containing('at most 107 bytes')]],
    ['coolDown: 5', ['f:1:1: coolDown: must be a duration such as 500ms, 30s or 5m']],
    ['coolDown: 5 minutes', ['f:1:1: coolDown: must be a duration such as 500ms, 30s or 5m']],
    ['reconcileInterval: 1ms', ['f:1:1: reconcileInterval: must lie between 1s and 24h']],
    ['metrics: { listen: 0.0.0.0:9464 }', [containing('metrics.listen: must be a loopback address')]],
    ['metrics: { listen: "127.0.0.1:99999" }', [containing('metrics.listen: must be a loopback')]],
    ['log: { level: loud }', [containing('log.level: ')]],
    ['log: 3', [containing('f:1:1: log: ')]],
    ['networks: []', [containing('networks: ')]],
    ['networks: [{ name: a }]', [containing('f:1:12: networks[0].pools: ')]],
    ['- a', [containing('f:1:1: ')]],
    [
      'a: b: c',
      ['f:1:4: a second colon in one line: indent the next line less, or put the value into quotes'],
    ],
    [
      'log: {level: loud}',
      ['f:1:7: log.level: must be trace or debug or info or warn or error or fatal, is "loud"'],
    ],
    ['limits: {traces: -1}', ['f:1:10: limits.traces: must be at least 0, is -1']],
    ['networks: []', ['f:1:1: networks: must have at least 1 entry, is an empty list']],
    ['nodeName: a\nnodeName: b', [matching(/^f:2:1: this key stands in its map already$/)]],
  ])('%j', (text, expected) => {
    expect(problemsOf(text)).toEqual(expected);
  });

  const pools = (...list: string[]): string =>
    `networks:\n- name: a\n  pools:\n${list.map((p) => `  - ${p}\n`).join('')}`;
  test.each([
    [['{ cidr: 10.0.0.1/8 }'], /^f:4:7: networks\[0\]\.pools\[0\]\.cidr: 10\.0\.0\.1\/8 has bits set beyond/],
    [['{ cidr: fast }'], /^f:4:7: networks\[0\]\.pools\[0\]\.cidr: not a prefix/],
    [['{ cidr: 10.0.0.0/24, blockSize: 16 }'], /pools\[0\]\.blockSize: /],
    [
      ['{ cidr: 10.0.0.0/24, reserved: [10.0.0.1, 11.0.0.0/8] }'],
      /^f:4:47: .*reserved\[1\]: 11\.0\.0\.0\/8 is not in/,
    ],
    [
      ['{ cidr: 10.0.0.0/24 }', '{ cidr: 10.0.0.0/25 }'],
      /^f:5:7: networks\[0\]\.pools\[1\]\.cidr: 10\.0\.0\.0\/25 overlaps/,
    ],
    [
      ['{ cidr: 10.0.0.0/24, name: x }', '{ cidr: 10.0.1.0/24, name: x }'],
      /pools\[1\]\.name: "x" is the name/,
    ],
    [['{ cidr: 127.0.0.0/8 }'], /loopback/],
  ])('pools %j', (list, expected) => {
    expect(problemsOf(pools(...list))).toEqual([matching(expected)]);
  });

  test.each([
    ['sdn', 'objects give nodes their subnets'],
    ['ovn', 'controller gives pods their addresses'],
  ])('networks of the model %s need a cluster, whose %s', (name, reason) => {
    expect(problemsOf(`networks: [{ name: a, model: ${name} }]`)).toContainEqual(
      containing(`networks[0].model: networks of model ${name} need \`cluster\`, whose ${reason}`),
    );
  });

  test('pools of two networks must not overlap, and names must differ', () => {
    const text = `networks:
- { name: a, pools: [{ cidr: 10.0.0.0/8 }] }
- { name: a, pools: [{ cidr: 10.1.0.0/16 }] }
`;
    expect(problemsOf(text)).toEqual([
      'f:3:5: networks[1].name: a second network named a',
      containing('networks[1].pools[0].cidr: 10.1.0.0/16 overlaps 10.0.0.0/8'),
    ]);
  });

  test('everything is said at once, in the order of the file', () => {
    const found = problemsOf(
      'socket: x\nlog: { level: 1 }\nnetworks:\n- name: a\n  pools: [{ cidr: 1 }]\nfoo: 1\n',
    );
    expect(found.map((line) => line.split(':')[1])).toEqual(['1', '2', '5', '6']);
  });

  test('the error lists all problems, each with its place', () => {
    const attempt = (): unknown => parseConfig('a: 1\nb: 2\n', '/etc/podwire.yaml');
    expect(attempt).toThrow(PodwireError);
    expect(attempt).toThrow(/^\/etc\/podwire\.yaml:1:1: a: .*\n\/etc\/podwire\.yaml:2:1: b: /);
  });

  test('aliases do not unfold without end', () => {
    const lines = ['a: &a [x,x,x,x,x,x,x,x,x,x]'];
    for (let i = 1; i < 9; i++) {
      const from = String.fromCharCode(96 + i);
      const to = String.fromCharCode(97 + i);
      lines.push(`${to}: &${to} [${Array.from({ length: 10 }, () => `*${from}`).join(',')}]`);
    }
    expect(problemsOf(lines.join('\n'))).toEqual([containing('alias')]);
  });

  test('property: any text gives a configuration or problems, never another error', () => {
    const key = fc.constantFrom('nodeName', 'socket', 'networks', 'log', 'pools', 'cidr', 'x', '- name');
    const line = fc.tuple(
      fc.constantFrom('', '  ', '- '),
      key,
      fc.constantFrom(':', ': [', ': {', ''),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(line), (parts) => {
        const check = checkConfig(parts.map((part) => part.join('')).join('\n'));
        expect('config' in check || check.problems.length > 0).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

describe('files', () => {
  test('a file is read, and named in problems', () => {
    const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-config-')), 'agent.yaml');
    fs.writeFileSync(file, 'nodeName: from-file');
    expect(loadConfig(file).nodeName).toBe('from-file');
    fs.rmSync(path.dirname(file), { recursive: true });
    expect(() => loadConfig(file)).toThrow(/cannot read the configuration: .*ENOENT/);
  });
});

describe('a node of a cluster', () => {
  const etcd = 'store: { kind: etcd, endpoints: [http://127.0.0.1:2379] }';

  test('has a network without pools, and defaults', () => {
    const { networks, cluster } = parseConfig(`cluster: { ${etcd} }`, 'f');
    expect(networks).toMatchObject([{ name: 'default', pools: [] }]);
    expect(cluster).toEqual({
      store: { kind: 'etcd', endpoints: ['http://127.0.0.1:2379'] },
      root: '/podwire',
      labels: {},
      lease: 30_000,
      vanishAfter: 86_400_000,
      reportInterval: 1_000,
      controller: true,
    });
  });

  test('alone, a node has the default pools', () => {
    expect(parseConfig('', 'f').networks[0]?.pools).toHaveLength(2);
    expect(parseConfig('', 'f').cluster).toBeUndefined();
  });

  test('pools in two places are refused, with whatever else is wrong', () => {
    const text = `networks: [{ name: a, pools: [{ cidr: 10.0.0.0/8 }] }]\nsocket: x\ncluster: { ${etcd} }`;
    expect(problemsOf(text)).toEqual([
      containing('f:1:23: networks[0].pools: with `cluster` the pools'),
      containing('f:2:1: socket: must be an absolute path'),
    ]);
  });

  test.each([
    ['store: { kind: etcd }', 'cluster.store.endpoints: a store of kind etcd needs them'],
    ['store: { kind: embedded, endpoints: [http://a:1] }', 'a store of kind embedded has no endpoints'],
    ['store: { kind: consul, endpoints: [ftp://a] }', 'cluster.store.endpoints[0]: must be a URL'],
    ['store: { kind: etcd, endpoints: [http://u:p@a:1] }', 'cluster.store.endpoints[0]: must be a URL'],
    [`store: { kind: etcd, endpoints: [http://a:1], username: u }`, 'username and passwordFile go together'],
    [`${etcd}, root: podwire`, 'cluster.root: must be a path'],
    [`${etcd}, address: "a b"`, 'cluster.address: '],
    [`${etcd}, labels: { "-": x }`, 'cluster.labels'],
    [`${etcd}, vanishAfter: 1 day`, 'cluster.vanishAfter: must be a duration'],
  ])('refuses %s', (text, problem) => {
    expect(problemsOf(`cluster: { ${text} }`)).toEqual([containing(problem)]);
  });

  test.each(['192.0.2.1', '192.0.2.1/24', 'fd00::1/64', 'eth0'])('takes %s as its address', (address) => {
    expect(parseConfig(`cluster: { ${etcd}, address: "${address}" }`, 'f').cluster?.address).toBe(address);
  });
});
