/** Server-sent events: everything first, then the parts that change. */
import type { ServerResponse } from 'node:http';
import type { Collector } from '../collect/collector.js';

/** Bytes that may wait for a reader that does not read. */
const mostPending = 4 << 20;
/** Milliseconds: a line that keeps proxies from closing a quiet connection. */
const heartbeat = 15_000;

export function streamView(
  collector: Pick<Collector, 'view' | 'subscribe'>,
  response: ServerResponse,
  onEnd: () => void,
): void {
  const send = (data: string): void => {
    response.write(data);
    if (response.writableLength > mostPending) response.destroy();
  };
  const sendView = (view: object): void => send(`data: ${JSON.stringify(view)}\n\n`);
  sendView(collector.view);
  const unsubscribe = collector.subscribe(sendView);
  const timer = setInterval(() => send(': here\n\n'), heartbeat);
  response.once('close', () => {
    clearInterval(timer);
    unsubscribe();
    onEnd();
  });
}
