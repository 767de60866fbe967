import type { Scope } from './lifecycle/context.js';
import { retryLeftovers } from './lifecycle/recover.js';
import type { Watched } from './watched.js';

/** Milliseconds between attempts for leftovers. */
const retryMs = 60_000;

/** Looks and asks every so often until the signal. What events miss is found here. */
export async function poll(
  scope: Scope,
  watched: Watched,
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = scope.system;
  const retry = createRetry(scope, signal);
  for (;;) {
    try {
      await clock.sleep(everyMs, signal);
    } catch {
      return;
    }
    await watched.chooser.poll();
    await watched.probe();
    retry();
  }
}

/** Beside the polling: a plugin that hangs once more must not keep it from seeing a new configuration. */
function createRetry(scope: Scope, signal: AbortSignal): () => void {
  const { clock } = scope.system;
  let triedAt = clock.elapsed();
  let trying = false;
  return () => {
    if (trying || scope.leftovers.size === 0 || clock.elapsed() - triedAt < retryMs) return;
    trying = true;
    void retryLeftovers(scope, signal).finally(() => {
      trying = false;
      triedAt = clock.elapsed();
    });
  };
}
