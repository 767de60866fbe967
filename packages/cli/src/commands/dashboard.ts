import { isIP } from 'node:net';
import { untilAborted } from '@podwire/platform';
import { type Command, InvalidArgumentError } from 'commander';
import { addStore } from '../cluster/options.js';
import { addAgent, addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { untilInterrupted } from '../interrupt.js';
import { colorsFor, type Io, writeJson, writeLines } from '../io.js';
import { addDirectory } from '../pods/locate.js';

interface Options {
  readonly port: number;
  readonly listen: string;
  readonly testbed?: string;
}

const loopback = '127.0.0.1';

export function define(command: Command, io: Io): void {
  command
    .description(
      'Serves a web page of nodes, pods, addresses, paths and errors, live, until Ctrl-C. It reads the agents of this machine and changes nothing. The page opens with the printed URL only: it has a token.',
    )
    .option('--port <number>', 'the port to listen at; 0 means a free one', readPort, 0)
    .option('--listen <address>', 'an address of this machine, instead of loopback', readListen, loopback)
    .option('--testbed <name>', 'all nodes of a testbed, instead of this node')
    .action(() => run(command, io));
  addOutput(addStore(addDirectory(addAgent(command)), false));
  addExamples(command, [
    ['podwire dashboard', ''],
    ['podwire dashboard --port 8600', 'a port that stays the same'],
    ['podwire dashboard --testbed default', ''],
    ['podwire dashboard --config /etc/podwire/agent.yaml', 'with the store of its cluster'],
    ['ssh -L 8600:127.0.0.1:8600 NODE podwire dashboard --port 8600', 'from another machine'],
  ]);
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a number from 0 to 65535.');
}

function readListen(text: string): string {
  if (isIP(text) !== 0) return text;
  throw new InvalidArgumentError('It must be an IP address, such as 192.0.2.10 or ::1.');
}

async function run(command: Command, io: Io): Promise<void> {
  const { port, listen, testbed } = optionsOf(command) as unknown as Options;
  const [{ startDashboard }, { openNodeSources, openTestbedSources }] = await Promise.all([
    import('@podwire/dashboard'),
    import('../dashboard/sources.js'),
  ]);
  const name = testbed === undefined ? undefined : await findTestbed(io, testbed);
  await untilInterrupted(io, async (signal) => {
    const opened = await (name === undefined ? openNodeSources(command, io) : openTestbedSources(name));
    try {
      const dashboard = await startDashboard({ sources: opened.sources, listen, port });
      tell(command, io, dashboard, listen);
      await untilAborted(signal);
      await dashboard.close();
    } finally {
      await opened.close();
    }
  });
}

async function findTestbed(io: Io, given: string): Promise<string> {
  const { chooseTestbed } = await import('../testbed/choose.js');
  return chooseTestbed(io, given);
}

function tell(command: Command, io: Io, { url, port }: { url: string; port: number }, listen: string): void {
  if (!['127.0.0.1', '::1'].includes(listen)) {
    const paint = colorsFor(io, io.stderr);
    io.stderr.write(
      `${paint.yellow('warning:')} ${listen} can be reached from other machines, and nothing is encrypted: ` +
        'anyone on the way can read the token. `ssh -L` and the default address are safer.\n',
    );
  }
  if (outputOf(command) === 'json') return writeJson(io, { url, port });
  const paint = colorsFor(io, io.stdout);
  writeLines(io, [
    `dashboard: ${paint.bold(url)}`,
    'Its token lets anyone with the URL read. Ctrl-C ends it.',
  ]);
}
