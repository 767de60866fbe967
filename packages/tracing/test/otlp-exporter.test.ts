import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOtlpExporter, createTracer, type Span } from '@podwire/tracing';
import { afterEach, expect, test } from 'vitest';
import { OtlpExporter } from '../src/otlp/exporter.js';
import { idOf, makeSpan } from './make-span.js';

interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status: { code: number; message?: string };
}

interface Receiver {
  readonly url: string;
  readonly requests: { headers: http.IncomingHttpHeaders; path: string }[];
  readonly spans: ReceivedSpan[];
  readonly resources: unknown[];
  close(): Promise<void>;
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A collector, as small as it gets: OTLP/HTTP with JSON (`ExportTraceServiceRequest`). */
async function startReceiver(answer: (response: http.ServerResponse) => void): Promise<Receiver> {
  const receiver = {
    requests: [] as Receiver['requests'],
    spans: [] as ReceivedSpan[],
    resources: [] as unknown[],
  };
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      receiver.requests.push({ headers: request.headers, path: request.url ?? '' });
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
        resourceSpans: { resource: unknown; scopeSpans: { spans: ReceivedSpan[] }[] }[];
      };
      for (const { resource, scopeSpans } of body.resourceSpans) {
        receiver.resources.push(resource);
        receiver.spans.push(...scopeSpans.flatMap(({ spans }) => spans));
      }
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  closing.push(close);
  const { port } = server.address() as AddressInfo;
  return { ...receiver, url: `http://127.0.0.1:${port}/v1/traces`, close };
}

const accept = (response: http.ServerResponse): void =>
  void response.setHeader('content-type', 'application/json').end('{}');

test('a collector gets our spans with our ids, times, attributes and errors', async () => {
  const receiver = await startReceiver(accept);
  const exporter = await createOtlpExporter({
    endpoint: receiver.url,
    headers: { authorization: 'Bearer x' },
    serviceName: 'podlet',
  });
  const ended: Span[] = [];
  const tracer = createTracer({
    now: () => 1_700_000_000_000.5,
    onEnd: (span) => {
      ended.push(span);
      exporter.add(span);
    },
  });
  const root = tracer.start('RunPodSandbox', undefined, { pod: 'shop/web', attempt: 1, again: false });
  root.child('cni ADD bridge').end(new Error('no bridge'));
  root.end();
  await exporter.close();

  const [child, parent] = ended;
  expect(receiver.requests).toMatchObject([
    { path: '/v1/traces', headers: { authorization: 'Bearer x', 'content-type': 'application/json' } },
  ]);
  expect(receiver.spans).toMatchObject([
    {
      traceId: parent!.traceId,
      spanId: child!.spanId,
      parentSpanId: parent!.spanId,
      name: 'cni ADD bridge',
      startTimeUnixNano: '1700000000000500000',
      status: { code: 2, message: 'no bridge' },
    },
    {
      traceId: parent!.traceId,
      spanId: parent!.spanId,
      name: 'RunPodSandbox',
      attributes: [
        { key: 'pod', value: { stringValue: 'shop/web' } },
        { key: 'attempt', value: { intValue: 1 } },
        { key: 'again', value: { boolValue: false } },
      ],
      status: { code: 0 },
    },
  ]);
  expect(receiver.spans[1]).not.toHaveProperty('parentSpanId', expect.anything());
  expect(JSON.stringify(receiver.resources)).toContain(
    '{"key":"service.name","value":{"stringValue":"podlet"}}',
  );
  expect(exporter.counts()).toEqual({ exported: 2, dropped: 0, failed: 0, waiting: 0 });
});

test('many spans travel in few requests', async () => {
  const receiver = await startReceiver(accept);
  const exporter = await createOtlpExporter({ endpoint: receiver.url, headers: {}, batchSize: 100 });
  for (let id = 1; id <= 250; id++) exporter.add(makeSpan(id));
  await exporter.flush();
  expect(receiver.requests).toHaveLength(3);
  expect(new Set(receiver.spans.map(({ spanId }) => spanId)).size).toBe(250);
  await exporter.close();
});

test('a collector that refuses costs its spans, is told of once, and nothing throws', async () => {
  const receiver = await startReceiver((response) => response.writeHead(400).end());
  const told: string[] = [];
  const exporter = await createOtlpExporter({
    endpoint: receiver.url,
    headers: {},
    onFailure: (reason) => told.push(reason),
  });
  exporter.add(makeSpan(1));
  await exporter.flush();
  exporter.add(makeSpan(2));
  await exporter.close();
  expect(exporter.counts()).toMatchObject({ exported: 0, failed: 2 });
  expect(told).toHaveLength(1);
});

test('a collector that never answers does not hold the end', async () => {
  const receiver = await startReceiver(() => undefined);
  const exporter = await createOtlpExporter({ endpoint: receiver.url, headers: {} });
  exporter.add(makeSpan(1));
  await exporter.close(20);
  expect(receiver.spans.length).toBeLessThanOrEqual(1);
  exporter.add(makeSpan(2));
  expect(exporter.counts()).toMatchObject({ exported: 0, dropped: 1, waiting: 0 });
});

/** A queue whose requests are answered by hand. */
function slowQueue(options: ConstructorParameters<typeof OtlpExporter>[0]) {
  const batches: { ids: string[]; done: () => void; fail: () => void }[] = [];
  const exporter = new OtlpExporter(
    options,
    (spans) =>
      new Promise((resolve, reject) =>
        batches.push({
          ids: spans.map(({ spanId }) => spanId),
          done: resolve,
          fail: () => reject(new Error('no')),
        }),
      ),
  );
  return { exporter, batches };
}

test('a full queue drops the newest and counts them', async () => {
  const { exporter, batches } = slowQueue({ queueSize: 3, batchSize: 2 });
  for (let id = 1; id <= 8; id++) exporter.add(makeSpan(id));
  // Two left with the first request; three wait.
  expect(exporter.counts()).toEqual({ exported: 0, dropped: 3, failed: 0, waiting: 3 });
  const flushed = exporter.flush(60_000);
  for (let sent = 0; sent < 3; sent++) {
    await expect.poll(() => batches.length).toBe(sent + 1);
    batches[sent]!.done();
  }
  await flushed;
  expect(batches.flatMap(({ ids }) => ids)).toEqual([1, 2, 3, 4, 5].map(idOf));
  expect(exporter.counts()).toEqual({ exported: 5, dropped: 3, failed: 0, waiting: 0 });
});

test('what comes while a request is under way goes with the next, without being asked', async () => {
  const { exporter, batches } = slowQueue({ batchSize: 1 });
  exporter.add(makeSpan(1));
  exporter.add(makeSpan(2));
  batches[0]!.fail();
  await expect.poll(() => batches.length).toBe(2);
  batches[1]!.done();
  await expect.poll(() => exporter.counts()).toEqual({ exported: 1, dropped: 0, failed: 1, waiting: 0 });
});
