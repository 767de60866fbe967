import { describe, expect, test } from 'vitest';
import { askAgent, run, writeTemporary } from '../support.js';

describe('plan', () => {
  const manifest = writeTemporary(
    'pods.yaml',
    ['a', 'b'].map((name) => `apiVersion: v1\nkind: Pod\nmetadata: { name: ${name} }\n`).join('---\n'),
  );
  const planned = { network: 'default', addresses: ['10.0.0.7'], node: [], resources: [], answer: {} };

  test('by the agent, all pods in one question', async () => {
    const { code, stdout, asked } = await askAgent(
      { 'POST /v1/plan': { body: { plans: [planned, planned] } } },
      ['plan', manifest, '-o', 'json'],
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      source: 'agent',
      pods: [{ pod: { namespace: 'default', name: 'a' }, addresses: ['10.0.0.7'] }, {}],
    });
    const bodies = JSON.parse(asked[0]!.replace('POST /v1/plan ', '')) as {
      containerId: string;
      args: string;
    }[];
    expect(bodies.map(({ containerId }) => containerId)).toEqual(['plan-default-a', 'plan-default-b']);
    expect(bodies[0]!.args).toContain('K8S_POD_NAME=a');
  });

  test('an agent that was named must be there', async () => {
    expect((await run(['plan', manifest, '--socket', '/nonexistent'])).code).toBe(3);
  });

  test('without an agent: from the configuration, each pod with its own address, always the same', async () => {
    const config = writeTemporary(
      'agent.yaml',
      'networks: [{ name: default, pools: [{ cidr: 192.168.7.0/24 }] }]\napiSocket: /nonexistent/a.sock\n',
    );
    const argv = ['plan', manifest, '--config', config, '-o', 'json'];
    const { code, stdout } = await run(argv);
    expect(code).toBe(0);
    const { source, pods } = JSON.parse(stdout) as {
      source: string;
      pods: { addresses: string[]; resources: object[] }[];
    };
    expect(source).toBe('configuration');
    expect(pods.map(({ addresses }) => addresses)).toEqual([['192.168.7.1'], ['192.168.7.2']]);
    expect(pods[0]!.resources).toContainEqual(expect.objectContaining({ kind: 'veth', mtu: 1500 }));
    expect((await run(argv)).stdout).toBe(stdout);
    const small = await run([...argv, '--offline', '--mtu', '1400']);
    expect(small.stdout).toContain('"mtu": 1400');
    const text = await run(['plan', manifest, '--offline', '--config', config]);
    expect(text.stdout).toMatch(/^pod default\/a \(.*\): network default, 192\.168\.7\.1\n/);
    expect(text.stdout).toContain('no agent was asked');
  });

  test('two pods that want one host port', async () => {
    const ports = 'spec: { containers: [{ ports: [{ containerPort: 1, hostPort: 9 }] }] }';
    const clash = writeTemporary(
      'clash.yaml',
      ['a', 'b']
        .map((name) => `apiVersion: v1\nkind: Pod\nmetadata: { name: ${name} }\n${ports}\n`)
        .join('---\n'),
    );
    const { code, stderr } = await run(['plan', clash, '--offline']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/host port .*9.* is taken by pod default\/a/);
    expect(stderr).toContain('PORT_IN_USE');
  });

  test('a manifest that cannot be used', async () => {
    const bad = writeTemporary('bad.yaml', 'kind: Pod\n');
    const { code, stderr } = await run(['plan', bad, '--offline']);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /bad\.yaml:1:1: apiVersion: must be v1, is missing\n +.*metadata\.name: is missing\ncode: MANIFEST_INVALID/,
    );
  });
});

describe('config validate', () => {
  test('a good file', async () => {
    const file = writeTemporary('a.yaml', '');
    expect(await run(['config', 'validate', file])).toEqual({
      code: 0,
      stdout: `${file}: valid\n`,
      stderr: '',
    });
  });

  test('a bad one, each problem with its line', async () => {
    const file = writeTemporary('a.yaml', 'nodeName: n\nsokcet: /x\n');
    const { code, stdout } = await run(['config', 'validate', file]);
    expect(code).toBe(1);
    expect(stdout).toContain(`${file}:2:1: sokcet: unknown key; did you mean socket?\n1 problem\n`);
    const json = await run(['config', 'validate', file, '-o', 'json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      file,
      valid: false,
      problems: [{ path: 'sokcet', line: 2, column: 1 }],
    });
  });

  test('no file', async () => {
    expect((await run(['config', 'validate', '/nonexistent'])).stderr).toContain('CONFIG_INVALID');
  });
});
