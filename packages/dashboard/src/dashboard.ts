/** Server and collector together. */
import path from 'node:path';
import { bracketHost } from '@podwire/addresses';
import { type Clock, systemClock } from '@podwire/platform';

import { loadAssets } from './server/assets.js';
import { createToken } from './server/guard.js';
import { serveDashboard } from './server/server.js';
import { Collector } from './collect/collector.js';
import type { DashboardSources } from './sources.js';

export interface DashboardOptions {
  readonly sources: DashboardSources;
  /** An address of this machine; 127.0.0.1 when absent. */
  readonly listen?: string;
  /** 0 when absent: a free one. */
  readonly port?: number;
  readonly token?: string;
  readonly clock?: Clock;
}

export interface Dashboard {
  /** With the token: it opens the page. */
  readonly url: string;
  readonly port: number;
  readonly token: string;
  close(): Promise<void>;
}

/** @throws PodwireError DASHBOARD_FAILED when it cannot listen there */
export async function startDashboard({
  sources,
  listen = '127.0.0.1',
  port: wanted = 0,
  token = createToken(),
  clock = systemClock,
}: DashboardOptions): Promise<Dashboard> {
  const collector = new Collector(sources, clock);
  const assets = loadAssets(path.resolve(import.meta.dirname, '../..'));
  const server = await serveDashboard({ listen, port: wanted, token, assets, collector });
  const stopped = new AbortController();
  const running = collector.run(stopped.signal);
  return {
    url: `http://${bracketHost(listen)}:${server.port}/?token=${token}`,
    port: server.port,
    token,
    close: async () => {
      stopped.abort();
      await Promise.all([server.close(), running]);
    },
  };
}
