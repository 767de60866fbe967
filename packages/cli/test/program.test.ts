import fs from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { catalog } from '../src/catalog.js';
import { ownVersion } from '../src/checkout.js';
import { colorsFor, type Io } from '../src/io.js';
import { createWholeProgram } from '../src/program.js';
import { run, writeTemporary } from './support.js';

const names = catalog.map(({ name }) => name);

async function leaves(): Promise<string[]> {
  const io: Io = {
    stdout: { write: () => 0 },
    stderr: { write: () => 0 },
    env: {},
    now: () => 0,
    color: true,
    exitCode: 0,
  };
  const walk = (command: Command, path: string): string[] =>
    command.commands.length === 0
      ? [path]
      : command.commands.flatMap((each) => walk(each, `${path} ${each.name()}`));
  return walk(await createWholeProgram(io), '').map((path) => path.trim());
}

describe('help', () => {
  test('the overview names every command and every exit code', async () => {
    const { code, stdout } = await run(['--help']);
    expect(code).toBe(0);
    for (const { name, summary } of catalog) expect(stdout).toContain(`${name.padEnd(22)} ${summary}`);
    for (const exit of [0, 1, 2, 3, 4]) expect(stdout).toMatch(new RegExp(`^ {2}${exit} {2}\\w`, 'm'));
  });

  test('every command has its own, with an example', async () => {
    for (const path of await leaves()) {
      const { code, stdout, stderr } = await run([...path.split(' '), '--help']);
      expect({ path, code, stderr }).toEqual({ path, code: 0, stderr: '' });
      expect(stdout).toMatch(new RegExp(`^Usage: podwire ${path}\\b`));
      expect(stdout).toMatch(/\nExamples:\n {2}\S/);
    }
  });

  test('by "help", too', async () => {
    expect((await run(['help', 'pods'])).stdout).toBe((await run(['pods', '--help'])).stdout);
    expect((await run(['help'])).stdout).toBe((await run(['--help'])).stdout);
  });

  test('stands in the README of the package', () => {
    const readme = fs.readFileSync('packages/cli/README.md', 'utf8');
    for (const name of names) expect(readme).toContain(`podwire ${name}`);
  });

  test('the version', async () => {
    expect(await run(['--version'])).toEqual({ code: 0, stdout: `${ownVersion()}\n`, stderr: '' });
  });
});

describe('what is called wrongly ends with 2, and nothing on standard output', () => {
  test.each([
    [[]],
    [['nonsense']],
    [['pods', 'surplus']],
    [['pods', '--nonsense']],
    [['pods', '-o', 'xml']],
    [['explain']],
    [['plan']],
    [['ipam', 'show', '--ip', '1.2.3']],
    [['status', '--timeout', 'soon']],
    [['plan', '--mtu', '1', 'x']],
    [['completion', 'tcsh']],
    [['install', '--plugin', 'rust']],
    [['bench', '--pods', 'many']],
    [['cni']],
    [['cni', 'add', 'net']],
  ])('podwire %j', async (argv) => {
    const { code, stdout, stderr } = await run(argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  test('a word that is nearly a command', async () => {
    expect((await run(['stauts'])).stderr).toContain('Did you mean one of stats, status?');
  });
});

describe('errors', () => {
  const socket = '/nonexistent/api.sock';

  test('for people: what happened, what to do, the code, no stack', async () => {
    const { code, stdout, stderr } = await run(['pods', '--socket', socket]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      `error: no agent answers at ${socket}: there is no such socket`,
      expect.stringMatching(/^what to do: Start the agent/),
      'code: AGENT_UNREACHABLE',
      '',
    ]);
  });

  test('for programs: one JSON document on standard output', async () => {
    const { code, stdout, stderr } = await run(['pods', '--socket', socket, '-o', 'json']);
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'AGENT_UNREACHABLE', details: { socket } } });
  });

  test('with a stack only for --debug', async () => {
    const { stderr } = await run(['pods', '--socket', socket, '--debug']);
    expect(stderr).toMatch(/\n\s+at /);
  });

  test('options before the command count as well, those behind it more', async () => {
    const before = await run(['--socket', socket, '-o', 'json', 'pods']);
    expect(JSON.parse(before.stdout)).toMatchObject({ error: { details: { socket } } });
    const both = await run(['--socket', '/other', '-o', 'json', 'pods', '--socket', socket]);
    expect(JSON.parse(both.stdout)).toMatchObject({ error: { details: { socket } } });
  });

  test('where the agent is: the option, its configuration, the environment, the default', async () => {
    const socketOf = async (argv: string[], env: Record<string, string> = {}): Promise<unknown> => {
      const { stdout } = await run(['pods', '-o', 'json', ...argv], { env });
      return (JSON.parse(stdout) as { error: { details: { socket: unknown } } }).error.details.socket;
    };
    const config = writeTemporary('agent.yaml', 'apiSocket: /nonexistent/configured.sock\n');
    const env = { PODWIRE_SOCKET: '/nonexistent/environment.sock' };
    expect(await socketOf(['--socket', socket, '--config', config], env)).toBe(socket);
    expect(await socketOf(['--config', config], env)).toBe('/nonexistent/configured.sock');
    expect(await socketOf([], env)).toBe('/nonexistent/environment.sock');
  });
});

describe('colours', () => {
  const io = (env: Record<string, string>, isTTY: boolean, color = true): Io => {
    const stream = { write: () => 0, isTTY };
    return { stdout: stream, stderr: stream, env, now: () => 0, color, exitCode: 0 };
  };
  test.each([
    ['on a terminal', io({}, true), true],
    ['not in a pipe', io({}, false), false],
    ['not with NO_COLOR', io({ NO_COLOR: '1' }, true), false],
    ['with an empty NO_COLOR', io({ NO_COLOR: '' }, true), true],
    ['not with --no-color', io({}, true, false), false],
    ['not on a dumb terminal', io({ TERM: 'dumb' }, true), false],
  ])('%s', (_, each, expected) => {
    expect(colorsFor(each, each.stdout).red('x') !== 'x').toBe(expected);
  });

  test('the option works behind every command', async () => {
    const argv = ['pods', '--socket', '/nonexistent'];
    // eslint-disable-next-line no-control-regex
    const escape = /\u001b\[/;
    expect((await run(argv, { terminal: true })).stderr).toMatch(escape);
    expect((await run([...argv, '--no-color'], { terminal: true })).stderr).not.toMatch(escape);
  });
});

test.each([['config', 'validate'], ['plan'], ['import', 'calico', '--dry-run']])(
  'a file that is not there: %s %s says so once',
  async (...words: string[]) => {
    const { code, stderr } = await run([...words, '/nonexistent.yaml']);
    expect(code).toBe(1);
    expect(stderr).toContain('/nonexistent.yaml: cannot be read: ENOENT');
    expect(stderr.match(/ENOENT/g)).toHaveLength(1);
  },
);
