import path from 'node:path';
import { type Command, Option } from 'commander';
import { addExamples, optionsOf } from '../command.js';
import type { Io } from '../io.js';
import { addLogRotation, addPodOptions, addRuntimeOptions, defaultPluginPath } from '../pod-agent/options.js';
import type { OptionFile, OptionValues } from '../pod-agent/option-file.js';
import type { PodAgentWords } from '../pod-agent/settings.js';
import { addDirectory, locateDirectory } from '../pods/locate.js';

/** `podwire podlet`: runs until SIGTERM or SIGINT; pods go on. */
export function define(command: Command, io: Io): void {
  command
    .description(
      'Runs the pod agent in the foreground: it runs the pods of manifest files, URLs and an API server on a container runtime. `podwire up` starts one itself. Logs are JSON lines on standard output. SIGTERM stops it; pods keep running, and the next pod agent adopts them. SIGHUP loads its file again.',
    )
    .option(
      '--config <file>',
      'YAML with these options as keys, in camel case: nodeName, manifests, … (podlet.yaml)',
    )
    .addOption(
      new Option(
        '--log-level <level>',
        'the lowest level that is logged (default: $PODWIRE_LOG_LEVEL or info)',
      ).choices([...['trace', 'debug', 'info', 'warn', 'error', 'fatal']]),
    )
    .option('--runtime <name>', 'embedded, docker, containerd, crio, or the path of a CRI socket', 'embedded')
    .action(() => run(command, io));
  addDirectory(addLogRotation(addPodOptions(addRuntimeOptions(command))));
  addExamples(command, [
    ['podwire podlet --manifests /etc/podwire/pods', ''],
    ['podwire podlet --config /etc/podwire/podlet.yaml', 'manifests: [/etc/podwire/pods]'],
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
  const given = givenWords(command);
  const readFile = await openOptionFile(command);
  const file = readFile();
  const words = { cniBinDir: defaultPluginPath, ...optionsOf(command), ...file?.values, ...given };
  const settings = readPodAgentSettings(
    locateDirectory(command, io),
    words as unknown as PodAgentWords,
    os.hostname(),
  );
  const defaultLevel = io.env['PODWIRE_LOG_LEVEL'] ?? 'info';
  const { logLevel = defaultLevel } = words as { logLevel?: string };
  const log = createLog({ level: logLevel, nodeName: settings.nodeName });
  const stopped = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => stopped.abort(new Error(signal)));
  await runPodAgent(settings, log, stopped, {
    given,
    initial: file,
    readAgain: readFile,
    setLogLevel: (level = given['logLevel'] ?? defaultLevel) => void (log.level = String(level)),
  });
}

/** Without what the command line says too: that counts more, also after a reload. */
async function openOptionFile(command: Command): Promise<() => OptionFile | undefined> {
  const { config } = optionsOf(command) as { config?: string };
  if (config === undefined) return () => undefined;
  const { readOptionFile } = await import('../pod-agent/option-file.js');
  const given = givenWords(command);
  return () => {
    const read = readOptionFile(path.resolve(config), command);
    return {
      ...read,
      values: Object.fromEntries(Object.entries(read.values).filter(([key]) => !(key in given))),
    };
  };
}

/** Options given on the command line itself. */
function givenWords(command: Command): OptionValues {
  const all = Object.entries(command.opts<Record<string, string | string[]>>());
  return Object.fromEntries(all.filter(([key]) => command.getOptionValueSource(key) === 'cli'));
}
