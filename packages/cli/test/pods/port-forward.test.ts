/** `podwire port-forward`, with a pod agent that answers what it is told. */
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { expect, test } from 'vitest';
import { run, startFakeAgent } from '../support.js';
import { makeTemporaryDirectory } from '../temporary.js';
import { podView } from './views.js';

test('with a port that cannot be had it ends, and listens at none', async () => {
  const directory = makeTemporaryDirectory();
  const agent = await startFakeAgent({ 'GET /v1/pods': { body: { pods: [podView('web')], problems: [] } } });
  fs.symlinkSync(agent.socket, path.join(directory, 'podlet.sock'));
  const other = net.createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port: taken } = other.address() as net.AddressInfo;

  const ports = [':80', `${taken}:80`];
  const { code, stdout, stderr } = await run(['port-forward', 'web', ...ports, '--directory', directory]);

  expect(code).toBe(1);
  expect(stderr).toContain(`cannot listen at 127.0.0.1:${taken}`);
  expect(stderr).not.toContain('INTERNAL');
  const { port } = /:(?<port>\d+) →/.exec(stdout)!.groups!;
  const [error] = (await once(net.connect(Number(port), '127.0.0.1'), 'error', {})) as [Error];
  expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  other.close();
  await agent.close();
});
