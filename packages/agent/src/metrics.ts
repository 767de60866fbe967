/** Metrics for Prometheus. Names and units follow its conventions: seconds, bytes, `_total` for counters. */
import { commands } from '@podwire/cni';
import type { Change, Engine } from '@podwire/engine';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';
import type { ClusterMember } from './cluster/contract.js';
import { isServing } from './cluster/status.js';
import type { DriftLog } from './drift/drift-log.js';
import type { Network } from './networks.js';
import type { EndpointRegistry } from './endpoints/registry.js';
import type { NodePolicy } from './policy/contract.js';
import { addPolicyMetrics } from './policy/metrics.js';
import type { Readiness } from './readiness.js';
import type { Trace } from './trace.js';

export interface Metrics {
  requestStarted(): void;
  requestFinished(trace: Trace): void;
  /** One reconcile: how long it took in milliseconds, and what it did; no changes when it failed as a whole. */
  reconciled(duration: number, changes: readonly Change[] | undefined): void;
  /** The text of a scrape. */
  render(): Promise<{ contentType: string; text: string }>;
  /** Metrics that a scrape may read. */
  list(): readonly MetricFacts[];
}

export interface MetricFacts {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly meaning: string;
}

/** Sources that each scrape reads. */
export interface MetricsSources {
  readonly version: string;
  readonly networks: readonly Network[];
  readonly endpoints: EndpointRegistry;
  readonly readiness: Readiness;
  readonly cluster?: ClusterMember;
  readonly policy?: NodePolicy;
  readonly drift: DriftLog;
  readonly engine: Pick<Engine, 'abandonedCalls'>;
}

/** From half a millisecond to ten seconds: an ADD takes one or two milliseconds, a deadline is ten seconds. */
const seconds = [0.0005, 0.001, 0.0015, 0.002, 0.003, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 10];

export function createMetrics(sources: MetricsSources): Metrics {
  const registry = new Registry();
  const requests = addRequests(registry);
  const reconciles = addReconciles(registry);
  addState(registry, sources);
  addDrift(registry, sources.drift);
  addEngine(registry, sources.engine);
  if (sources.cluster !== undefined) addCluster(registry, sources.cluster);
  if (sources.policy !== undefined) addPolicyMetrics(registry, sources.policy);
  addProcess(registry, sources.version);
  return {
    ...requests,
    ...reconciles,
    async render() {
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
    list: () => listMetrics(registry),
  };
}

/** Registered metric of prom-client, whose types leave two fields out. */
interface Registered {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames: readonly string[];
}

function listMetrics(registry: Registry): MetricFacts[] {
  const registered = registry.getMetricsAsArray() as unknown as readonly Registered[];
  return registered.map(({ name, type, labelNames, help }) => {
    return { name, type, labels: labelNames, meaning: help };
  });
}

function addRequests(registry: Registry): Pick<Metrics, 'requestStarted' | 'requestFinished'> {
  const registers = [registry];
  const requests = new Counter({
    name: 'podwire_requests_total',
    help: 'CNI requests by command and result; result is ok or the code of the error.',
    labelNames: ['command', 'result'],
    registers,
  });
  const inFlight = new Gauge({
    name: 'podwire_requests_in_flight',
    help: 'CNI requests that wait or are worked on.',
    registers,
  });
  const durations = new Histogram({
    name: 'podwire_request_duration_seconds',
    help: 'Time of whole CNI requests inside the agent.',
    labelNames: ['command'],
    buckets: seconds,
    registers,
  });
  const stages = new Histogram({
    name: 'podwire_stage_duration_seconds',
    help: 'Time of the stages of CNI requests.',
    labelNames: ['command', 'stage'],
    buckets: seconds,
    registers,
  });
  return {
    requestStarted: () => inFlight.inc(),
    requestFinished(trace) {
      inFlight.dec();
      const command = knownCommand(trace.command);
      requests.inc({ command, result: trace.result });
      durations.observe({ command }, trace.duration / 1000);
      for (const { name, duration } of trace.stages)
        stages.observe({ command, stage: name }, duration / 1000);
    },
  };
}

function addReconciles(registry: Registry): Pick<Metrics, 'reconciled'> {
  const registers = [registry];
  const reconciles = new Histogram({
    name: 'podwire_reconcile_duration_seconds',
    help: 'Time of reconciles by result.',
    labelNames: ['result'],
    buckets: seconds,
    registers,
  });
  const changes = new Counter({
    name: 'podwire_reconcile_changes_total',
    help: 'What reconciles repaired, removed, or failed to.',
    labelNames: ['action'],
    registers,
  });
  return {
    reconciled(duration, done) {
      reconciles.observe({ result: done === undefined ? 'failed' : 'ok' }, duration / 1000);
      for (const { action } of done ?? []) changes.inc({ action });
    },
  };
}

function addDrift(registry: Registry, drift: DriftLog): void {
  const registers = [registry];
  const counter = (name: string, help: string, value: () => number): void => {
    new Counter({
      ...{ name, help, registers },
      collect() {
        this.reset();
        this.inc(value());
      },
    });
  };
  for (const result of ['repaired', 'failed'] as const)
    new Counter({
      name: `podwire_drift_${result}_total`,
      help: `What others changed and the agent has ${result === 'failed' ? 'not been able to repair' : 'repaired'}, after an event of the kernel.`,
      labelNames: ['kind'],
      registers,
      collect() {
        this.reset();
        for (const [kind, counts] of drift.counts()) this.inc({ kind }, counts[result]);
      },
    });
  counter('podwire_drift_checks_total', 'Looks at the kernel because of an event.', () => drift.checks);
  counter(
    'podwire_drift_events_lost_total',
    'Times that events were dropped; everything in their place was looked at then.',
    () => drift.lost,
  );
}

function addEngine(registry: Registry, engine: MetricsSources['engine']): void {
  new Counter({
    name: 'podwire_engine_abandoned_calls_total',
    help: 'Calls of a backend (rtnetlink, nftables, …) that did not end in time and were left behind.',
    labelNames: ['backend'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [backend, count] of engine.abandonedCalls()) this.inc({ backend }, count);
    },
  });
}

/** Input from outside must not make new time series. */
function knownCommand(text: string): string {
  return (commands as readonly string[]).includes(text) ? text : 'unknown';
}

function addState(registry: Registry, sources: MetricsSources): void {
  const { networks, endpoints } = sources;
  const registers = [registry];
  new Gauge({
    name: 'podwire_ready',
    help: '1 when ADD can be served.',
    registers,
    collect() {
      this.set(isServing(sources) ? 1 : 0);
    },
  });
  new Gauge({
    name: 'podwire_endpoints',
    help: 'Endpoints by network and phase.',
    labelNames: ['network', 'phase'],
    registers,
    collect() {
      this.reset();
      for (const { endpoint, phase } of endpoints.all()) this.inc({ network: endpoint.network, phase });
    },
  });
  new Gauge({
    name: 'podwire_pool_addresses',
    help: 'Addresses of each pool by state: used, free, cooling, reserved.',
    labelNames: ['network', 'pool', 'state'],
    registers,
    collect() {
      // In a cluster pools come and go.
      this.reset();
      for (const { view, ipam } of networks) {
        for (const { name, used, free, cooling, reserved } of ipam.report()) {
          const states = { used, free, cooling, reserved };
          for (const [state, count] of Object.entries(states)) {
            this.set({ network: view.name, pool: name, state }, Number(count));
          }
        }
      }
    },
  });
}

function addCluster(registry: Registry, member: ClusterMember): void {
  const { addressing, cache, peerLeases, peers, registration } = member;
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  };
  gauge('podwire_store_connected', '1 when the store answers.', () => Number(cache.connected));
  gauge('podwire_node_registered', '1 when the node is present in the cluster.', () =>
    Number(registration.state.kind === 'registered'),
  );
  gauge('podwire_node_fenced', '1 when nothing is handed out because the store was away for too long.', () =>
    Number(addressing.status().fenced),
  );
  gauge(
    'podwire_unreported',
    'Reports of addresses in use that have not reached the store.',
    () => addressing.status().unreported,
  );
  gauge('podwire_peers', 'Other nodes that this one leads to.', () => peers.known.size);
  gauge(
    'podwire_peers_unreachable',
    'Other nodes that hold no lease in the store; 0 while the store does not tell.',
    () =>
      [...peers.known.keys()].filter((name) => peerLeases.reachabilityOf(name).reachable === false).length,
  );
  gauge(
    'podwire_peers_failed',
    'Other nodes that could not be planned or applied.',
    () => [...peers.known.keys()].filter((name) => peers.problemOf(name) !== undefined).length,
  );
  new Gauge({
    name: 'podwire_blocks',
    help: 'Blocks of this node, and addresses that others have lent, by state.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { state } of addressing.affinities()) this.inc({ state });
    },
  });
}

function addProcess(registry: Registry, version: string): void {
  const registers = [registry];
  new Gauge({
    name: 'podwire_build_info',
    help: 'Always 1; the labels say what runs.',
    labelNames: ['version', 'node_version'],
    registers,
  }).set({ version, node_version: process.version }, 1);
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'Start of the process since the epoch.',
    registers,
  }).set(Math.round(performance.timeOrigin / 1000));
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of the process, in the kernel too.',
    registers,
    collect() {
      const { userCPUTime, systemCPUTime } = process.resourceUsage();
      this.reset();
      this.inc((userCPUTime + systemCPUTime) / 1e6);
    },
  });
  new Gauge({
    name: 'podwire_event_loop_lag_seconds',
    help: 'How long the event loop took to come back to a scrape.',
    registers,
    // Measured at a scrape: a sampling timer would wake an idle agent fifty times a second.
    async collect() {
      const asked = performance.now();
      await new Promise((resolve) => setImmediate(resolve));
      this.set((performance.now() - asked) / 1000);
    },
  });
}
