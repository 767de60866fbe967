/** One round of questions to one node. What does not answer is missing; the page says so and goes on. */
import { describeError, PodwireError } from '@podwire/errors';
import type {
  EndpointView,
  IpamAnswer,
  NodeAnswers,
  PeerStatusView,
  PodView,
  SessionAnswer,
  StatusAnswer,
  Trace,
} from '../answers.js';
import type { Asking, NodeSource, Wording } from '../sources.js';

/** The latest requests: enough for the errors and the times of ADDs. */
const traceLimit = 200;

export async function askNode(
  { name, agent, pods }: NodeSource,
  wording: Pick<Wording, 'describeProblem'>,
): Promise<NodeAnswers> {
  const [status, ofPods] = await Promise.all([askStatus(agent), askPods(pods, wording)]);
  const nothing = { endpoints: [], ipam: undefined, peers: [], sessions: [], traces: [] };
  if (typeof status === 'string') return { name, status: undefined, failure: status, ...nothing, ...ofPods };
  const [endpoints, ipam, traces, ofCluster] = await Promise.all([
    agent.get<{ endpoints: readonly EndpointView[] }>('/v1/endpoints').catch(() => ({ endpoints: [] })),
    agent.get<IpamAnswer>('/v1/ipam').catch(() => undefined),
    agent.get<{ traces: readonly Trace[] }>(`/v1/traces?limit=${traceLimit}`).catch(() => ({ traces: [] })),
    askCluster(agent, status),
  ]);
  const answers = { endpoints: endpoints.endpoints, ipam, traces: traces.traces };
  return { name: status.node, status, failure: '', ...answers, ...ofCluster, ...ofPods };
}

/** @returns why there is no answer, where there is none */
async function askStatus(agent: Asking): Promise<StatusAnswer | string> {
  try {
    return await agent.get<StatusAnswer>('/v1/status');
  } catch (error) {
    // The code leads to what to do.
    const code = error instanceof PodwireError ? `${error.code}: ` : '';
    return `${code}${describeError(error)}`;
  }
}

async function askCluster(
  agent: Asking,
  { cluster }: StatusAnswer,
): Promise<Pick<NodeAnswers, 'peers' | 'sessions'>> {
  if (cluster === null || cluster === undefined) return { peers: [], sessions: [] };
  const [{ peers }, { sessions }] = await Promise.all([
    agent.get<{ peers: readonly PeerStatusView[] }>('/v1/peers').catch(() => ({ peers: [] })),
    // Most clusters have no BGP, and the agent refuses the question then.
    agent.get<{ sessions: readonly SessionAnswer[] }>('/v1/bgp').catch(() => ({ sessions: [] })),
  ]);
  return { peers, sessions };
}

async function askPods(
  pods: Asking | undefined,
  { describeProblem }: Pick<Wording, 'describeProblem'>,
): Promise<Pick<NodeAnswers, 'pods' | 'podProblems'>> {
  if (pods === undefined) return { pods: undefined, podProblems: [] };
  try {
    type Answer = { pods: readonly PodView[]; problems: Parameters<typeof describeProblem>[0][] };
    const answer = await pods.get<Answer>('/v1/pods');
    return { pods: answer.pods, podProblems: answer.problems.map(describeProblem) };
  } catch {
    // A node without a pod agent is a node of another runtime: its endpoints are shown.
    return { pods: undefined, podProblems: [] };
  }
}
