/** Asks policy about probes: the answers that are expected, and the rules that decide them. */
import type { LocalApi } from '@podwire/local-api';
import type { Outcome } from './outcome.js';
import type { Probe } from './plan.js';

/** One connection as policy sees it. */
export interface Question {
  readonly source: string;
  readonly destination: string;
  readonly protocol: 'tcp' | 'udp' | 'icmp' | 'icmpv6';
  readonly port?: number;
  readonly icmpType?: number;
}

/** A question, and the node that is at an end of it: only its agent knows the policy of its links. */
export interface Asked {
  readonly question: Question;
  readonly node?: string | undefined;
}

/** Whom to ask. */
export interface PolicyAgent {
  /** Name of its node; absent: not known, and not needed where there is one. */
  readonly node?: string;
  readonly api: Pick<LocalApi, 'post'>;
}

export interface Expectation {
  readonly verdict: 'allow' | 'deny';
  /** The rule that decides, in words: `NetworkPolicy shop/db spec.ingress[0] (db.yaml:7)`; absent where none does. */
  readonly by?: string;
}

/** Answers in the order of the questions; undefined where policy is switched off. */
export type AskPolicy = (asked: readonly Asked[]) => Promise<readonly Expectation[] | undefined>;

const echoRequest = { 4: 8, 6: 128 } as const;

/** @returns undefined for probes that say nothing about policy */
export function questionOf({ kind, from, family, address }: Probe, port?: number): Question | undefined {
  const source = from.addresses[family];
  if (source === undefined || kind === 'vacant') return undefined;
  const ends = { source, destination: address };
  if (kind === 'icmp')
    return { ...ends, protocol: family === 4 ? 'icmp' : 'icmpv6', icmpType: echoRequest[family] };
  return port === undefined ? undefined : { ...ends, protocol: kind, port };
}

/** A denied packet has to be gone without an answer; whatever else comes, policy does not hold. */
export function compareWithPolicy(
  outcome: Outcome & { readonly arrived?: boolean },
  expected: Expectation | undefined,
): Outcome {
  const { arrived = outcome.ok, ...seen } = outcome;
  if (expected === undefined) return seen;
  const { verdict, by } = expected;
  const facts = { expected: verdict, ...(by === undefined ? {} : { by }) };
  const rule = by ?? 'policy';
  if (verdict === 'allow') {
    if (seen.ok || by === undefined) return { ...seen, ...facts };
    return { ...seen, ...facts, words: `${seen.words ?? 'it failed'}, though ${rule} allows it` };
  }
  if (arrived) {
    const what = seen.ok ? 'it was answered' : (seen.words ?? 'it has arrived');
    return { ...seen, ...facts, ok: false, words: `${what}, though ${rule} denies it` };
  }
  return { ...seen, ...facts, ok: true, words: `denied by ${rule}` };
}

/** As `POST /v1/policy/verdicts` answers, as far as it is read here. */
interface Verdicts {
  readonly verdicts: readonly {
    readonly verdict: 'allow' | 'deny';
    readonly reason: string;
    readonly object?: string;
    readonly path?: string;
    readonly file?: string;
    readonly line?: number;
    readonly tier?: string;
  }[];
}

/** The agent takes so many at once. */
const atOnce = 4_000;

/** The first that answers is asked everything, since every one knows all pods; where a node is at an end, its own agent as well. */
export function askAgents(agents: readonly PolicyAgent[]): AskPolicy {
  return async (asked) => {
    const first = await askFirst(agents, asked);
    if (first === undefined) return undefined;
    const answers = [...first.answers];
    for (const { node, api } of agents.filter((agent) => agent !== first.agent)) {
      const places = asked.flatMap((each, place) =>
        node !== undefined && each.node === node ? [place] : [],
      );
      const own = await askAgent(
        api,
        places.map((place) => asked[place]!.question),
      ).catch(() => []);
      for (const [index, place] of places.entries())
        if (own[index]?.verdict === 'deny') answers[place] = own[index];
    }
    return answers;
  };
}

async function askFirst(
  agents: readonly PolicyAgent[],
  asked: readonly Asked[],
): Promise<{ readonly agent: PolicyAgent; readonly answers: readonly Expectation[] } | undefined> {
  const questions = asked.map(({ question }) => question);
  for (const agent of agents) {
    const answers = await askAgent(agent.api, questions).catch(() => undefined);
    if (answers !== undefined) return { agent, answers };
  }
  return undefined;
}

/** The node at an end of the probe. */
export const nodeOf = ({ from, to }: Probe): string | undefined =>
  [to, from].find(({ kind }) => kind === 'node')?.node;

async function askAgent(
  api: Pick<LocalApi, 'post'>,
  questions: readonly Question[],
): Promise<readonly Expectation[]> {
  const expectations: Expectation[] = [];
  for (let at = 0; at < questions.length; at += atOnce) {
    const connections = questions.slice(at, at + atOnce);
    const { verdicts } = await api.post<Verdicts>('/v1/policy/verdicts', { connections });
    expectations.push(...verdicts.map(describeExpectation));
  }
  return expectations;
}

function describeExpectation(each: Verdicts['verdicts'][number]): Expectation {
  const { verdict, object, path, file, line, reason, tier = 'default' } = each;
  if (reason === 'apart') return { verdict, by: 'the model, which keeps their projects apart' };
  if (object === undefined && reason !== 'end-of-tier') return { verdict };
  const end = reason === 'end-of-tier' ? ` (the end of tier ${tier})` : '';
  const place = file === undefined ? '' : ` at ${file}${line === undefined ? '' : `:${line}`}`;
  return {
    verdict,
    by: `${object ?? 'policy'}${path === undefined ? '' : ` ${path}`}${end}${place}`,
  };
}
