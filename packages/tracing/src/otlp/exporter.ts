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
  return new OtlpExporter(options, sendWith(exporter, defaultResource().merge(own)), () =>
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

/**
 * The queue before an exporter: one request at a time, bounded, patient. It takes spans away without ever disturbing: nothing
 * here throws, rejects or waits, save what is awaited on purpose.
 */
export class OtlpExporter {
  readonly #options: Omit<OtlpExporterOptions, keyof OtlpSettings>;
  readonly #send: SendBatch;
  readonly #shutdown: () => Promise<void>;
  #queue: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isClosed = false;
  #isFailing = false;
  readonly #counts = { exported: 0, dropped: 0, failed: 0 };

  constructor(
    options: Omit<OtlpExporterOptions, keyof OtlpSettings>,
    send: SendBatch,
    shutdown: () => Promise<void> = () => Promise.resolve(),
  ) {
    this.#options = options;
    this.#send = send;
    this.#shutdown = shutdown;
  }

  /** Fits `onEnd` of a tracer. */
  readonly add = (span: Span): void => {
    const { queueSize = 4096 } = this.#options;
    if (this.#isClosed || this.#queue.length >= queueSize) return void this.#counts.dropped++;
    this.#queue.push(span);
    this.#plan();
  };

  counts(): ExportCounts {
    return { ...this.#counts, waiting: this.#queue.length };
  }

  /** Sends what waits; resolves when that is done or the time (milliseconds, default 2000) is over. */
  flush(deadlineMs = 2000): Promise<void> {
    return within(deadlineMs, this.#drain());
  }

  /** Flushes and ends. Later spans are dropped. */
  async close(deadlineMs = 2000): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.flush(deadlineMs);
    // Spans that could not be sent in time are dropped: they must not keep the process alive.
    this.#counts.dropped += this.#queue.length;
    this.#queue = [];
    const ended = this.#shutdown().catch(() => undefined);
    await within(deadlineMs, ended);
  }

  #plan(): void {
    const { batchSize = 512, delayMs = 1000 } = this.#options;
    if (this.#sending !== undefined) return;
    if (this.#queue.length >= batchSize) void this.#drain();
    // Unreferenced: waiting spans must not keep the process alive.
    else this.#timer ??= setTimeout(() => void this.#drain(), delayMs).unref();
  }

  /** There is one sender; it also sends the spans that are added while it works. */
  #drain(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
      // A span may have been added since the last check.
      if (this.#queue.length > 0) this.#plan();
    });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#queue.length > 0) await this.#sendOne();
  }

  async #sendOne(): Promise<void> {
    const { batchSize = 512, onFailure } = this.#options;
    const batch = this.#queue.splice(0, batchSize);
    try {
      await this.#send(batch);
      this.#counts.exported += batch.length;
      this.#isFailing = false;
    } catch (error) {
      this.#counts.failed += batch.length;
      if (!this.#isFailing) report(onFailure, error);
      this.#isFailing = true;
    }
  }
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
