import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { LocalApi } from '@podwire/local-api';
import { openAgentApi } from '../api/locate.js';
import { locateAgent } from '../api/locate.js';
import type { ClusterStatusView, StatusView } from '../api/shapes.js';
import { addAgent, addExamples, addOutput, optionsOf, readSeconds } from '../command.js';
import { describeDrift } from '../render/drift.js';
import { formatPlural } from '../render/counts.js';
import { type Colors, colorsFor, exitCodes, type Io, printable, widthOf } from '../io.js';
import { addWatch, showView } from '../output/show.js';
import { PodwireError } from '@podwire/errors';

export function define(command: Command, io: Io): void {
  command
    .description('Shows whether the agent can serve pods, and why not.')
    .option('--wait', 'until it is ready')
    .option('--timeout <seconds>', 'how long to wait at most', readSeconds, 60)
    .action(() => show(command, io));
  addOutput(addAgent(addWatch(command)));
  addExamples(command, [
    ['podwire status', ''],
    ['podwire status --wait --timeout 30', 'for scripts that start an agent'],
    ['podwire status -o json', 'everything the agent says'],
  ]).addHelpText('after', '\nExit code 4: the agent answers and is not ready.');
}

async function show(command: Command, io: Io): Promise<void> {
  const { wait, timeout } = optionsOf(command) as { wait?: boolean; timeout: number };
  const api = openAgentApi({ socket: await locateAgent(command, io) });
  let waited = wait === true ? await waitUntilReady(api, timeout * 1_000) : undefined;
  return showView<StatusView>(command, io, {
    read: () => {
      const known = waited;
      waited = undefined;
      return known === undefined ? api.get('/v1/status') : Promise.resolve(known);
    },
    data: (status) => status,
    evaluate: ({ ready }) => {
      io.exitCode = ready ? exitCodes.ok : exitCodes.notAsItShould;
    },
    lines: (status) => renderStatus(io, status),
    watch: { essence: essenceOf },
  });
}

/** The fields that are worth another line in a pipe: no memory, no time of a confirmation. */
function essenceOf({ memory: _, connections: __, lastReconcile, cluster, ...rest }: StatusView): unknown {
  const { changes, removed, failures } = lastReconcile ?? {};
  const { confirmedAt: ___, ...ofCluster } = cluster ?? {};
  return { ...rest, changes, removed, failures, cluster: ofCluster };
}

/** Milliseconds between two questions. */
const pause = 200;

/** The last answer when the time is over. @throws PodwireError AGENT_UNREACHABLE when there was none */
async function waitUntilReady(api: LocalApi, timeout: number): Promise<StatusView> {
  const end = performance.now() + timeout;
  for (;;) {
    const status = await ask(api);
    const isOver = performance.now() + pause > end;
    if (!(status instanceof PodwireError) && (status.ready || isOver)) return status;
    if (status instanceof PodwireError && isOver) throw status;
    await sleep(pause);
  }
}

/** An agent that is not there yet is worth waiting for; anything else is not. */
async function ask(api: LocalApi): Promise<StatusView | PodwireError> {
  try {
    return await api.get<StatusView>('/v1/status');
  } catch (error) {
    if (error instanceof PodwireError && error.code === 'AGENT_UNREACHABLE') return error;
    throw error;
  }
}

async function renderStatus(io: Io, status: StatusView): Promise<string[]> {
  const [{ formatAge }, { wrapText }] = await Promise.all([
    import('../render/times.js'),
    import('../render/text.js'),
  ]);
  const paint = colorsFor(io, io.stdout);
  const { node, version, pid, endpoints, memory } = status;
  const age = formatAge(io.now() - Date.parse(status.startedAt));
  const state = status.ready ? paint.green('ready') : paint.red('not ready');
  const cutOff = isCutOff(status) ? `, ${paint.yellow('cut off from the store')}` : '';
  const moving = endpoints.wiring + endpoints.removing;
  const lines = [
    `${paint.bold(`agent on ${printable(node)}`)}: ${state}${cutOff}`,
    ...problemLines(status, paint),
    ...(status.warnings ?? []).map((text) => `${paint.yellow('warning')}    ${printable(text)}`),
    `version    ${version}, process ${pid}, up ${age}, ${Math.round(memory.rss / (1 << 20))} MiB resident`,
    `endpoints  ${endpoints.ready} ready${moving === 0 ? '' : `, ${endpoints.wiring} wiring, ${endpoints.removing} removing`}`,
    ...status.networks.map(describeNetwork),
    ...(status.cluster ? describeCluster(status.cluster, io.now(), formatAge) : []),
    `reconcile  ${describeReconcile(status, io.now(), formatAge)}`,
    ...describeDrift(status, io.now(), formatAge),
    ...(await describeConfiguration(status, io.now(), paint)),
  ];
  return lines.flatMap((line) => wrapText(line, widthOf(io), 11));
}

/** Pods of the node go on, and the rest of the cluster takes it for unreachable. */
const isCutOff = ({ cluster }: StatusView): boolean => cluster?.standing === 'away';

async function describeConfiguration(
  { configuration }: StatusView,
  now: number,
  paint: Colors,
): Promise<string[]> {
  if (configuration === undefined) return [];
  const { describeLoaded } = await import('../render/configuration.js');
  const { waiting, problem } = configuration;
  return [
    `config     ${describeLoaded(configuration, now)}`,
    ...(problem?.split('\n') ?? []).map((line) => `${paint.red('refused')}    ${printable(line)}`),
    ...waiting.map(({ path, reason }) => `${paint.yellow('waiting')}    ${printable(`${path}: ${reason}`)}`),
  ];
}

/** The failures of the last reconcile are the same for many pods at times. */
const shownFailures = 10;

function problemLines(
  { problem, recordProblems, problems = [], cluster, lastReconcile }: StatusView,
  paint: Colors,
): string[] {
  // The node's own failures make up `problem` already.
  const failures = (lastReconcile?.failures ?? []).filter((text) => problem?.includes(text) !== true);
  const more = failures.length - shownFailures;
  const all = [
    ...(problem === null ? [] : [problem]),
    ...recordProblems,
    ...problems,
    ...(cluster?.problems ?? []),
    ...failures.slice(0, shownFailures),
    ...(more > 0
      ? [`${formatPlural(more, 'more failure')} of the last reconcile (podwire status -o json)`]
      : []),
  ];
  return all.map((text) => `${paint.red('problem')}    ${printable(text)}`);
}

function describeNetwork(network: StatusView['networks'][number]): string {
  const { name, model, pools, blocks, mtu, ipv6, settings = {} } = network;
  // A network whose addresses come from a controller has neither.
  const where = [pools.map(({ cidr }) => cidr).join(' '), formatPlural(blocks.length, 'block')];
  const facts = [
    ...(pools.length === 0 && blocks.length === 0 ? [] : where),
    `MTU ${mtu}`,
    ...Object.entries(settings).map(([setting, value]) => printable(`${setting} ${value}`)),
    ...(ipv6 ? [] : ['no IPv6 on this node']),
  ];
  return `network    ${printable(name)} (${model}): ${facts.join(', ')}`;
}

function describeCluster(
  { store, standing, confirmedAt, fenced, holdings, unreported, peers, controller }: ClusterStatusView,
  now: number,
  formatAge: (milliseconds: number) => string,
): string[] {
  const since = formatAge(now - Date.parse(store.since));
  const confirmed = confirmedAt === null ? 'never' : `${formatAge(now - Date.parse(confirmedAt))} ago`;
  const facts = [
    standings[standing],
    ...(fenced
      ? [`hands out nothing: ${confirmedAt === null ? 'has not joined yet' : 'cut off for too long'}`]
      : []),
    ...(controller.leading ? ['leads the cluster'] : []),
    ...describeUnreachable(peers, now, formatAge),
  ];
  const { length: held } = holdings;
  const wrong = peers.withProblems === 0 ? '' : `, ${peers.withProblems} with problems (podwire peers)`;
  return [
    `store      ${printable(store.kind)}, ${store.connected ? 'connected' : 'away'} for ${since}, last confirmed ${confirmed}`,
    `cluster    ${facts.join(', ')}`,
    `ipam       ${formatPlural(held, 'block or borrowed address', 'blocks and borrowed addresses')}${unreported === 0 ? '' : `, ${formatPlural(unreported, 'change')} not reported yet`}`,
    `peers      ${peers.count}${wrong}`,
  ];
}

/** Names of unreachable nodes on a line. */
const shownNodes = 4;

/** An agent of an earlier version does not tell. */
function describeUnreachable(
  { count, unreachable }: ClusterStatusView['peers'],
  now: number,
  formatAge: (milliseconds: number) => string,
): string[] {
  const all = unreachable ?? [];
  if (all.length === 0) return [];
  const named = all
    .slice(0, shownNodes)
    .map(({ name, since }) => `${printable(name)} (${formatAge(now - Date.parse(since))})`);
  const more = all.length > shownNodes ? [`${all.length - shownNodes} more`] : [];
  return [`${all.length} of ${count + 1} nodes unreachable: ${[...named, ...more].join(', ')}`];
}

const standings: Readonly<Record<ClusterStatusView['standing'], string>> = {
  joining: 'joining',
  registered: 'registered',
  taken: 'another agent has the name of this node',
  away: 'not registered, the store does not answer',
};

function describeReconcile(
  { lastReconcile }: StatusView,
  now: number,
  formatAge: (milliseconds: number) => string,
): string {
  if (lastReconcile === null) return 'not yet';
  const { startedAt, changes, removed, failures } = lastReconcile;
  const what = `${formatPlural(changes.length + removed.length, 'change')}, ${formatPlural(failures.length, 'failure')}`;
  return `${formatAge(now - startedAt)} ago: ${what}`;
}
