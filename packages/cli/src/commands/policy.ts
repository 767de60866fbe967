import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Drop, Explanation, HostPolicyView, PodPolicyView, PolicyView } from '@podwire/agent';
import { openLocatedApi } from '../api/locate.js';
import { addAgent, addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { untilInterrupted } from '../interrupt.js';
import { colorsFor, exitCodes, type Io, widthOf, writeJson, writeLines } from '../io.js';
import { readTarget } from './target.js';

/** In front of the name of a host endpoint: its kind, as `podwire get` has it. */
const hostTarget = 'hostendpoint/';

export function define(command: Command, io: Io): void {
  command.description('Shows which policies are in force, and what they say about a connection.');
  defineShow(command, io);
  defineExplain(command, io);
  defineDrops(command, io);
}

function defineShow(command: Command, io: Io): void {
  const show = command
    .command('show')
    .argument(
      '[target]',
      'pod/NAME, pod/NAMESPACE/NAME or hostendpoint/NAME; the state of the node when absent',
    )
    .summary('what selects a pod or a host endpoint, in order of evaluation')
    .description(
      'Lists the policies that select a pod, or a host endpoint of this node, in the order in which they are evaluated, with their rules. Without either: what is in force on this node.',
    )
    .option('-n, --namespace <name>', 'the namespace of the pod')
    .action((target: string | undefined) => {
      if (target === undefined) return showNode(show, io);
      return target.startsWith(hostTarget) ? showHost(show, io, target) : showPod(show, io, target);
    });
  addAgent(addOutput(show, ['text', 'wide', 'json']));
  addExamples(show, [
    ['podwire policy show', 'revision, counts and problems'],
    ['podwire policy show pod/shop/web', ''],
    ['podwire policy show hostendpoint/edge', ''],
    ['podwire policy show pod/shop/web -o json', '{"pod":…,"ingress":…,"egress":…}'],
  ]).addHelpText('after', '\nExit code 4, without a target: an object is not in force as it is written.');
}

function defineExplain(command: Command, io: Io): void {
  const explain = command
    .command('explain')
    .summary('whether a connection is allowed, and by which rule')
    .description(
      'Says whether policy allows a connection, which rule decides, and in which file and line it stands. With --probe it also sends the packet, from a pod of this node or the node itself.',
    )
    .requiredOption('--from <end>', 'pod/NAMESPACE/NAME, pod/NAME, node/NAME or an address')
    .requiredOption('--to <end>', 'the same')
    .addOption(
      new Option('--port <port>', 'number or name, with the protocol: 80/tcp, dns/udp').argParser(readPort),
    )
    .addOption(new Option('--protocol <protocol>', 'without a port').choices(['icmp', 'icmpv6']))
    .option('--probe', 'send the packet, and compare (TCP, UDP, ICMP; from a pod of this node, or the node)')
    .action(() => explainConnection(explain, io));
  addAgent(addOutput(explain, ['text', 'wide', 'json']));
  addExamples(explain, [
    ['podwire policy explain --from pod/shop/web --to pod/shop/db --port 5432/tcp', ''],
    ['podwire policy explain --from pod/web --to 192.0.2.9 --port 443/tcp --probe', ''],
    ['podwire policy explain --from node/n1 --to pod/web --port http/tcp -o json', '{"verdict":"allow",…}'],
  ]).addHelpText('after', '\nExit code 4: a probe found something else than what policy says.');
}

function defineDrops(command: Command, io: Io): void {
  const drops = command
    .command('drops')
    .summary('packets that policy drops, while they come')
    .description(
      'Tells of packets that policy drops on this node: which policy, from whom, to whom. At most some hundred a second are told; the others are counted.',
    )
    .addOption(new Option('-f, --follow', 'go on until Ctrl-C; without it for one second'))
    .action(() => followDrops(drops, io));
  addAgent(addOutput(drops));
  addExamples(drops, [
    ['podwire policy drops --follow', ''],
    ['podwire policy drops --follow -o json', 'one document a line'],
  ]);
}

interface PortChoice {
  readonly port: number | string;
  readonly protocol: string;
}

function readPort(text: string): PortChoice {
  const match = /^([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\/(tcp|udp|sctp))?$/i.exec(text);
  if (match === null) throw new InvalidArgumentError('It is written as 80/tcp, or NAME/udp.');
  const [, port = '', protocol = 'tcp'] = match;
  if (!/^\d+$/.test(port)) return { port, protocol: protocol.toLowerCase() };
  if (Number(port) >= 1 && Number(port) <= 65_535)
    return { port: Number(port), protocol: protocol.toLowerCase() };
  throw new InvalidArgumentError('A port is a number from 1 to 65535.');
}

async function showNode(command: Command, io: Io): Promise<void> {
  const api = await openLocatedApi(command, io);
  const view = await api.get<PolicyView>('/v1/policy');
  if (view.problems.length > 0 || view.problem !== null) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') return writeJson(io, view);
  const { renderPolicy } = await import('../policy/render.js');
  return writeLines(io, renderPolicy(view, colorsFor(io, io.stdout), widthOf(io)));
}

async function showPod(command: Command, io: Io, target: string): Promise<void> {
  const { namespace } = optionsOf(command) as { namespace?: string };
  const name = readTarget(target, namespace);
  const key = name.includes('/') ? name : `default/${name}`;
  const api = await openLocatedApi(command, io);
  const view = await api.get<PodPolicyView>(`/v1/policy/pods/${encodeURIComponent(key)}`);
  if (outputOf(command) === 'json') return writeJson(io, view);
  const { renderPodPolicy } = await import('../policy/render.js');
  return writeLines(io, renderPodPolicy(key, view, colorsFor(io, io.stdout)));
}

async function showHost(command: Command, io: Io, target: string): Promise<void> {
  const name = target.slice(hostTarget.length);
  const api = await openLocatedApi(command, io);
  const view = await api.get<HostPolicyView>(`/v1/policy/hosts/${encodeURIComponent(name)}`);
  if (outputOf(command) === 'json') return writeJson(io, view);
  const { renderHostPolicy } = await import('../policy/render.js');
  return writeLines(io, renderHostPolicy(view, colorsFor(io, io.stdout)));
}

interface ExplainOptions {
  readonly from: string;
  readonly to: string;
  readonly port?: PortChoice;
  readonly protocol?: string;
  readonly probe?: boolean;
}

async function explainConnection(command: Command, io: Io): Promise<void> {
  const { from, to, port, protocol, probe = false } = optionsOf(command) as unknown as ExplainOptions;
  if ((port === undefined) === (protocol === undefined))
    command.error('error: give either --port or --protocol', { exitCode: 2 });
  const api = await openLocatedApi(command, io);
  const asked = { from, to, ...(port ?? { protocol }) };
  const explanation = await api.post<Explanation>('/v1/policy/explain', asked);
  const { probeConnections } = await import('../policy/probe.js');
  const probes = probe ? await probeConnections(api, explanation) : [];
  if (probes.some(({ agrees }) => agrees === false)) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') return writeJson(io, probe ? { ...explanation, probes } : explanation);
  const { renderExplanation } = await import('../policy/render.js');
  return writeLines(io, renderExplanation(explanation, probes, colorsFor(io, io.stdout)));
}

/** Milliseconds for which packets are told without --follow. */
const glance = 1_000;

async function followDrops(command: Command, io: Io): Promise<void> {
  const { follow = false } = optionsOf(command) as { follow?: boolean };
  const isJson = outputOf(command) === 'json';
  const { renderDrop } = await import('../policy/render.js');
  const paint = colorsFor(io, io.stdout);
  const api = await openLocatedApi(command, io);
  await untilInterrupted(io, async (interrupted) => {
    const over = new AbortController();
    const timer = follow ? undefined : setTimeout(() => over.abort(), glance);
    try {
      const signal = AbortSignal.any([interrupted, over.signal]);
      for await (const drop of api.lines<Drop>('/v1/policy/drops', signal))
        io.stdout.write(`${isJson ? JSON.stringify(drop) : renderDrop(drop, paint)}\n`);
    } catch (error) {
      if (!over.signal.aborted) throw error;
    } finally {
      clearTimeout(timer);
    }
  });
}
