/** Runs probes concurrently, with a limit, and evaluates the answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Family } from '@podwire/addresses';
import { compact } from '@podwire/platform';
import { type Answer, probeTcp, probeUdp, describeSocketError } from './echo-client.js';
import { type AskPolicy, compareWithPolicy, type Expectation, nodeOf, questionOf } from './expected.js';
import { type EchoServer, serveEcho } from './echo-server.js';
import type { Participant, Station, UnusedAddress } from './participant.js';
import type { Outcome } from './outcome.js';
import { planProbes, type Probe, type ProbeKind } from './plan.js';
import { ping } from './ping.js';
import { probeUnusedAddress, listenForLeaks, type LeakListener } from './unused-address.js';

/** A probe and its outcome; `-o json` prints these. */
export interface ProbeResult extends Outcome {
  readonly kind: ProbeKind;
  readonly from: string;
  readonly fromNode?: string;
  readonly to: string;
  readonly toNode?: string;
  readonly family: Family;
  readonly address: string;
  /** Of the whole probe; for `tcp`, from the first packet to the last. */
  readonly milliseconds: number;
}

export interface ConnectivityReport {
  readonly ok: boolean;
  /** The name is stored in the JSON of `-o json`. */
  readonly parties: readonly Participant[];
  readonly results: readonly ProbeResult[];
  /** Of the whole run. */
  readonly milliseconds: number;
}

export interface ProbeOptions {
  /** Milliseconds for each probe; 1,500. */
  readonly deadline?: number;
  readonly signal?: AbortSignal;
  readonly onResult?: (done: number, all: number) => void;
  /** Participants on other machines. */
  readonly remotes?: readonly Participant[];
  /** Runs only the probes for which it returns true. */
  readonly choose?: (probe: Probe) => boolean;
  /** Asked once, when the ports are known: a denied probe succeeds when nothing answers. Absent: everything is expected to pass. */
  readonly askPolicy?: AskPolicy;
}

const defaultDeadline = 1_500;
/** Probes in flight. With more, the measured times would include this process's own queue. */
const atOnce = 4;
/** Milliseconds after which a slow probe no longer counts as one of {@link atOnce}. */
const aside = 25;
/** Limit of all probes in flight, slow ones included. */
const mostAtOnce = 256;

export async function probeConnectivity(
  stations: readonly Station[],
  unusedAddresses: readonly UnusedAddress[],
  {
    deadline = defaultDeadline,
    signal,
    onResult,
    remotes = [],
    choose = () => true,
    askPolicy,
  }: ProbeOptions = {},
): Promise<ConnectivityReport> {
  const begin = performance.now();
  const probes = planProbes([...stations, ...remotes], unusedAddresses).filter(choose);
  const byName = new Map(stations.map((station) => [station.name, station]));
  const asked = new Set(probes.map(({ to }) => to.name));
  const servers = await startEchoServers(stations.filter(({ name }) => asked.has(name)));
  const outside = stations.find(({ kind }) => kind === 'outside');
  const leaks = outside === undefined ? undefined : listenForLeaks(outside.namespace, familiesOf(outside));
  const context: ProbeContext = {
    stations: byName,
    servers,
    deadline,
    ...compact({ leaks }),
  };
  const expected = await expectAnswers(probes, servers, askPolicy);
  let done = 0;
  const ask = async (probe: Probe): Promise<ProbeResult> => {
    const result = await runProbe(probe, context, expected.get(probe));
    onResult?.(++done, probes.length);
    return result;
  };
  try {
    const results = await mapConcurrently(probes, ask, signal);
    const parties = [
      ...stations.map(({ namespace: _namespace, link: _link, ...participant }) => participant),
      ...remotes,
    ];
    return { ok: results.every(({ ok }) => ok), parties, results, milliseconds: performance.now() - begin };
  } finally {
    for (const each of servers.values()) if (!(each instanceof Error)) each.close();
    leaks?.close();
  }
}

const familiesOf = ({ addresses }: Participant): Family[] =>
  ([4, 6] as const).filter((family) => addresses[family] !== undefined);

const serverKey = (name: string, family: Family): string => `${name} ${family}`;

/** A server that cannot start is a finding, not an error of the run: its error becomes the outcome of its probes. */
async function startEchoServers(stations: readonly Station[]): Promise<Map<string, EchoServer | Error>> {
  const doors = stations.flatMap((station) =>
    familiesOf(station).map(async (family) => {
      const servers = await serveEcho(station, family).catch((error: unknown) => error as Error);
      return [serverKey(station.name, family), servers] as const;
    }),
  );
  return new Map(await Promise.all(doors));
}

/** Starts the items in order; slow ones do not delay the others. */
async function mapConcurrently<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  signal?: AbortSignal,
): Promise<R[]> {
  const results: Promise<R>[] = [];
  const waiting = new Set<Promise<R>>();
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) {
      signal?.throwIfAborted();
      const result = work(items[at]!);
      results[at] = result;
      waiting.add(result);
      void result.finally(() => waiting.delete(result)).catch(() => undefined);
      await Promise.race([result, sleep(aside)]);
      while (waiting.size >= mostAtOnce) await Promise.race(waiting);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return Promise.all(results);
}

interface ProbeContext {
  readonly stations: ReadonlyMap<string, Station>;
  readonly servers: ReadonlyMap<string, EchoServer | Error>;
  readonly leaks?: LeakListener;
  readonly deadline: number;
}

async function expectAnswers(
  probes: readonly Probe[],
  servers: ReadonlyMap<string, EchoServer | Error>,
  askPolicy: AskPolicy | undefined,
): Promise<ReadonlyMap<Probe, Expectation>> {
  const asked = probes.flatMap((probe) => {
    const question = questionOf(probe, portOf(probe, servers));
    return question === undefined ? [] : [{ probe, question }];
  });
  const answers = await askPolicy?.(asked.map(({ probe, question }) => ({ question, node: nodeOf(probe) })));
  return new Map(
    asked.flatMap(({ probe }, index) => {
      const answer = answers?.[index];
      return answer === undefined ? [] : [[probe, answer] as const];
    }),
  );
}

function portOf(
  { kind, to, family }: Probe,
  servers: ReadonlyMap<string, EchoServer | Error>,
): number | undefined {
  const server = servers.get(serverKey(to.name, family));
  if (server === undefined || server instanceof Error) return undefined;
  return kind === 'tcp' || kind === 'udp' ? server[kind] : undefined;
}

async function runProbe(
  probe: Probe,
  context: ProbeContext,
  expected: Expectation | undefined,
): Promise<ProbeResult> {
  const { kind, from, to, family, address } = probe;
  const begin = performance.now();
  const outcome = await outcomeOf(() => runOne(probe, context));
  return {
    ...{ kind, from: from.name, to: to.name, family, address },
    ...compact({ fromNode: from.node, toNode: to.node }),
    milliseconds: performance.now() - begin,
    ...compareWithPolicy(outcome, expected),
  };
}

async function runOne(probe: Probe, { stations, servers, deadline, leaks }: ProbeContext): Promise<Outcome> {
  const { kind, from, to, family, address } = probe;
  const { namespace, link = 'eth0' } = stations.get(from.name)!;
  const target = { address, deadline, ...(from.kind === 'pod' ? { link } : {}) };
  if (kind === 'vacant') {
    const parties = [...stations.values()];
    return probeUnusedAddress(namespace, { address, parties, ...compact({ leaks }) });
  }
  if (kind === 'icmp') return { ok: true, bytes: await ping(namespace, target) };
  const server = servers.get(serverKey(to.name, family))!;
  if (server instanceof Error) throw describeSocketError(server);
  const { [kind]: port } = server;
  return evaluateAnswer(probe, await (kind === 'tcp' ? probeTcp : probeUdp)(namespace, { ...target, port }));
}

/** Something came back: the packet was not dropped. */
const isSign = (words: string): boolean => /^(refused: |the connection was reset|connected, )/.test(words);

async function outcomeOf(work: () => Promise<Outcome>): Promise<Outcome & { readonly arrived: boolean }> {
  try {
    return { ...(await work()), arrived: true };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return { ok: false, words, arrived: isSign(words) };
  }
}

/** Compares an answer with what the probe expects. */
export function evaluateAnswer({ to, seenAs }: Probe, { name, seen, bytes }: Answer): Outcome {
  const facts = { bytes, seen };
  if (name !== to.name) return { ...facts, ok: false, words: `${name} answered instead` };
  if (seenAs === undefined || seenAs.includes(seen)) return { ...facts, ok: true };
  return { ...facts, ok: false, words: `it was seen as ${seen}, not as ${seenAs.join(' or ')}` };
}
