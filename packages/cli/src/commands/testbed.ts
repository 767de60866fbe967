import { compact } from '@podwire/platform';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  encapsulationChoices,
  fabrics,
  familyChoices,
  modelChoices,
  type Shape,
  sdnModes,
  storeKinds,
  defaultName,
  defaultShape,
} from '@podwire/testbed/shape';
import { addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import type { Io } from '../io.js';
import { centralDaemons, nodeDaemons, readDaemonName } from '../testbed/daemon-names.js';

export function define(command: Command, io: Io): void {
  command.description(
    'A cluster on this machine to try, to break and to test with: nodes that are network namespaces, each with an agent of its own, joined by a bridge, with a real etcd. The network of this machine is not touched. Needs root, iproute2, nftables and etcd-server.',
  );
  defineUp(command, io);
  defineDown(command, io);
  defineStatus(command, io);
  defineExec(command, io);
  definePod(command, io);
  defineRestart(command, io);
}

function defineUp(parent: Command, io: Io): void {
  const up = parent
    .command('up')
    .summary('create one')
    .description('Creates a testbed, which runs in the background until `podwire testbed down`.')
    .option('--nodes <number>', 'how many nodes', readNumber, defaultShape.nodes)
    .addOption(
      new Option('--fabric <kind>', 'how packets reach pods of other nodes')
        .choices(fabrics)
        .default(defaultShape.fabric),
    )
    .addOption(
      new Option('--store <kind>', 'the store of the nodes').choices(storeKinds).default(defaultShape.store),
    )
    .addOption(
      new Option('--families <which>', 'address families; by default those of the kernel').choices(
        familyChoices,
      ),
    )
    .option('--pods <number>', 'how many pods on each node', readNumber, defaultShape.pods)
    .option('--subnets <number>', 'number of segments, joined by a router', readNumber, defaultShape.subnets)
    .addOption(
      new Option('--model <model>', 'the network model of the nodes')
        .choices(modelChoices)
        .default(defaultShape.model),
    )
    .addOption(
      new Option('--mode <mode>', 'how the model sdn keeps namespaces apart')
        .choices(sdnModes)
        .default(defaultShape.mode),
    )
    .addOption(
      new Option('--encapsulation <kind>', 'of the tunnels between nodes of the model ovn')
        .choices(encapsulationChoices)
        .default(defaultShape.encapsulation),
    )
    .addOption(new Option('--testbed <name>', 'its name').default(defaultName))
    .addOption(earlierName())
    .option('--foreground', 'remove it on Ctrl-C')
    .action(() => runUp(up, io));
  addOutput(up);
  addExamples(up, [
    ['podwire testbed up', ''],
    ['podwire testbed up --nodes 4 --subnets 2 --fabric vxlan-cross-subnet', ''],
    ['podwire testbed up --nodes 20 --pods 5 --families ipv6 --testbed large', ''],
    ['podwire testbed up --model sdn --mode subnet', 'with an Open vSwitch on each node'],
    ['podwire testbed up --nodes 2 --model ovn --encapsulation vxlan', 'with OVN as well'],
  ]).addHelpText('after', '\nExit code 4: it is up, but not all pods reach each other.');
}

function readNumber(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number.');
}

async function runUp(command: Command, io: Io): Promise<void> {
  const options = optionsOf(command) as unknown as Omit<Shape, 'families'> & {
    families?: Shape['families'];
    foreground?: boolean;
  };
  const { bringUpTestbed } = await import('../testbed/up.js');
  const { nodes, fabric, store, families, pods, subnets, model, mode, encapsulation } = options;
  const chosen = compact({ families, mode, encapsulation });
  return bringUpTestbed(io, {
    ...{
      name: nameOf(command) ?? defaultName,
      shape: { nodes, fabric, store, pods, subnets, model, ...chosen },
    },
    foreground: options.foreground === true,
    json: outputOf(command) === 'json',
  });
}

/** `--testbed` up to version 0.1.0. */
const earlierName = (): Option => new Option('--name <name>').hideHelp();

function addTestbed(command: Command): Command {
  return command
    .option('--testbed <name>', 'which one; $PODWIRE_TESTBED or the only one when absent')
    .addOption(earlierName());
}

function nameOf(command: Command): string | undefined {
  const { name, testbed } = optionsOf(command) as { name?: string; testbed?: string };
  return name ?? testbed;
}

function defineDown(parent: Command, io: Io): void {
  const down = parent
    .command('down')
    .summary('remove one')
    .description('Removes all processes, namespaces and files of a testbed, also of an incomplete one.')
    .option('--all', 'every testbed of this machine')
    .action(() => runDown(down, io));
  addOutput(addTestbed(down));
  addExamples(down, [
    ['podwire testbed down', ''],
    ['podwire testbed down --all', ''],
  ]).addHelpText('after', '\nExit code 4: something was left behind.');
}

async function runDown(command: Command, io: Io): Promise<void> {
  const { all } = optionsOf(command) as { all?: boolean };
  const { tearDownTestbeds } = await import('../testbed/down.js');
  return tearDownTestbeds(io, {
    name: nameOf(command),
    all: all === true,
    json: outputOf(command) === 'json',
  });
}

function defineStatus(parent: Command, io: Io): void {
  const status = parent
    .command('status')
    .summary('its nodes, agents and pods')
    .description('Shows the state of the nodes, agents and pods of a testbed.')
    .action(() => runStatus(status, io));
  addOutput(addTestbed(status), ['text', 'wide', 'json']);
  addExamples(status, [
    ['podwire testbed status', ''],
    ['podwire testbed status -o json', ''],
  ]).addHelpText(
    'after',
    '\nExit code 4: an agent, the store, or a daemon of the model does not run, or is not ready.',
  );
}

async function runStatus(command: Command, io: Io): Promise<void> {
  const { showTestbed } = await import('../testbed/show.js');
  return showTestbed(io, nameOf(command), outputOf(command) === 'json');
}

function defineExec(parent: Command, io: Io): void {
  const exec = parent
    .command('exec')
    .summary('run a program on a node or in a pod')
    .description(
      'Runs a program in the network of a node, of a pod, or of the `fabric` that joins the nodes, with the files of this machine. There `podwire` uses the agent of that node and the store of the testbed. Exits with the exit code of the program.',
    )
    .argument('<where>', 'a node, a pod (NAME or NAMESPACE/NAME), or `fabric`')
    .argument('<argv...>', 'the program and its arguments, behind --')
    .passThroughOptions()
    // Options that follow are the program's; commander leaves the -- in front of them.
    .action((where: string, argv: string[]) =>
      runExec(exec, io, where, argv[0] === '--' ? argv.slice(1) : argv),
    );
  addTestbed(exec);
  addExamples(exec, [
    ['podwire testbed exec node1 -- ip route', ''],
    ['podwire testbed exec pod1a -- ping -c 3 10.10.1.12', ''],
    ['podwire testbed exec node2 -- podwire ps', ''],
    ['podwire testbed exec fabric -- ip link set node2 down', 'pull the cable of node2'],
  ]);
}

async function runExec(command: Command, io: Io, where: string, argv: readonly string[]): Promise<void> {
  const { execInTestbed } = await import('../testbed/exec.js');
  return execInTestbed(io, { name: nameOf(command), where, argv });
}

function definePod(parent: Command, io: Io): void {
  const pod = parent
    .command('pod')
    .summary('add, annotate and delete pods')
    .description('Adds, annotates and deletes pods.');
  definePodAdd(pod, io);
  definePodAnnotate(pod, io);
  definePodDelete(pod, io);
}

const collect = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];

function definePodAdd(parent: Command, io: Io): void {
  const add = parent
    .command('add')
    .summary('attach one to a node')
    .description(
      'Makes a pod and attaches it by the plugin, with the labels and ports that policy knows it by. When it ends, policy is in force for the pod. Its network namespace is in `podwire testbed status -o json`.',
    )
    .argument('<node>', 'where it runs')
    .argument('<pod>', 'NAMESPACE/NAME; NAME alone is of the namespace default')
    .option('--label <key=value>', 'a label; may be given again', collect)
    .option('--port <name:protocol:number>', 'a named port; may be given again', collect)
    .option('--annotation <key=value>', 'an annotation of the pod; may be given again', collect)
    .action((node: string, pod: string) => runPodAdd(add, io, node, pod));
  addOutput(addTestbed(add));
  addExamples(add, [
    ['podwire testbed pod add node1 shop/web --label app=web --port http:tcp:8080', ''],
    ['podwire testbed pod add node2 shop/db --label app=db -o json', 'with its addresses and its namespace'],
    [
      'podwire testbed pod add node1 shop/cache --annotation ovn.kubernetes.io/ip_address=10.16.0.99',
      'in a testbed of the model ovn',
    ],
  ]);
}

async function runPodAdd(command: Command, io: Io, node: string, pod: string): Promise<void> {
  const {
    label: labels = [],
    port: ports = [],
    annotation: annotations = [],
  } = optionsOf(command) as Partial<Record<'label' | 'port' | 'annotation', readonly string[]>>;
  const { addTestbedPod } = await import('../testbed/pod.js');
  const json = outputOf(command) === 'json';
  return addTestbedPod(io, { name: nameOf(command), node, pod, labels, ports, annotations, json });
}

function definePodAnnotate(parent: Command, io: Io): void {
  const annotate = parent
    .command('annotate')
    .summary('change annotations of one that runs')
    .description(
      'Changes annotations of a pod of the model ovn in the store, from where the controller and the node of the pod follow them: its rates, say.',
    )
    .argument('<pod>', 'NAMESPACE/NAME, or NAME in the namespace default')
    .argument('<annotations...>', 'KEY=VALUE, or KEY- for one that goes')
    .action((pod: string, changes: string[]) => runPodAnnotate(annotate, io, pod, changes));
  addOutput(addTestbed(annotate));
  addExamples(annotate, [
    ['podwire testbed pod annotate shop/web ovn.kubernetes.io/egress_rate=10', '10 Mbit/s from now on'],
    ['podwire testbed pod annotate shop/web ovn.kubernetes.io/egress_rate-', 'without a limit'],
  ]);
}

async function runPodAnnotate(
  command: Command,
  io: Io,
  pod: string,
  changes: readonly string[],
): Promise<void> {
  const { annotateTestbedPod } = await import('../testbed/pod.js');
  const json = outputOf(command) === 'json';
  return annotateTestbedPod(io, { name: nameOf(command), pod, changes, json });
}

function definePodDelete(parent: Command, io: Io): void {
  const remove = parent
    .command('delete')
    .summary('detach and remove one')
    .description('Detaches a pod by the plugin, and removes its network namespace.')
    .argument(
      '<words...>',
      'POD, or NODE POD as for `add`; POD is NAMESPACE/NAME, or NAME in the namespace default',
    )
    .action((words: string[]) => runPodDelete(remove, io, words));
  addOutput(addTestbed(remove));
  addExamples(remove, [
    ['podwire testbed pod delete shop/web', ''],
    ['podwire testbed pod delete node1 shop/web', 'fails where the pod is on another node'],
  ]);
}

async function runPodDelete(command: Command, io: Io, words: readonly string[]): Promise<void> {
  const [pod, node, ...more] = words.toReversed();
  if (pod === undefined || more.length > 0) return command.error('error: name one pod, or a node and a pod');
  const { deleteTestbedPod } = await import('../testbed/pod.js');
  const json = outputOf(command) === 'json';
  return deleteTestbedPod(io, { name: nameOf(command), pod, json, ...compact({ node }) });
}

function defineRestart(parent: Command, io: Io): void {
  const restart = parent
    .command('restart')
    .summary('end a daemon and start it again')
    .description(
      'Ends the agent of a node, a daemon of its Open vSwitch or of its OVN, or one of OVN’s central part, and starts it again. When it ends, the new one serves.',
    )
    .argument(
      '<words...>',
      `NODE and one of ${nodeDaemons.join(', ')}; or, of the central part of OVN, ${centralDaemons.join(', ')} alone`,
    )
    .option('--kill', 'SIGKILL, in the middle of what it does, instead of asking it to end')
    .action((words: string[]) => runRestart(restart, io, words));
  addOutput(addTestbed(restart));
  addExamples(restart, [
    ['podwire testbed restart node1 agent', ''],
    ['podwire testbed restart node2 agent --kill', ''],
    ['podwire testbed restart node1 ovs-vswitchd --kill', 'in a testbed of the models sdn and ovn'],
    ['podwire testbed restart ovn-northd', 'in a testbed of the model ovn'],
  ]);
}

async function runRestart(command: Command, io: Io, words: readonly string[]): Promise<void> {
  const { kill } = optionsOf(command) as { kill?: boolean };
  const daemon = readDaemonName(words);
  if (daemon === undefined)
    return command.error(
      `error: name a node and one of ${nodeDaemons.join(', ')}; or one of ${centralDaemons.join(', ')}`,
    );
  const { restartDaemon } = await import('../testbed/restart.js');
  const json = outputOf(command) === 'json';
  return restartDaemon(io, { name: nameOf(command), daemon, kill: kill === true, json });
}
