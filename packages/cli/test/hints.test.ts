/** Hints below an error: each line is the whole output of a command line that fails. */
import net from 'node:net';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { choosePod } from '../src/pods/names.js';
import { createUsedCluster } from './cluster/cluster.js';
import { run } from './support.js';
import { makeTemporaryDirectory } from './temporary.js';

describe('advice in a cluster', () => {
  test.each([
    [
      'pool delete main',
      [
        'error: pool main: nodes n1, n2 have blocks of it (10.244.0.0/26, 10.244.1.0/26); in use by default/db-0, default/web',
        'what to do: Move its pods to another pool (`podwire ipam migrate main POOL`), or disable it and wait until they have ended.',
        'code: POOL_IN_USE',
      ],
    ],
    [
      'workload set web --address 1.2.3.4',
      [
        'error: workload default/default/web: addresses: 1.2.3.4 is in no pool',
        'what to do: Choose an address that a pod may have: `podwire ipam show` lists the pools.',
        'code: ADDRESS_NOT_IN_POOL',
      ],
    ],
    ['pool show mian', ['error: no pool mian; there are main', 'code: POOL_UNKNOWN']],
    ['workload delete web', ['error: no workload default/default/web', 'code: REQUEST_INVALID']],
    [
      'nodes n9',
      [
        'error: no node n9 is registered, and nothing is its own',
        'what to do: `podwire nodes` lists them.',
        'code: NODE_UNKNOWN',
      ],
    ],
  ])('%s', async (line, lines) => {
    const { code, stderr } = await (await createUsedCluster()).podwire(line);
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n')).toEqual(lines);
  });
});

describe('advice on a machine', () => {
  test('an ambiguous name is told apart by its namespace', () => {
    const pods = ['default', 'shop'].map((namespace) => ({ namespace, name: 'web', stage: 'running' }));
    expect(() => choosePod(pods as never, 'web')).toThrow(
      expect.objectContaining({
        message: 'web may be any of default/web shop/web',
        action: 'Name one of them with its namespace.',
      }),
    );
  });

  test('to start an agent is no advice where another program listens', async () => {
    const socket = path.join(makeTemporaryDirectory(), 'other.sock');
    const other = net.createServer((connection) => connection.resume().end('220 mail\r\n'));
    await new Promise<void>((resolve) => other.listen(socket, resolve));
    const { stderr } = await run(['status', '--socket', socket]);
    await new Promise((resolve) => other.close(resolve));
    expect(stderr).toMatch(/^error: no agent answers at .*does not speak HTTP.*\ncode: AGENT_UNREACHABLE\n$/);
  });

  test('it is where there is none', async () => {
    const { stderr } = await run(['status', '--socket', '/nowhere/api.sock']);
    expect(stderr).toContain('\nwhat to do: Start the agent (`podwire agent`)');
  });
});
