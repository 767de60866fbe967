import net from 'node:net';
import { PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { openLocatedApi } from '../api/locate.js';
import type { EndpointView } from '../api/shapes.js';
import { addAgent, addExamples, addOutput, optionsOf, outputOf, readSeconds } from '../command.js';
import type { Named } from '../flows/subject.js';
import { withInterrupt } from '../interrupt.js';
import { colorsFor, type Io, widthOf, writeJson, writeLines } from '../io.js';
import { createRunDirOption } from '../flows/run-dir.js';
import { openLocatedPodApi } from '../pods/locate.js';
import { explainUnknown } from '../pods/not-started.js';
import { readTarget } from './target.js';

interface FlowsOptions {
  readonly bridge: string;
  readonly runDir: string;
  readonly table?: readonly number[];
  readonly stats?: boolean;
  readonly timeout: number;
  readonly namespace?: string;
}

export function define(command: Command, io: Io): void {
  command
    .description(
      'Lists the flows of a bridge of Open vSwitch, table by table, with their counters and whose they are. On a bridge of OpenShift SDN, or of Podwire in its place, each table has its purpose. It asks the bridge itself; an agent is needed only to find a pod by its name.',
    )
    .argument('[pod]', 'only flows with an address or the port of this pod: its name, or an IPv4 address')
    .option('-n, --namespace <name>', 'the namespace of the pod')
    .option('--bridge <name>', 'the bridge', 'br0')
    .addOption(createRunDirOption(io))
    .addOption(
      new Option('--table <list>', 'only these tables, by their numbers: 20,70').argParser(readTables),
    )
    .option('--stats', 'also the age of each flow, and the packets that came to each table')
    .option('--timeout <seconds>', 'how long to wait for the bridge', readSeconds, 10)
    .action((pod: string | undefined) => show(command, io, pod));
  addOutput(addAgent(command));
  addExamples(command, [
    ['podwire flows', 'needs root'],
    ['podwire flows 10.128.2.5', 'of one pod, without an agent'],
    ['podwire flows pod/shop/web --table 20,70', ''],
    ['podwire flows --bridge br-int --stats', ''],
    ['podwire flows -o json', '{"bridge":"br0","sdn":…,"tables":[…]}'],
  ]);
}

function readTables(text: string): number[] {
  const tables = text.split(',').map((word) => (/^\d{1,3}$/.test(word) ? Number(word) : NaN));
  if (tables.every((table) => table <= 254)) return tables;
  throw new InvalidArgumentError('Tables are numbers from 0 to 254, with commas between them.');
}

async function show(command: Command, io: Io, pod: string | undefined): Promise<void> {
  const { bridge, timeout, table: tables, stats = false, ...options } = readOptions(command);
  const [{ readBridge }, { findSubject }, { viewBridge }, { withSlowProgress }] = await Promise.all([
    import('../flows/read.js'),
    import('../flows/subject.js'),
    import('../flows/view.js'),
    import('../cluster/slow-progress.js'),
  ]);
  const [named, dump] = await withInterrupt(async (signal) => {
    const name = pod === undefined ? undefined : await namePod(command, io, pod, signal);
    const ask = () => readBridge({ bridge, ...options }, { signal, timeout });
    return [name, await withSlowProgress(io, `waiting for bridge ${bridge}`, ask)] as const;
  });
  const subject = named && findSubject(named, dump);
  const view = viewBridge(bridge, dump, compact({ tables, subject }));
  if (outputOf(command) === 'json') return writeJson(io, view);
  const { renderFlows } = await import('../flows/render.js');
  return writeLines(
    io,
    renderFlows(view, subject, { width: widthOf(io), stats, paint: colorsFor(io, io.stdout) }),
  );
}

const readOptions = (command: Command): FlowsOptions => optionsOf(command) as unknown as FlowsOptions;

/** An address is enough where no agent is. */
async function namePod(command: Command, io: Io, pod: string, signal: AbortSignal): Promise<Named> {
  if (net.isIPv4(pod)) return { name: pod, addresses: [pod] };
  const name = readTarget(pod, readOptions(command).namespace);
  const api = await openLocatedApi(command, io, { signal });
  try {
    const path = `/v1/endpoints/${encodeURIComponent(name)}`;
    const { addresses, hostInterface: link } = await api.get<EndpointView>(path);
    return { name: `pod ${name}`, addresses, link };
  } catch (error) {
    if (error instanceof PodwireError && error.code === 'AGENT_UNREACHABLE') throw offerAddress(error);
    throw await explainUnknown(error, openLocatedPodApi(command, io), name);
  }
}

const offerAddress = ({ code, message, action, cause }: PodwireError): PodwireError =>
  new PodwireError(code, message, {
    cause,
    action:
      `${action ?? ''} Where there is none, give the IPv4 address of the pod in place of its name.`.trim(),
  });
