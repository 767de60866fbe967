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

test('a local port that is the host port of a pod is warned about', async () => {
  const directory = makeTemporaryDirectory();
  const pods = { pods: [podView('web')], problems: [] };
  const mapping = { hostPort: 9000, containerPort: 80, protocol: 'tcp' };
  const endpoint = { pod: { namespace: 'shop', name: 'api' }, containerId: 'c', portMappings: [mapping] };
  const agent = await startFakeAgent({
    'GET /v1/pods': { body: pods },
    'GET /v1/endpoints': { body: { endpoints: [endpoint] } },
  });
  for (const name of ['podlet.sock', 'api.sock']) fs.symlinkSync(agent.socket, path.join(directory, name));
  // Nothing can listen there, so the command ends.
  const argv = ['port-forward', 'web', '9000:80', '--address', '192.0.2.1', '--directory', directory];
  const { stderr } = await run(argv);
  expect(stderr).toMatch(/^warning: port 9000 is the host port of pod\/shop\/api: connections go there/);
  expect((await run([...argv, ':80'])).stderr.match(/warning/g)).toHaveLength(1);
  await agent.close();
});
