import { compact } from '@podwire/platform';
import type { PodRestarted, PodView } from '@podwire/podlet';
import type { Command } from 'commander';
import { addExamples, addOutput, optionsOf, readSeconds } from '../command.js';
import type { Io } from '../io.js';
import { addDirectory } from '../pods/locate.js';
import { changePods } from '../pods/change.js';

export function define(command: Command, io: Io): void {
  command
    .description(
      'Restarts the containers of pods, or one container; each has its grace period to end. A pod that runs keeps its sandbox and its addresses. A pod that was stopped, or has ended, begins anew.',
    )
    .argument('<pods...>', 'NAME, NAMESPACE/NAME, or pod/NAME')
    .option('-n, --namespace <name>', 'the namespace of the pods')
    .option('-c, --container <name>', 'only this container')
    .option('--timeout <seconds>', 'how long to wait for containers to run again', readSeconds, 60)
    .action((words: string[]) => run(command, io, words));
  addDirectory(addOutput(command));
  addExamples(command, [
    ['podwire restart web', ''],
    ['podwire restart shop/web -c sidecar', 'one container'],
  ]).addHelpText('after', '\nExit code 4: a container did not run again in time.');
}

async function run(command: Command, io: Io, words: readonly string[]): Promise<void> {
  const { container } = optionsOf(command) as { container?: string };
  await changePods(command, io, words, {
    doing: 'restarting',
    done: 'restarted',
    request: async (api, { namespace, name }) => {
      const target = { namespace, name, ...compact({ container }) };
      const { pod, containers } = await api.post<PodRestarted>('/v1/pods/restart', target);
      return (now) => runAnew(pod, containers, now);
    },
  });
}

/** Each container has another instance than before, which has been started. */
function runAnew(before: PodView, names: readonly string[], now: PodView | undefined): boolean {
  return names.every((name) => {
    const fresh = now?.containers.find((each) => each.name === name);
    const old = before.containers.find((each) => each.name === name);
    const hasBegun = fresh?.state.running !== undefined || fresh?.state.terminated !== undefined;
    return hasBegun && fresh.containerID !== old?.containerID;
  });
}
