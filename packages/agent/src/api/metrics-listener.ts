/** The loopback listener of health and metrics, which a reload may move. */
import type { ApiServer } from '@podwire/local-api';
import type { AgentConfig } from '../config/index.js';
import { startMetricsServer } from './api-server.js';
import type { ApiContext } from './routes.js';

type Listen = AgentConfig['metrics']['listen'];

export class MetricsListener {
  readonly #api: ApiContext;
  #server: ApiServer | undefined;

  constructor(api: ApiContext) {
    this.#api = api;
  }

  /** Listens there instead; the earlier place is given up when the new one is had. @throws PodwireError CONFIG_INVALID */
  async move(listen: Listen): Promise<void> {
    const before = this.#server;
    this.#server = listen === undefined ? undefined : await startMetricsServer(listen, this.#api);
    await before?.stop();
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }
}
