import type { Command } from 'commander';
import { addExamples } from '../command.js';
import type { Io } from '../io.js';
import { showView } from '../output/show.js';
import { nameOf } from '../pods/list.js';
import { addListOptions, openPodView } from '../pods/view.js';

/** From the time when there were two lists. Scripts rely on its JSON and its exit code. */
export function define(command: Command, io: Io): void {
  command
    .description(
      'Lists the pods as `podwire ps` does. It needs the node agent; its JSON has the attachments alone.',
    )
    .action(() => show(command, io));
  addListOptions(command);
  addExamples(command, [
    ['podwire ps', 'the same list'],
    ['podwire pods -o json', '{"endpoints":[…]}'],
  ]);
}

async function show(command: Command, io: Io): Promise<void> {
  const view = await openPodView(command, io, 'node agent');
  return showView(command, io, {
    ...view,
    data: ({ endpoints }) => ({
      endpoints: endpoints.toSorted((a, b) => compare(nameOf(a), nameOf(b)) || compare(a.key, b.key)),
    }),
    names: ({ rows }) => rows.filter(({ endpoints }) => endpoints.length > 0).map(({ target }) => target),
  });
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
