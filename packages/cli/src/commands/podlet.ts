import type { Command } from 'commander';
import { addExamples, optionsOf } from '../command.js';
import type { Io } from '../io.js';
import { addLogRotation, addPodOptions, addRuntimeOptions, defaultPluginPath } from '../pod-agent/options.js';
import type { PodAgentWords } from '../pod-agent/settings.js';
import { addDirectory, locateDirectory } from '../pods/locate.js';

/** `podwire podlet`: runs until SIGTERM or SIGINT; pods go on. */
export function define(command: Command, io: Io): void {
  command
    .description(
      'Runs the pod agent in the foreground: it runs the pods of manifest files, URLs and an API server on a container runtime. `podwire up` starts one itself. Logs are JSON lines on standard output. SIGTERM stops it; pods keep running, and the next pod agent adopts them.',
    )
    .option('--runtime <name>', 'embedded, docker, containerd, crio, or the path of a CRI socket', 'embedded')
    .action(() => run(command, io));
  addDirectory(addLogRotation(addPodOptions(addRuntimeOptions(command))));
  addExamples(command, [
    ['podwire podlet --manifests /etc/podwire/pods', ''],
    ['podwire podlet --runtime containerd --kubeconfig /etc/kubernetes/kubelet.conf', ''],
  ]);
}

async function run(command: Command, io: Io): Promise<void> {
  const [{ runPodAgent }, { readPodAgentSettings }, { createLog }, os] = await Promise.all([
    import('../pod-agent/run-pod-agent.js'),
    import('../pod-agent/settings.js'),
    import('@podwire/agent/log'),
    import('node:os'),
  ]);
  const words = { cniBinDir: defaultPluginPath, ...optionsOf(command) } as unknown as PodAgentWords;
  const settings = readPodAgentSettings(locateDirectory(command, io), words, os.hostname());
  const log = createLog({ level: io.env['PODWIRE_LOG_LEVEL'] ?? 'info', nodeName: settings.nodeName });
  const stopped = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => stopped.abort(new Error(signal)));
  await runPodAgent(settings, log, stopped);
}
