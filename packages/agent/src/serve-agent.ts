/** The agent as a service: signals, and what the service manager is told. */
import { openServiceNotifier, type ServiceNotifier } from '@podwire/linux';
import type { Agent } from './agent.js';
import type { AgentConfig } from './config/index.js';
import { createLog, type Log } from './log.js';
import { type NodeAgentOptions, startNodeAgent } from './run-agent.js';

/**
 * Milliseconds after which the service manager hears that the agent runs, also when it is not ready for pods: it listens, tells
 * runtimes to try again, and goes on trying. To start it again would help nothing.
 */
const patience = 15_000;

/**
 * Runs an agent until the process is asked to stop (SIGTERM, SIGINT). A second signal ends it at once. SIGHUP loads the
 * configuration again.
 */
export async function runAgent(config: AgentConfig, options: NodeAgentOptions = {}): Promise<void> {
  const log = options.log ?? createLog({ level: config.log.level, nodeName: config.nodeName });
  const notifier = openServiceNotifier({
    env: process.env,
    pid: process.pid,
    monotonic: () => process.hrtime.bigint() / 1_000n,
    onTrouble: (message) => log.warn(message),
  });
  const asked = waitForSignal();
  const starting = startNodeAgent(config, { ...options, log });
  // From the first moment: without a listener the signal would end the process.
  const onReload = (): void => void starting.then((agent) => reload(agent, notifier)).catch(() => undefined);
  process.on('SIGHUP', onReload);
  try {
    await serveUntil(asked, await starting, { log, notifier });
  } finally {
    process.off('SIGHUP', onReload);
    notifier.close();
  }
}

async function serveUntil(
  asked: Promise<string>,
  agent: Agent,
  { log, notifier }: { readonly log: Log; readonly notifier: ServiceNotifier },
): Promise<void> {
  const stopFeeding = announce(agent, log, notifier);
  log.info({ signal: await asked }, 'asked to stop');
  stopFeeding();
  notifier.stopping();
  await agent.stop();
}

/** @returns ends what it tells */
function announce(agent: Agent, log: Log, notifier: ServiceNotifier): () => void {
  const tellReady = (): void => {
    clearTimeout(timer);
    notifier.ready(agent.describe());
  };
  const timer = setTimeout(tellReady, patience);
  agent.ready.then(
    () => {
      log.info({ ms: Math.round(performance.now()) }, 'ready');
      tellReady();
    },
    (error: unknown) => log.warn({ err: error }, 'stopped before it was ready'),
  );
  const stopFeeding = notifier.feedWatchdog(
    () => agent.reconciler.isWorking(),
    () => agent.describe(),
  );
  return () => {
    clearTimeout(timer);
    stopFeeding();
  };
}

/** A fault is in the log by then. */
async function reload(agent: Agent, notifier: ServiceNotifier): Promise<void> {
  notifier.reloading();
  try {
    await agent.configuration.reload();
  } finally {
    notifier.ready(agent.describe());
  }
}

function waitForSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        resolve(signal);
        process.once(signal, () => process.exit(1));
      });
    }
  });
}
