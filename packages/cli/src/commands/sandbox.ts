import type { Command } from 'commander';
import { addExamples, optionsOf } from '../command.js';
import type { Io } from '../io.js';
import { addRuntimeOptions, defaultPluginPath } from '../pod-agent/options.js';
import type { RuntimeWords } from '../pod-agent/settings.js';
import { addDirectory, locateDirectory } from '../pods/locate.js';

interface SandboxWords extends RuntimeWords {
  readonly listen: string;
}

/** `podwire sandbox`: a CRI server until SIGTERM or SIGINT; sandboxes go on. */
export function define(command: Command, io: Io): void {
  command
    .description(
      'Serves the Container Runtime Interface (v1 and v1alpha2) over Docker Engine, for kubelet, crictl or any other client: sandboxes, containers, images, logs, exec, attach and port-forward. Networks come from CNI. With `--runtime embedded` containers are processes with the files of this machine, for tests.',
    )
    .option('--runtime <name>', 'docker or embedded', 'docker')
    .option('--listen <socket>', 'where to listen', '/run/podwire/cri.sock')
    .option(
      '--take-over [cache-dir]',
      'adopt the sandboxes of dockershim or cri-dockerd, with their network from this cache of CNI results (default: /var/lib/cni/cache); without it they are left alone (runtime docker)',
    )
    .action(() => run(command, io));
  addDirectory(addRuntimeOptions(command));
  addExamples(command, [
    ['podwire sandbox --listen /run/podwire/cri.sock', ''],
    [
      'kubelet --container-runtime=remote --container-runtime-endpoint=unix:///run/podwire/cri.sock',
      'uses it',
    ],
  ]);
}

async function run(command: Command, io: Io): Promise<void> {
  const [
    { openRuntime },
    { readRuntimeSettings },
    { createLog },
    { serveCri },
    { createTracer, noTracer },
    os,
  ] = await Promise.all([
    import('../pod-agent/open-runtime.js'),
    import('../pod-agent/settings.js'),
    import('@podwire/agent/log'),
    import('@podwire/cri'),
    import('@podwire/tracing'),
    import('node:os'),
  ]);
  const words = { cniBinDir: defaultPluginPath, ...optionsOf(command) } as unknown as SandboxWords;
  if (!['docker', 'embedded'].includes(words.runtime)) {
    command.error(`error: --runtime must be docker or embedded, is ${words.runtime}`, { exitCode: 2 });
  }
  const settings = readRuntimeSettings(locateDirectory(command, io), words);
  const log = createLog({ level: io.env['PODWIRE_LOG_LEVEL'] ?? 'info', nodeName: os.hostname() });
  const { openExporter } = await import('../pod-agent/export-spans.js');
  const exporter = await openExporter(io.env, log);
  const tracer = exporter === undefined ? noTracer : createTracer({ onEnd: (span) => exporter.add(span) });
  // Open handles keep the process, also after a failure.
  try {
    const opened = await openRuntime(settings, tracer, log);
    try {
      const server = await serveCri(opened.runtime, { socket: words.listen });
      log.info({ socket: words.listen, ms: Math.round(performance.now()) }, 'ready');
      const signal = await new Promise<string>((resolve) => {
        for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve(name));
      });
      log.info({ signal }, 'asked to stop');
      await server.close();
    } finally {
      await opened.close();
    }
  } finally {
    await exporter?.close();
  }
}
