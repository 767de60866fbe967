import fs from 'node:fs';
import { CriError, type CriRuntime, EventBroadcast } from '@podwire/cri';
import type { StreamingHandlers, StreamingServer } from '@podwire/cri-streaming';
import { warmThreadPool } from '@podwire/linux';
import { createOnDemand, Singleflight } from '@podwire/platform';
import { type Context, settle } from './context.js';
import { Layers } from './layers.js';
import type { NativeRuntimeOptions } from './options.js';
import { recover } from './recover.js';
import { assembleRuntime } from './runtime.js';
import { openStateDirectory } from './state/directory.js';
import { createInventory } from './state/inventory.js';
import { attachStream } from './streams/attach.js';
import { execStream } from './streams/exec.js';
import { forwardPort } from './streams/port-forward.js';

export interface EmbeddedRuntime extends CriRuntime {
  /** The handlers of the streaming server, for a caller that has a server of its own. */
  readonly streamingHandlers: StreamingHandlers;
  /** Lets go of everything: what runs goes on, and is found again at the next start. */
  close(): Promise<void>;
}

/**
 * Opens the runtime and adopts or takes away what a former process left. Needs root.
 * @throws CriError FAILED_PRECONDITION when another process has the directory, or the program is not there
 */
export async function createNativeRuntime(options: NativeRuntimeOptions): Promise<EmbeddedRuntime> {
  if (!fs.existsSync(options.pauseProgram))
    throw new CriError('FAILED_PRECONDITION', `there is no ${options.pauseProgram}; npm run setup builds it`);
  const settled = settle(options);
  const unlock = await openStateDirectory(options.directory, settled.clock);
  const [closing, released] = [new AbortController(), new AbortController()];
  const context: Context = {
    ...settled,
    inventory: createInventory(),
    events: new EventBroadcast(),
    layers: new Layers(settled, closing.signal),
    creations: new Singleflight(),
    terminations: new Singleflight(),
    closing: closing.signal,
    isReleased: () => released.signal.aborted,
  };
  const release = (): void => {
    closing.abort();
    released.abort();
    letGo(context);
    unlock();
  };
  try {
    await warmThreadPool();
    await recover(context);
  } catch (error) {
    release();
    throw error;
  }
  return open(context, closing, release);
}

function open(context: Context, closing: AbortController, release: () => void): EmbeddedRuntime {
  const streamingHandlers: StreamingHandlers = {
    exec: (id, argv, call) => execStream(context, id, argv, call),
    attach: (id, call) => attachStream(context, id, call),
    portForward: (id, port, stream, signal) => forwardPort(context, id, port, stream, signal),
  };
  const streaming = createOnDemand(() => startStreaming(streamingHandlers));
  return {
    ...assembleRuntime(context, () => streaming.get()),
    streamingHandlers,
    close: async () => {
      if (closing.signal.aborted) return;
      closing.abort();
      const starts = [...context.inventory.containers.values()].map(({ starting }) => starting);
      await Promise.allSettled([...starts, context.creations.idle(), context.terminations.idle()]);
      context.events.close();
      await (await streaming.started())?.close();
      release();
    },
  };
}

/** Loaded on first use. */
async function startStreaming(handlers: StreamingHandlers): Promise<StreamingServer> {
  const { createStreamingServer } = await import('@podwire/cri-streaming');
  return createStreamingServer(handlers);
}

function letGo({ inventory }: Context): void {
  for (const { pause } of inventory.sandboxes.values()) pause?.connection.close();
  for (const { shim } of inventory.containers.values()) shim?.connection.close();
}
