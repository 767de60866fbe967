import { describe, expect, test } from 'vitest';
import type { ConnectivityReport, Participant, ProbeResult } from '@podwire/testbed';
import { createColors } from 'picocolors';
import { renderFailures, renderMatrix, renderSummary } from '../../src/testbed/render-matrix.js';
import { renderNext, renderState } from '../../src/testbed/render-state.js';
import { isWell, type NodeState, type TestbedState } from '../../src/testbed/observe.js';
import { run } from '../support.js';

const plain = createColors(false);

const podOf = (number: number): Participant => ({
  ...{ name: `default/pod${number}a`, kind: 'pod', node: `node${number}` },
  addresses: { 4: `10.244.${number}.1` },
});
const nodeOf = (number: number): Participant => ({
  ...{ name: `node${number}`, kind: 'node', node: `node${number}`, addresses: {} },
});

type Change = (result: ProbeResult) => Partial<ProbeResult>;

/** Every participant probes every pod. */
function reportOf(nodes: number, change: Change = () => ({})): ConnectivityReport {
  const numbers = Array.from({ length: nodes }, (_, index) => index + 1);
  const parties = [...numbers.map(podOf), ...numbers.map(nodeOf)];
  const results = parties.flatMap((from) =>
    parties
      .filter((to) => to !== from && to.kind === 'pod')
      .flatMap((to) =>
        (['tcp', 'udp'] as const).flatMap((kind) =>
          ([4, 6] as const).map((family): ProbeResult => {
            const address = family === 4 ? '10.244.0.1' : 'fd00::1';
            const result: ProbeResult = {
              ...{ kind, family, address, from: from.name, to: to.name, ok: true, milliseconds: 0.42 },
              fromNode: from.node!,
              toNode: to.node!,
            };
            return { ...result, ...change(result) };
          }),
        ),
      ),
  );
  return { parties, results, ok: results.every(({ ok }) => ok), milliseconds: 123 };
}

const silent: Change = ({ kind, to }) =>
  to === 'default/pod2a'
    ? { ok: false, words: `no answer within 9 ms${kind === 'udp' ? ' (1422 bytes)' : ''}` }
    : {};

describe('the matrix', () => {
  test('all participants, where there is room', () => {
    expect(renderMatrix(reportOf(2), 100, plain)).toEqual([
      'FROM \\ TO   pod1a   pod2a   node1   node2',
      'pod1a       ·       ✓ 0.4   ·       ·',
      'pod2a       ✓ 0.4   ·       ·       ·',
      'node1       ✓ 0.4   ✓ 0.4   ·       ·',
      'node2       ✓ 0.4   ✓ 0.4   ·       ·',
      '',
      'In each cell: TCP both ways; slowest round trip of a full-size datagram, in ms.',
    ]);
  });

  test('what failed, as far as it is not everything', () => {
    const at = (change: Change): string | undefined => renderMatrix(reportOf(2, change), 100, plain)[1];
    expect(at(silent)).toMatch(/^pod1a +· +✗ +· +·$/);
    expect(at((result) => (result.family === 6 ? silent(result) : {}))).toMatch('✗ IPv6');
    expect(at((result) => (result.kind === 'udp' ? silent(result) : {}))).toMatch('✗ udp');
    const one: Change = (result) => (result.kind === 'udp' && result.family === 6 ? silent(result) : {});
    expect(at(one)).toMatch('✗ IPv6');
  });

  test('nodes with their pods, where there is less', () => {
    const lines = renderMatrix(reportOf(2, silent), 40, plain);
    expect(lines[0]).toBe('ANSWERED   node1   node2');
    expect(lines[1]).toBe('node1      ✓ 4/4   ✗ 0/8');
    expect(lines[2]).toBe('node2      ✓ 8/8   ✗ 0/4');
  });

  test('marks alone, where there is none', () => {
    const lines = renderMatrix(reportOf(12), 60, plain);
    expect(lines[0]).toBe('FROM \\ TO   1   2   3   4   5   6   7   8   9   10   11   12');
    expect(lines[1]).toBe('node1       ✓   ✓   ✓   ✓   ✓   ✓   ✓   ✓   ✓   ✓    ✓    ✓');
    expect(Math.max(...lines.slice(0, 13).map(({ length }) => length))).toBeLessThanOrEqual(60);
  });
});

describe('failures', () => {
  test('one line for two parties, and what all have in common', () => {
    expect(renderFailures(reportOf(2, silent), plain)).toEqual([
      '✗ pod1a (node1) → pod2a (node2), IPv4 and IPv6, TCP and full-size datagrams: no answer within 9 ms',
      '✗ node1 → pod2a (node2), IPv4 and IPv6, TCP and full-size datagrams: no answer within 9 ms',
      '✗ node2 → pod2a (node2), IPv4 and IPv6, TCP and full-size datagrams: no answer within 9 ms',
      'All of it has to do with node2.',
    ]);
  });

  test('seen from one node, the other node that no pod reaches is named', () => {
    const own = reportOf(3, (result) =>
      result.toNode === 'node2' ? silent({ ...result, to: 'default/pod2a' }) : {},
    );
    const results = own.results.filter(({ fromNode }) => fromNode === 'node1');
    expect(renderFailures({ ...own, results }, plain).at(-1)).toBe('All of it has to do with node2.');
  });

  test('one alone, with its address and size', () => {
    const one: Change = (result) =>
      result.kind === 'udp' && result.family === 4 && result.from === 'node1' ? silent(result) : {};
    expect(renderFailures(reportOf(2, one), plain)).toEqual([
      '✗ node1 → pod2a (node2), IPv4, a full-size datagram to 10.244.0.1: no answer within 9 ms (1422 bytes)',
    ]);
  });

  test('not thousands of lines', () => {
    const lines = renderFailures(
      reportOf(8, () => ({ ok: false, words: 'no' })),
      plain,
    );
    expect(lines).toHaveLength(21);
    expect(lines[20]).toBe('  and 100 more; -o json lists all');
  });

  test('what stands in them cannot steer the terminal', () => {
    const evil: Change = () => ({ ok: false, words: '\u001b[2J' });
    expect(renderFailures(reportOf(2, evil), plain).join()).not.toContain('\u001b');
  });
});

test('the summary counts', () => {
  expect(renderSummary(reportOf(2), plain)).toEqual([
    '24 of 24 as expected in 123 ms, median 0.42 ms for a round trip.',
  ]);
});

const state: TestbedState = {
  ...{ name: 'x', directory: '/run/podwire-testbed/x', createdAt: 0 },
  shape: {
    ...{ nodes: 2, pods: 1, subnets: 2, fabric: 'vxlan-cross-subnet', store: 'etcd', families: 'dual' },
    model: 'routed',
  },
  store: { kind: 'etcd', state: 'frozen' },
  nodes: [
    {
      netns: '/run/podwire-testbed/x/ns/node1',
      ...{ name: 'node1', subnet: 'subnet1', addresses: ['10.10.1.11/24', 'fd00:10:1::11/64'] },
      agent: { state: 'running', pid: 1, ready: true, memory: 90 << 20 },
      ...{ blocks: ['10.244.0.0/26'], pods: 1 },
    },
    {
      netns: '/run/podwire-testbed/x/ns/node2',
      ...{ name: 'node2', subnet: 'subnet2', addresses: ['10.10.2.12/24'] },
      agent: { state: 'ended' },
      ...{ blocks: [], pods: 1 },
    },
  ],
  pods: [
    {
      ...{ namespace: 'default', name: 'pod2a', node: 'node2' },
      ...{ containerId: 'b', labels: {}, ports: [], annotations: {} },
      netns: '/run/podwire-testbed/x/ns/pods/default_pod2a',
      addresses: ['10.244.1.1'],
    },
    {
      ...{ namespace: 'default', name: 'pod1a', node: 'node1' },
      ...{ containerId: 'a', labels: {}, ports: [], annotations: {} },
      netns: '/run/podwire-testbed/x/ns/pods/default_pod1a',
      addresses: ['10.244.0.1'],
    },
  ],
};

describe('a testbed', () => {
  test('its state', () => {
    expect(renderState(state, 5_000, plain)).toEqual([
      'testbed x: 2 nodes, 2 subnets, vxlan-cross-subnet, IPv4 and IPv6, up for 5s',
      'store: etcd, frozen',
      '',
      'NODE    SUBNET    ADDRESSES                        AGENT   MEMORY   BLOCKS          PODS',
      'node1   subnet1   10.10.1.11/24 fd00:10:1::11/64   ready   90 MiB   10.244.0.0/26      1',
      'node2   subnet2   10.10.2.12/24                    ended        -   -                  1',
      '',
      'POD     NODE    IPV4         IPV6',
      'pod1a   node1   10.244.0.1   -',
      'pod2a   node2   10.244.1.1   -',
      '',
      'What agents write: /run/podwire-testbed/x/nodes/*/agent.log',
    ]);
  });

  test('the state of one of the model ovn has the databases and daemons of OVN', () => {
    const [node1, node2] = state.nodes.map((node): NodeState => {
      return { ...node, agent: { state: 'running', ready: true }, ovnController: 'running' };
    });
    const ovn: TestbedState = {
      ...state,
      shape: { ...state.shape, model: 'ovn', encapsulation: 'geneve', families: 'ipv4', subnets: 1 },
      store: { kind: 'etcd', state: 'running' },
      ...{ northbound: 'unix:/x/nb.sock', southbound: 'unix:/x/sb.sock' },
      ovn: { northbound: 'running', southbound: 'frozen', 'ovn-northd': 'running', controller: 'ended' },
      nodes: [node1!, { ...node2!, ovnController: 'ended' }],
    };
    const lines = renderState(ovn, 5_000, plain);
    expect(lines.slice(0, 5)).toEqual([
      'testbed x: 2 nodes, model ovn, geneve, IPv4, up for 5s',
      'store: etcd, running',
      'northbound: unix:/x/nb.sock, running',
      'southbound: unix:/x/sb.sock, frozen',
      'ovn-northd: running; controller: ended',
    ]);
    expect(lines).toContain('problem  node2: ovn-controller is not running: it is ended');
    expect(renderNext(ovn, 'podwire', true, plain).join('\n')).toContain('exec node1 -- podwire ovn show');
    expect(isWell(ovn)).toBe(false);
    const all = { northbound: 'running', southbound: 'running', 'ovn-northd': 'running' } as const;
    const well: TestbedState = { ...ovn, ovn: { ...all, controller: 'running' }, nodes: [node1!] };
    expect(isWell(well)).toBe(true);
    expect(isWell({ ...well, nodes: ovn.nodes })).toBe(false);
  });

  test('what to do next names it only where it must', () => {
    expect(renderNext(state, 'podwire', true, plain).join('\n')).not.toContain('--testbed');
    const named = renderNext(state, 'podwire', false, plain).join('\n');
    expect(named).toMatch(/^ {2}podwire connectivity test --testbed x +# who reaches whom$/m);
    expect(named).toMatch(
      /^ {2}podwire testbed exec --testbed x pod1a -- ping -c 3 10\.244\.1\.1 +# or in a pod$/m,
    );
  });
});

describe('the command line', () => {
  test('what cannot be is refused before anything is made', async () => {
    const { code, stderr } = await run(['testbed', 'up', '--nodes', '2', '--subnets', '3']);
    expect(code).toBe(1);
    expect(stderr).toMatch('3 subnets need as many nodes');
    expect((await run(['testbed', 'up', '--nodes', 'many'])).code).toBe(2);
    expect((await run(['testbed', 'up', '--fabric', 'carrier-pigeon'])).code).toBe(2);
    expect((await run(['connectivity', 'test', '--deadline', '0'])).code).toBe(2);
  });

  test('a testbed that is not there', async () => {
    const { code, stderr } = await run(['connectivity', 'test', '--testbed', 'no-such-testbed']);
    expect(code).toBe(1);
    expect(stderr).toMatch('there is no testbed no-such-testbed');
  });
});

describe('which testbed', () => {
  test('--testbed and the earlier --name are one', async () => {
    for (const option of ['--testbed', '--name']) {
      const { code, stderr } = await run(['testbed', 'status', option, 'no-such-testbed']);
      expect(code).toBe(1);
      expect(stderr).toMatch('there is no testbed no-such-testbed');
      // Nothing is in the way, so nothing is to be taken down.
      expect(stderr).not.toContain('what to do');
    }
    const { stdout } = await run(['testbed', 'up', '--help']);
    expect(stdout).toContain('--testbed <name>');
    expect(stdout).not.toContain('--name');
  });
});
