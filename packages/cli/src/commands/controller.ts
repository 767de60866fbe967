import type { Command } from 'commander';
import { compact } from '@podwire/platform';
import { readDuration } from '../cluster/arguments.js';
import { addStore, requireCluster } from '../cluster/options.js';
import { serveMetrics } from '../cluster/serve-metrics.js';
import { addExamples, optionsOf } from '../command.js';
import { untilInterrupted } from '../interrupt.js';
import type { Io } from '../io.js';

interface Options {
  readonly name?: string;
  readonly vanishAfter?: number;
  readonly grace?: number;
  readonly lease?: number;
  readonly metrics?: string;
}

/** `podwire controller`: until SIGTERM or SIGINT. */
export function define(command: Command, io: Io): void {
  command
    .description(
      'Runs a controller in the foreground: it detects nodes that are gone, releases their blocks and addresses after a day, and repairs what `podwire ipam check` finds. Several may run; one is elected leader. Agents run one each by themselves unless their configuration says `cluster.controller: false`. Logs are JSON lines on standard output.',
    )
    .option('--name <name>', 'name in the leader election (host name and process)')
    .option(
      '--vanish-after <duration>',
      'time without a lease after which a node is released; the same everywhere (24h)',
      readDuration,
    )
    .option('--grace <duration>', 'how long a problem must persist before it is repaired (15m)', readDuration)
    .option('--lease <duration>', 'time until another controller leads (15s)', readDuration)
    .option('--metrics <listen>', 'serve metrics for Prometheus at HOST:PORT')
    .action(() => run(command, io));
  addStore(command);
  addExamples(command, [
    ['podwire controller --store etcd://10.0.0.1:2379', ''],
    ['podwire controller --config /etc/podwire/agent.yaml --metrics 127.0.0.1:9402', ''],
    ['podwire controller --store embedded:/var/lib/podwire/store --vanish-after 1h', ''],
  ]);
}

async function run(command: Command, io: Io): Promise<void> {
  const options = optionsOf(command) as Options;
  const place = await requireCluster(command, io);
  const [{ runController, renderMetrics }, { createLog }, { systemClock }, os] = await Promise.all([
    import('@podwire/controller'),
    import('@podwire/agent/log'),
    import('@podwire/platform'),
    import('node:os'),
  ]);
  const name = options.name ?? `${os.hostname()}/${process.pid}`;
  const log = createLog({ level: io.env['PODWIRE_LOG_LEVEL'] ?? 'info', nodeName: os.hostname() });
  const vanishAfter = options.vanishAfter ?? place.vanishAfter;
  await untilInterrupted(io, async (signal) => {
    let stopMetrics: (() => Promise<void>) | undefined;
    try {
      await runController(
        {
          store: place.spec,
          root: place.root,
          clock: io.cluster?.clock ?? systemClock,
          log,
          name,
          ...compact({ evictionTimeout: vanishAfter, grace: options.grace, ttl: options.lease }),
          onStart: async (controller) => {
            log.info({ name, store: place.spec.kind, root: place.root }, 'the controller is a candidate');
            if (options.metrics === undefined) return;
            stopMetrics = await serveMetrics(options.metrics, () => renderMetrics(controller.metrics()));
          },
        },
        signal,
      );
    } finally {
      await stopMetrics?.();
    }
  });
}
