import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { linuxRegistry } from '@podwire/backend-linux';
import { expect, onTestFinished, test } from 'vitest';
import { createLog } from '../src/log.js';
import type { Trace } from '../src/trace.js';
import { openTraceExport } from '../src/trace-export.js';

const log = createLog({ level: 'silent', nodeName: 'n1' });

const trace: Trace = {
  id: 1,
  command: 'ADD',
  endpoint: 'default,c1,eth0',
  pod: 'shop/web',
  parent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  startedAt: 1_700_000_000_000,
  duration: 3,
  result: 'ok',
  stages: [{ name: 'apply', start: 1, duration: 2 }],
  resources: [],
};

/** As much of a collector as an exporter sees. */
async function collect(): Promise<{ endpoint: string; bodies: string[] }> {
  const bodies: string[] = [];
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
    request.on('end', () => {
      bodies.push(body);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}

test('without an endpoint there is nothing', async () => {
  expect(await openTraceExport({ OTEL_SERVICE_NAME: 'x' }, linuxRegistry, log)).toBeUndefined();
});

test('a request and its stages arrive within the trace of who asked', async () => {
  const { endpoint, bodies } = await collect();
  const traces = (await openTraceExport({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, linuxRegistry, log))!;
  traces.add(trace);
  const { parent: _parent, ...alone } = trace;
  traces.add({ ...alone, id: 2, command: 'STATUS' });
  await traces.close();
  const sent = bodies.join();
  expect(sent).toContain('0af7651916cd43dd8448eb211c80319c');
  expect(sent).toContain('agent ADD');
  expect(sent).toContain('apply');
  expect(sent).not.toContain('STATUS');
});
