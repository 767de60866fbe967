/** Handlers of the API. Each returns data; `api-server.ts` sends it. */
import { inApplyOrder } from '@podwire/engine';
import { endpointKey, type NetworkModel, type NodeView } from '@podwire/network-contract';
import { PodwireError } from '@podwire/errors';
import type { ApiRoutes } from '@podwire/local-api';
import { compact, withDeadline } from '@podwire/platform';
import type { ClusterMember } from '../cluster/contract.js';
import { isServing, viewCluster, viewPeers, whyNotServing } from '../cluster/status.js';
import { type EndpointContext, type EndpointState, ownedBy } from '../endpoints/context.js';
import { findWarnings, type WarningSources } from '../endpoints/hidden-sockets.js';
import { describeEndpoint, type EndpointRegistry, podName } from '../endpoints/registry.js';
import type { EndpointRecord } from '../records/record.js';
import type { DriftLog } from '../drift/drift-log.js';
import type { Metrics } from '../metrics.js';
import { describeUnresolved } from '../endpoints/follow-attachments.js';
import { describeScopeProblems } from '../node/model-scopes.js';
import { viewPolicy } from '../policy/look/views.js';
import type { AgentLoop } from '../reconcile-loop.js';
import type { LiveConfig } from '../reload/live-config.js';
import type { TraceLog } from '../trace.js';
import { policyRoutes } from './policy-routes.js';
import { planAdd, planAddsInTurns } from './plan.js';
import { type EndpointView, explainResources, viewEndpoint, viewIpam } from './views.js';

export interface ApiContext {
  readonly context: EndpointContext;
  readonly traces: TraceLog;
  readonly metrics: Metrics;
  readonly reconciler: AgentLoop;
  readonly configuration: Pick<LiveConfig, 'view' | 'reload'>;
  readonly drift: DriftLog;
  readonly nodeName: string;
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Open connections of plugins. */
  readonly connections: () => number;
  /** Milliseconds for a request that looks at the kernel. */
  readonly deadline: number;
}

/** For health checks and Prometheus; also served on the loopback listener. */
export const openRoutes: ApiRoutes<ApiContext> = {
  'GET /healthz': () => ({ contentType: 'text/plain', text: 'ok\n' }),
  'GET /readyz': ({ context }) => {
    const problem = whyNotServing(context);
    const ready = isServing(context);
    return { status: ready ? 200 : 503, json: { ready, ...compact({ problem }) } };
  },
  'GET /metrics': ({ metrics }) => metrics.render(),
};

/** Everything, on the API socket. A path that ends in `*` takes what follows. */
export const apiRoutes: ApiRoutes<ApiContext> = {
  ...openRoutes,
  ...policyRoutes,
  'GET /v1/status': (api) => ({ json: viewStatus(api) }),
  'GET /v1/endpoints': ({ context }) => ({ json: { endpoints: viewAll(context) } }),
  'GET /v1/endpoints/*': ({ context }, { rest }) => ({ json: findOne(context, rest) }),
  'GET /v1/ipam': ({ context }) => ({
    json: {
      networks: context.networks.map((network) => viewIpam(network, (key) => podOf(context.endpoints, key))),
    },
  }),
  'GET /v1/peers': ({ context }) => ({
    json: { peers: viewPeers(context, requireCluster(context.cluster)) },
  }),
  'GET /v1/bgp': async ({ context, deadline }) => ({
    json: { sessions: await listSessions(context.cluster, deadline) },
  }),
  'GET /v1/traces': ({ traces }, { query }) => ({ json: { traces: traces.list().slice(-readLimit(query)) } }),
  'GET /v1/traces/*': ({ traces }, { rest }) => ({ json: findTrace(traces, rest) }),
  'GET /v1/explain/*': async (api, { rest }) => ({ json: await explain(api, rest) }),
  // A list of ADDs is planned as if they came one after the other.
  'POST /v1/plan': async ({ context }, { body, signal }) => ({
    json: Array.isArray(body)
      ? { plans: await planAddsInTurns(context, body, signal) }
      : planAdd(context, body),
  }),
  'POST /v1/reload': async ({ configuration }) => ({ json: await configuration.reload() }),
  'POST /v1/reconcile': async ({ reconciler }) => ({ json: await reconciler.run() }),
};

function podOf(endpoints: EndpointRegistry, key: string): string | undefined {
  const record = endpoints.get(key);
  return record === undefined ? undefined : podName(record);
}

type ViewSources = WarningSources & Pick<EndpointState, 'endpoints'>;

function viewAll(context: ViewSources): EndpointView[] {
  const records = context.endpoints.all();
  const warningsOf = findWarnings(context, records);
  return records.map((record) => viewEndpoint(record, warningsOf(endpointKey(record.id))));
}

function viewOne(sources: WarningSources, record: EndpointRecord): EndpointView {
  return viewEndpoint(record, findWarnings(sources, [record])(endpointKey(record.id)));
}

function listWarnings(context: ViewSources): string[] {
  const records = context.endpoints.all();
  const warningsOf = findWarnings(context, records);
  return records.flatMap((record) =>
    warningsOf(endpointKey(record.id)).map((warning) => `${describeEndpoint(record)}: ${warning}`),
  );
}

/** @throws PodwireError REQUEST_INVALID where BGP is not configured; BGP_REFUSED */
async function listSessions(
  cluster: ClusterMember | undefined,
  deadline: number,
): Promise<readonly object[]> {
  const { bgp } = requireCluster(cluster);
  if (bgp !== undefined) return withDeadline(undefined, deadline, (signal) => bgp.sessions(signal));
  throw new PodwireError(
    'REQUEST_INVALID',
    'this agent speaks no BGP: its configuration has no cluster.bgp',
    {
      action: 'Nothing if no router is to know the pods; otherwise docs/bgp.md has the lines to add.',
    },
  );
}

function viewStatus(api: ApiContext): object {
  const { context, reconciler } = api;
  const phases = context.endpoints.all().map(({ phase }) => phase);
  const count = (phase: string): number => phases.filter((each) => each === phase).length;
  return {
    node: api.nodeName,
    version: api.version,
    pid: process.pid,
    startedAt: new Date(api.startedAt).toISOString(),
    configuration: api.configuration.view(),
    ready: isServing(context),
    problem: whyNotServing(context) ?? null,
    recordProblems: context.broken.problems(),
    /** Other problems, which do not keep pods from being served, in words that begin with a code. */
    problems: [
      ...context.node.problems(),
      ...describeScopeProblems(context.desired),
      ...describeUnresolved(context),
    ],
    /** Settings that work, but are rarely meant. */
    warnings: listWarnings(context),
    networks: context.networks.map((network) => viewNetwork(context.node.view(network), network.model)),
    endpoints: { ready: count('ready'), wiring: count('wiring'), removing: count('removing') },
    connections: api.connections(),
    memory: { rss: process.memoryUsage.rss() },
    lastReconcile: reconciler.last ?? null,
    drift: api.drift.view(),
    policy: context.policy === undefined ? null : viewPolicy(context.policy),
    cluster: context.cluster === undefined ? null : viewCluster(context, context.cluster),
  };
}

function viewNetwork(view: NodeView, model: Pick<NetworkModel, 'settings'>): object {
  const { mtu, ipv6, blocks, network } = view;
  const { name, pools } = network;
  return { name, model: network.model, pools, blocks, mtu, ipv6, settings: model.settings?.(view) ?? {} };
}

/** @throws PodwireError REQUEST_INVALID on a node that is alone */
function requireCluster(cluster: ClusterMember | undefined): ClusterMember {
  if (cluster !== undefined) return cluster;
  throw new PodwireError(
    'REQUEST_INVALID',
    'this node is in no cluster: its configuration has no `cluster`',
    {
      action: 'Ask a node of the cluster, or let this one join: docs/cluster.md has the lines to add.',
    },
  );
}

function readLimit(query: URLSearchParams): number {
  const text = query.get('limit') ?? '50';
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new PodwireError('REQUEST_INVALID', `limit must be a number from 1, is ${JSON.stringify(text)}`);
}

function findTrace(traces: TraceLog, text: string): object {
  const trace = traces.find(Number(text));
  if (trace !== undefined) return trace;
  throw new PodwireError('TRACE_UNKNOWN', `there is no trace ${text} (any more)`);
}

/** With all the record has: resources and the answer to the runtime too. */
function findOne(context: ViewSources & Pick<EndpointContext, 'engine'>, text: string): object {
  const record = findRecord(context.endpoints, text);
  const { resources, answer } = record;
  return { ...viewOne(context, record), resources: inApplyOrder(context.engine.kinds, resources), answer };
}

/** @throws PodwireError ENDPOINT_UNKNOWN; REQUEST_INVALID when several are called so */
function findRecord(endpoints: EndpointRegistry, text: string): EndpointRecord {
  const found = endpoints.find(text);
  if (found.length === 1) return found[0]!;
  if (found.length === 0) {
    throw new PodwireError('ENDPOINT_UNKNOWN', `no endpoint is called ${text}`, {
      action: '`podwire ps` lists those of this node. A pod that was never attached has none.',
    });
  }
  const keys = found.map(({ id }) => endpointKey(id));
  const message = `${text} may be any of ${keys.join(' ')}`;
  throw new PodwireError('REQUEST_INVALID', message, { details: { keys }, action: 'Name one of them.' });
}

async function explain({ context, deadline }: ApiContext, text: string): Promise<object> {
  const signal = AbortSignal.timeout(deadline);
  if (text === 'node') {
    const owned = context.node.owned();
    const drifts = await context.engine.verify(owned, { signal });
    return { owner: 'node', resources: explainResources(context.engine.kinds, owned.resources, drifts) };
  }
  const key = endpointKey(findRecord(context.endpoints, text).id);
  return context.locks.withKey(key, signal, async () => {
    const record = findRecord(context.endpoints, key);
    const { engine } = context;
    const drifts = await engine.verify(ownedBy(record), { signal });
    const resources = inApplyOrder(engine.kinds, record.resources);
    return { ...viewOne(context, record), resources: explainResources(engine.kinds, resources, drifts) };
  });
}
