import path from 'node:path';
import type { Command } from 'commander';
import { addExamples, optionsOf } from '../command.js';

/** `podwire agent`: runs until SIGTERM or SIGINT; the network of pods stays as it is. */
export function define(command: Command): void {
  command
    .description(
      'Runs the node agent in the foreground: the CNI server, the API and the reconcile loop. It works on the network namespace it is started in. Logs are JSON lines on standard output. SIGTERM stops it; the network of pods stays. SIGHUP loads the configuration again (podwire config reload).',
    )
    .option('--config <file>', 'YAML; every key is in docs/configuration.md (default: all defaults)')
    .action(async () => {
      const { openConfig, runAgent } = await import('@podwire/agent');
      const { config: file } = optionsOf(command) as { config?: string };
      const { config, origin } = openConfig(file === undefined ? undefined : path.resolve(file));
      await runAgent(config, { origin });
    });
  addExamples(command, [
    ['podwire agent', 'with the defaults: pools 10.244.0.0/16 and fd00:244::/48'],
    ['podwire agent --config /etc/podwire/agent.yaml', ''],
  ]);
}
