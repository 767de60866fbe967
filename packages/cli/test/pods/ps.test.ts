/** `podwire ps`: one list of both agents. */
import fs from 'node:fs';
import path from 'node:path';
import type { PodView } from '@podwire/podlet';
import { afterEach, describe, expect, test } from 'vitest';
import type { EndpointView } from '../../src/api/shapes.js';
import { type FakeAgent, type Run, run, startFakeAgent } from '../support.js';
import { makeTemporaryDirectory } from '../temporary.js';
import { podView } from './views.js';

const agents: FakeAgent[] = [];
afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.close()));
});

function endpointOf(name: string, more: Partial<EndpointView> = {}): EndpointView {
  const id = `sandbox-${name}`;
  return {
    ...{ key: `net,${id},eth0`, containerId: id, ifName: 'eth0', network: 'default', cniNetwork: 'net' },
    pod: { namespace: 'shop', name },
    phase: 'ready',
    addresses: ['10.0.0.1', 'fd00:10:244:0:1234:5678:9abc:def0'],
    ...{ mac: '02:00:00:00:00:01', hostInterface: `pw${name}`, netns: '/run/netns/x' },
    portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }],
    createdAt: '2026-01-01T00:00:00Z',
    ...more,
  };
}

interface Machine {
  readonly pods?: readonly PodView[];
  readonly endpoints?: readonly EndpointView[];
}

/** A directory with the sockets of the agents that there are. */
async function createMachine({ pods, endpoints }: Machine): Promise<string> {
  const directory = makeTemporaryDirectory();
  const serve = async (socket: string, route: string, body: unknown): Promise<void> => {
    const agent = await startFakeAgent({ [route]: { body } });
    agents.push(agent);
    fs.symlinkSync(agent.socket, path.join(directory, socket));
  };
  if (pods !== undefined) await serve('podlet.sock', 'GET /v1/pods', { pods, problems: [] });
  if (endpoints !== undefined) await serve('api.sock', 'GET /v1/endpoints', { endpoints });
  return directory;
}

const now = Date.parse('2026-01-01T00:01:00Z');

async function ps(
  machine: Machine,
  argv: readonly string[] = [],
  more: { columns?: number } = {},
): Promise<Run> {
  const directory = await createMachine(machine);
  const terminal = more.columns !== undefined;
  return run(['ps', '--directory', directory, ...argv], { now, terminal, ...more, env: { NO_COLOR: '1' } });
}

const cells = (line: string | undefined): string[] => (line ?? '').trimEnd().split(/ {2,}/);

describe('ps', () => {
  test('joins what the pod agent and the node agent know of a pod', async () => {
    const machine = { pods: [podView('web')], endpoints: [endpointOf('web'), endpointOf('other')] };
    const { code, stdout, stderr } = await ps(machine, ['-o', 'wide']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [head, other, web, ...rest] = stdout.split('\n').map(cells);
    expect(head?.slice(6)).toEqual([
      ...['LINK', 'HOST PORTS', 'RATES', 'NETWORK', 'MAC', 'CONTAINER', 'NETNS', 'REASON'],
    ]);
    expect(other?.slice(0, 3)).toEqual(['shop/other', '-', 'attached']);
    expect(web?.slice(0, 8)).toEqual([
      ...['shop/web', '1/1', 'Running', '0', '10.0.0.1', '60s', 'pwweb', '8080→80/tcp'],
    ]);
    expect(rest).toEqual([['']]);
  });

  test('lists attachments where there is no pod agent, and says so', async () => {
    const { code, stdout, stderr } = await ps({ endpoints: [endpointOf('web')] });
    expect(code).toBe(0);
    expect(cells(stdout.split('\n')[1]).slice(0, 3)).toEqual(['shop/web', '-', 'attached']);
    expect(stderr).toMatch(/^attachments alone: no pod agent answers at .*podlet\.sock/);
  });

  test('lists pods where there is no node agent, and says so', async () => {
    const { code, stdout, stderr } = await ps({ pods: [podView('web')] });
    expect(code).toBe(0);
    expect(cells(stdout.split('\n')[1])[0]).toBe('shop/web');
    expect(stderr).toMatch(/^without links and host ports: no agent answers at .*api\.sock/);
  });

  test('fails where there is neither', async () => {
    const { code, stderr } = await ps({});
    expect(code).toBe(3);
    expect(stderr).toContain('PODLET_UNREACHABLE');
  });

  test('keeps an instance that is going apart from the one that has its name', async () => {
    const endpoints = [
      endpointOf('web', { containerId: 'old', pod: { namespace: 'shop', name: 'web', uid: 'old' } }),
    ];
    const { stdout } = await ps({ pods: [podView('web')], endpoints }, ['-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({
      pods: [{ name: 'web' }],
      endpoints,
      problems: [],
      absent: [],
    });
    const rows = (await ps({ pods: [podView('web')], endpoints })).stdout.trim().split('\n');
    expect(rows.slice(1).map((row) => cells(row)[2])).toEqual(['Running', 'attached']);
  });

  test('-n chooses a namespace, -A takes it back', async () => {
    const machine = {
      pods: [podView('web'), podView('dns', { namespace: 'sys' })],
      endpoints: [endpointOf('web'), endpointOf('kube', { pod: { namespace: 'sys', name: 'kube' } })],
    };
    expect((await ps(machine, ['-n', 'sys', '-o', 'name'])).stdout).toBe('pod/sys/dns\npod/sys/kube\n');
    const all = 'pod/shop/web\npod/sys/dns\npod/sys/kube\n';
    expect((await ps(machine, ['-o', 'name'])).stdout).toBe(all);
    expect((await ps(machine, ['-A', '-n', 'sys', '-o', 'name'])).stdout).toBe(all);
  });

  test('a row is one line at 80 columns, with its state and age', async () => {
    const waiting = podView(
      'a-deployment-7d9c5f6b8-x2x7q',
      { events: [] },
      {
        phase: 'Pending',
        conditions: [],
        podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00:10:244:0:1234:5678:9abc:def0' }],
      },
    );
    const { stdout } = await ps({ pods: [waiting, podView('web')], endpoints: [] }, [], { columns: 80 });
    const lines = stdout.trimEnd().split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines[1]).toMatch(/^shop\/a-deployment-7d9c5f6b8-x2x7q +\d\/\d +\w+ .*10\.0\.0\.1/);
  });
});
