import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { catalog } from '../src/catalog.js';
import { createUsedCluster } from './cluster/cluster.js';
import { container, podView } from './pods/views.js';
import { type FakeAgent, run, startFakeAgent } from './support.js';
import { makeTemporaryDirectory } from './temporary.js';

const script = async (shell: string): Promise<string> => (await run(['completion', shell])).stdout;

/** Offers of bash when the cursor stands behind the last word. */
function complete(bash: string, words: readonly string[], pods = ''): string[] {
  const program = `podwire() { printf '%s\\n' ${pods}; }
${bash}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_podwire
printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['--norc', '-c', program], { encoding: 'utf8' }).trim().split('\n');
}

describe('completion', () => {
  test('bash offers commands, sub-commands, options and their words', async () => {
    const bash = await script('bash');
    expect(complete(bash, ['podwire', ''])).toEqual(expect.arrayContaining(catalog.map(({ name }) => name)));
    expect(complete(bash, ['podwire', 'pl'])).toEqual(['plan']);
    expect(complete(bash, ['podwire', 'ipam', 's'])).toEqual(['show', 'split']);
    expect(complete(bash, ['podwire', 'ipam', 'show', '--i'])).toEqual(['--ip']);
    expect(complete(bash, ['podwire', 'pods', '-o', ''])).toEqual([
      ...['text', 'wide', 'name', 'json', 'yaml', 'jsonpath=', 'jsonpath-file='],
    ]);
    expect(complete(bash, ['podwire', '--socket', '/x', 'status', '--wai'])).toEqual(['--wait']);
    expect(complete(bash, ['podwire', 'cni', 'a'])).toEqual(['add']);
    expect(complete(bash, ['podwire', 'completion', 'z'])).toEqual(['zsh']);
    expect(complete(bash, ['podwire', 'plan', 'examples/w'])).toEqual(['examples/web.yaml']);
    expect(complete(bash, ['podwire', 'config', 'validate', 'package.j'])).toEqual(['package.json']);
  });

  test('bash asks for the names of pods', async () => {
    const bash = await script('bash');
    const pods = 'pod/shop/web pod/shop/api';
    expect(complete(bash, ['podwire', 'explain', ''], pods)).toEqual([
      'node',
      'pod/shop/web',
      'pod/shop/api',
    ]);
    expect(complete(bash, ['podwire', 'trace', 'pod/shop/w'], pods)).toEqual(['pod/shop/web']);
  });

  test('bash passes the words in front of the cursor on, and offers what the program answers', async () => {
    const bash = await script('bash');
    const names = '"$*"';
    const kinds: readonly (readonly [readonly string[], string])[] = [
      [['logs', ''], 'pods  logs'],
      [['stop', 'a', ''], 'pods  stop a'],
      [['exec', 'web', '-c', ''], 'containers  exec web -c'],
      [['restart', '-n', 'shop', 'web', '--container', ''], 'containers  restart -n shop web --container'],
      [['pool', 'show', ''], 'pools  pool show'],
      [['ipam', 'migrate', ''], 'pools  ipam migrate'],
      [['nodes', 'forget', ''], 'nodes  nodes forget'],
      [['connectivity', 'test', '--testbed', ''], 'testbeds  connectivity test --testbed'],
      [['testbed', 'down', '--testbed', ''], 'testbeds  testbed down --testbed'],
    ];
    for (const [words, asked] of kinds) {
      const offered = complete(bash, ['podwire', ...words], names);
      expect(offered.join(' ')).toContain(`__complete ${asked}`.replaceAll(/ +/g, ' '));
    }
    expect(complete(bash, ['podwire', 'up', 'package.j'], names)).toEqual(['package.json']);
  });

  test('zsh and fish know every command and every option of bash', async () => {
    const [bash, zsh, fish] = await Promise.all(['bash', 'zsh', 'fish'].map(script));
    const options = new Set([...bash!.matchAll(/ (--[a-z-]+)/g)].map(([, option]) => option!));
    expect(options.size).toBeGreaterThan(20);
    for (const option of options) {
      expect(zsh).toContain(option);
      expect(fish).toContain(`-l ${option.slice(2)}`);
    }
    for (const { name } of catalog) {
      expect(zsh).toContain(`'${name}:`);
      expect(fish).toContain(`-a '${name}'`);
    }
    expect(zsh).toMatch(/^#compdef podwire\n/);
  });

  test('quotes in descriptions do not end the quoting', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      for (const line of (await script(shell)).split('\n')) expect(line.split("'").length % 2).toBe(1);
    }
  });
});

describe('__complete', () => {
  let agent: FakeAgent;
  let directory: string;
  const two = [container('main'), container('side')];
  const pods = [
    podView('web', { containers: two }),
    podView('api'),
    podView('job'),
    podView('job', { namespace: 'batch', containers: [container('only')] }),
  ];

  beforeEach(async () => {
    agent = await startFakeAgent({ 'GET /v1/pods': { body: { pods, problems: [] } } });
    directory = makeTemporaryDirectory();
    fs.symlinkSync(agent.socket, path.join(directory, 'podlet.sock'));
  });
  afterEach(() => agent.close());

  const names = async (kind: string, ...words: string[]): Promise<string[]> => {
    const { stdout, stderr } = await run(['__complete', kind, ...words], {
      env: { PODWIRE_DIRECTORY: directory },
    });
    expect(stderr).toBe('');
    return stdout.split('\n').filter((line) => line !== '');
  };

  test('pods by their bare names where one is called so, in full behind a slash', async () => {
    expect(await names('pods', '', 'logs')).toEqual(['api', 'batch/job', 'shop/job', 'web']);
    expect(await names('pods', 'shop/', 'logs')).toEqual(['batch/job', 'shop/api', 'shop/job', 'shop/web']);
    expect(await names('pods', 'pod/', 'stop')).toContain('pod/shop/web');
    expect(await names('pods', '', 'logs', '-n', 'batch')).toEqual(['job']);
    expect(await names('pods', '', 'stop', 'web')).toEqual(['api', 'batch/job', 'shop/job']);
  });

  test('no pods where the pod is there already', async () => {
    for (const words of [
      ['logs', 'web'],
      ['exec', 'web'],
      ['exec', '-c', 'main', 'web'],
      ['port-forward', 'web'],
    ])
      expect(await names('pods', '', ...words)).toEqual([]);
  });

  test('containers of the pod, wherever the option stands', async () => {
    expect(await names('containers', '', 'exec', 'web', '-c')).toEqual(['main', 'side']);
    expect(await names('containers', '', 'logs', 'web', '-f', '-c')).toEqual(['main', 'side']);
    expect(await names('containers', '', 'exec', 'job', '-n', 'batch', '-c')).toEqual(['only']);
    expect(await names('containers', '', 'exec', '-c')).toEqual(['main', 'side', 'only']);
  });

  test('pools and nodes of the cluster that the line names', async () => {
    const cluster = await createUsedCluster();
    const ask = async (line: string): Promise<string[]> =>
      (await cluster.podwire(['__complete', ...line.split(' ')])).stdout.trimEnd().split('\n');
    expect(await ask('pools m pool show')).toContain('main');
    expect(await ask('nodes n nodes forget')).toEqual(expect.arrayContaining(['n1', 'n2']));
  });

  test('nothing, and no words, where no agent or no store answers', async () => {
    expect(await names('pods', '', 'logs', '--directory', '/nowhere')).toEqual([]);
    expect(await names('pools', '', 'pool', 'show')).toEqual([]);
    expect(await names('containers', '', 'logs', 'none', '-c')).toEqual([]);
  });
});
