/** Asks all questions at once, within reason, and judges the answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Family } from '@podwire/linux';
import { type Answer, askTcp, askUdp, inWords } from './ask.js';
import { type Answering, answerAt } from './answer.js';
import type { Party, Station, Vacancy } from './party.js';
import type { Outcome } from './outcome.js';
import { planProbes, type Probe, type ProbeKind } from './plan.js';
import { ping } from './ping.js';
import { probeVacancy, setTrap, type Trap } from './vacant.js';

/** One question and what came of it; `-o json` prints these. */
export interface ProbeResult extends Outcome {
  readonly kind: ProbeKind;
  readonly from: string;
  readonly fromNode?: string;
  readonly to: string;
  readonly toNode?: string;
  readonly family: Family;
  readonly address: string;
  /** For the whole question: of `tcp`, from the first packet to the last. */
  readonly milliseconds: number;
}

export interface ConnectivityReport {
  readonly ok: boolean;
  readonly parties: readonly Party[];
  readonly results: readonly ProbeResult[];
  /** For all of it. */
  readonly milliseconds: number;
}

export interface ProbeOptions {
  /** Milliseconds for each question; 1,500. */
  readonly deadline?: number;
  readonly signal?: AbortSignal;
  readonly onResult?: (done: number, all: number) => void;
  /** On other machines. */
  readonly remotes?: readonly Party[];
  /** Only those. */
  readonly choose?: (probe: Probe) => boolean;
}

const usualDeadline = 1_500;
/** Questions whose answers are awaited: with more, their times would tell of this process's own queue. */
const atOnce = 4;
/** Milliseconds after which a question waits aside, for the next one to begin. */
const aside = 25;
/** All together, those aside included. */
const mostAtOnce = 256;

export async function probeConnectivity(
  stations: readonly Station[],
  vacancies: readonly Vacancy[],
  { deadline = usualDeadline, signal, onResult, remotes = [], choose = () => true }: ProbeOptions = {},
): Promise<ConnectivityReport> {
  const begin = performance.now();
  const probes = planProbes([...stations, ...remotes], vacancies).filter(choose);
  const byName = new Map(stations.map((station) => [station.name, station]));
  const asked = new Set(probes.map(({ to }) => to.name));
  const answering = await answerEverywhere(stations.filter(({ name }) => asked.has(name)));
  const outside = stations.find(({ kind }) => kind === 'outside');
  const trap = outside === undefined ? undefined : setTrap(outside.namespace, familiesOf(outside));
  const scene: Scene = { stations: byName, answering, deadline, ...(trap === undefined ? {} : { trap }) };
  let done = 0;
  const ask = async (probe: Probe): Promise<ProbeResult> => {
    const result = await runProbe(probe, scene);
    onResult?.(++done, probes.length);
    return result;
  };
  try {
    const results = await inTurn(probes, ask, signal);
    const parties = [
      ...stations.map(({ namespace: _namespace, link: _link, ...party }) => party),
      ...remotes,
    ];
    return { ok: results.every(({ ok }) => ok), parties, results, milliseconds: performance.now() - begin };
  } finally {
    for (const each of answering.values()) if (!(each instanceof Error)) each.close();
    trap?.close();
  }
}

const familiesOf = ({ addresses }: Party): Family[] =>
  ([4, 6] as const).filter((family) => addresses[family] !== undefined);

const doorOf = (name: string, family: Family): string => `${name} ${family}`;

/** Who cannot answer is what a test like this is to find: the reason stands for the answer. */
async function answerEverywhere(stations: readonly Station[]): Promise<Map<string, Answering | Error>> {
  const doors = stations.flatMap((station) =>
    familiesOf(station).map(async (family) => {
      const answering = await answerAt(station, family).catch((error: unknown) => error as Error);
      return [doorOf(station.name, family), answering] as const;
    }),
  );
  return new Map(await Promise.all(doors));
}

/** In order; those that take long do not hold up the others. */
async function inTurn<T, R>(
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

interface Scene {
  readonly stations: ReadonlyMap<string, Station>;
  readonly answering: ReadonlyMap<string, Answering | Error>;
  readonly trap?: Trap;
  readonly deadline: number;
}

async function runProbe(probe: Probe, scene: Scene): Promise<ProbeResult> {
  const { kind, from, to, family, address } = probe;
  const begin = performance.now();
  const outcome = await outcomeOf(() => askOne(probe, scene));
  return {
    ...{ kind, from: from.name, to: to.name, family, address },
    ...(from.node === undefined ? {} : { fromNode: from.node }),
    ...(to.node === undefined ? {} : { toNode: to.node }),
    milliseconds: performance.now() - begin,
    ...outcome,
  };
}

async function askOne(probe: Probe, { stations, answering, deadline, trap }: Scene): Promise<Outcome> {
  const { kind, from, to, family, address } = probe;
  const { namespace, link = 'eth0' } = stations.get(from.name)!;
  const target = { address, deadline, ...(from.kind === 'pod' ? { link } : {}) };
  if (kind === 'vacant') {
    const parties = [...stations.values()];
    return probeVacancy(namespace, { address, parties, ...(trap === undefined ? {} : { trap }) });
  }
  if (kind === 'icmp') return { ok: true, bytes: await ping(namespace, target) };
  const answerer = answering.get(doorOf(to.name, family))!;
  if (answerer instanceof Error) throw inWords(answerer);
  const { [kind]: port } = answerer;
  return judge(probe, await (kind === 'tcp' ? askTcp : askUdp)(namespace, { ...target, port }));
}

async function outcomeOf(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    return { ok: false, words: error instanceof Error ? error.message : String(error) };
  }
}

/** Whether an answer is the right one. */
export function judge({ to, seenAs }: Probe, { name, seen, bytes }: Answer): Outcome {
  const facts = { bytes, seen };
  if (name !== to.name) return { ...facts, ok: false, words: `${name} answered instead` };
  if (seenAs === undefined || seenAs.includes(seen)) return { ...facts, ok: true };
  return { ...facts, ok: false, words: `it was seen as ${seen}, not as ${seenAs.join(' or ')}` };
}
