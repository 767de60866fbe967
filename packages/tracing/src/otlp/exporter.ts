/**
 * Export over OTLP/HTTP with OpenTelemetry's own exporter. Its modules cost some 20 MB and 100 ms, so they are loaded only
 * by {@link createOtlpExporter}.
 */
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { systemClock, untilAborted, withDeadline } from '@podwire/platform';
import type { Span } from '../span.js';
import type { OtlpSettings } from './environment.js';
import { toReadableSpan } from './readable-span.js';

export interface OtlpExporterOptions extends OtlpSettings {
  /** Spans that may wait; the ones that come when it is full are dropped and counted. Default 4096. */
  readonly queueSize?: number;
  /** Spans in one request. Default 512. */
  readonly batchSize?: number;
  /** Milliseconds that spans wait for others to travel with. Default 1000. */
  readonly delayMs?: number;
  /** Milliseconds for one request, its retries included. Default 10,000. */
  readonly timeoutMs?: number;
  /** Told when a request failed: once, until the next one that succeeds. */
  readonly onFailure?: (reason: string) => void;
}

export interface ExportCounts {
  readonly exported: number;
  /** No room in the queue, or added after `close`. */
  readonly dropped: number;
  /** In requests that failed for good. */
  readonly failed: number;
  readonly waiting: number;
}

/** Takes spans away without ever disturbing: nothing here throws, rejects or waits, save what is awaited on purpose. */
export interface OtlpExporter {
  /** Fits `onEnd` of a tracer. */
  add(span: Span): void;
  counts(): ExportCounts;
  /** Sends what waits; resolves when that is done or the time (milliseconds, default 2000) is over. */
  flush(deadlineMs?: number): Promise<void>;
  /** Flushes and ends. Later spans are dropped. */
  close(deadlineMs?: number): Promise<void>;
}

/** Sends one batch; rejects when it failed for good. */
export type SendBatch = (spans: readonly Span[]) => Promise<void>;

/** Loads OpenTelemetry. @throws when it is not installed */
export async function createOtlpExporter(options: OtlpExporterOptions): Promise<OtlpExporter> {
  const [{ OTLPTraceExporter }, { defaultResource, resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const own = resourceFromAttributes({ 'service.name': options.serviceName ?? 'podwire' });
  const exporter = new OTLPTraceExporter({
    url: options.endpoint,
    headers: { ...options.headers },
    timeoutMillis: options.timeoutMs ?? 10_000,
  });
  return createBatchQueue(options, sendWith(exporter, defaultResource().merge(own)), () =>
    exporter.shutdown(),
  );
}

interface ExporterLike {
  export(spans: ReadableSpan[], done: (result: { code: number; error?: Error }) => void): void;
}

function sendWith(exporter: ExporterLike, resource: Resource): SendBatch {
  return (spans) =>
    new Promise((resolve, reject) => {
      exporter.export(
        spans.map((span) => toReadableSpan(span, resource)),
        // 0 is ExportResultCode.SUCCESS.
        ({ code, error }) => (code === 0 ? resolve() : reject(error ?? new Error('the export failed'))),
      );
    });
}

/** The queue before an exporter: one request at a time, bounded, patient. */
export function createBatchQueue(
  options: Omit<OtlpExporterOptions, keyof OtlpSettings>,
  send: SendBatch,
  shutdown: () => Promise<void> = () => Promise.resolve(),
): OtlpExporter {
  const { queueSize = 4096, batchSize = 512, delayMs = 1000, onFailure } = options;
  let queue: Span[] = [];
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;
  let closed = false;
  let failing = false;
  let exported = 0;
  let dropped = 0;
  let failed = 0;

  const sendOne = async (): Promise<void> => {
    const batch = queue.slice(0, batchSize);
    queue = queue.slice(batch.length);
    try {
      await send(batch);
      exported += batch.length;
      failing = false;
    } catch (error) {
      failed += batch.length;
      if (!failing) report(onFailure, error);
      failing = true;
    }
  };
  const sendAll = async (): Promise<void> => {
    while (queue.length > 0) await sendOne();
  };
  /** There is one sender; it also sends the spans that are added while it works. */
  const drain = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    sending ??= sendAll().finally(() => {
      sending = undefined;
      // A span may have been added since the last check.
      if (queue.length > 0) plan();
    });
    return sending;
  };
  const plan = (): void => {
    if (sending !== undefined) return;
    if (queue.length >= batchSize) void drain();
    // Unreferenced: waiting spans must not keep the process alive.
    else timer ??= setTimeout(() => void drain(), delayMs).unref();
  };
  const flush = (deadlineMs = 2000): Promise<void> => within(deadlineMs, drain());

  return {
    add(span) {
      if (closed || queue.length >= queueSize) return void dropped++;
      queue.push(span);
      plan();
    },
    counts: () => ({ exported, dropped, failed, waiting: queue.length }),
    flush,
    async close(deadlineMs = 2000) {
      if (closed) return;
      closed = true;
      await flush(deadlineMs);
      // Spans that could not be sent in time are dropped: they must not keep the process alive.
      dropped += queue.length;
      queue = [];
      await within(
        deadlineMs,
        shutdown().catch(() => undefined),
      );
    },
  };
}

function report(onFailure: ((reason: string) => void) | undefined, error: unknown): void {
  try {
    onFailure?.(error instanceof Error ? error.message : String(error));
  } catch {
    // An observer must not disturb.
  }
}

/** Resolves after so many milliseconds at the latest. The clock keeps the process alive until then. */
function within(milliseconds: number, work: Promise<void>): Promise<void> {
  const either = (over: AbortSignal): Promise<void> => Promise.race([work, untilAborted(over)]);
  return withDeadline(undefined, milliseconds, either, { clock: systemClock });
}
