import type { Command } from 'commander';
import { openLocatedApi } from '../api/locate.js';
import type { Column, TableOptions } from '../render/table.js';
import { addAgent, addExamples, addOutput, outputOf } from '../command.js';
import { colorsFor, exitCodes, type Io, printable, widthOf, writeJson, writeLines } from '../io.js';

/** Answer of `GET /v1/bgp`. */
interface SessionsView {
  readonly sessions: readonly {
    readonly neighbour: string;
    readonly state: string;
    readonly since: string;
    readonly lastError?: string;
  }[];
}

export function define(command: Command, io: Io): void {
  command
    .description(
      'Lists the BGP sessions of this node with its routers. Exit code 4 when one is not established.',
    )
    .action(() => show(command, io));
  addOutput(addAgent(command), ['text', 'wide', 'json']);
  addExamples(command, [
    ['podwire bgp', ''],
    ['podwire bgp -o json', '{"sessions":[…]}'],
  ]);
}

async function show(command: Command, io: Io): Promise<void> {
  const api = await openLocatedApi(command, io);
  const answer = await api.get<SessionsView>('/v1/bgp');
  if (answer.sessions.some(({ state }) => state !== 'Established')) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') return writeJson(io, answer);
  const { renderTable } = await import('../render/table.js');
  return writeLines(io, renderTable(sessionTable(answer), colorsFor(io, io.stdout), widthOf(io)));
}

export function sessionTable({ sessions }: SessionsView): TableOptions {
  const rows = sessions.map(({ neighbour, state, since, lastError = '' }) =>
    [neighbour, state, since, lastError].map(printable),
  );
  const head: Column[] = [
    { title: 'ROUTER' },
    { title: 'STATE', cut: 'never', importance: Infinity },
    { title: 'SINCE', cut: 'never', importance: 1 },
    { title: 'LAST ERROR', importance: 2 },
  ];
  return { head, rows };
}
