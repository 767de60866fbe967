/** The node agent's own account of a request (`GET /v1/traces`), made part of a trace. */
import { createHash } from 'node:crypto';
import type { Attributes, AttributeValue, Span, SpanContext } from './span.js';
import { parseTraceparent } from './traceparent.js';

/** The parts of an agent's trace that are read, as in its JSON. Times are milliseconds. */
export interface AgentTrace<R extends AgentResource = AgentResource> {
  readonly id: number;
  /** CNI command. */
  readonly command: string;
  readonly endpoint?: string;
  readonly pod?: string;
  /** Traceparent of the plugin call that the agent served. */
  readonly parent?: string;
  /** Since the epoch. */
  readonly startedAt: number;
  readonly duration: number;
  /** `ok` or the code of an error. */
  readonly result: string;
  readonly error?: string;
  /** `start` counts from the start of the request. */
  readonly stages: readonly AgentStage[];
  readonly resources: readonly AgentResourceTime<R>[];
}

export interface AgentStage {
  readonly name: string;
  readonly start: number;
  readonly duration: number;
}

export interface AgentResource {
  readonly kind: string;
}

export interface AgentResourceTime<R extends AgentResource = AgentResource> {
  readonly resource: R;
  readonly action: string;
  readonly start: number;
  readonly duration: number;
  /** Resources of one number travelled in one call to the kernel. */
  readonly batch: number;
}

/**
 * One span for the request, one for each stage, and within its stage one for each resource of the engine. The same trace
 * gives the same ids every time, so that it may be converted wherever it is needed.
 * @param parent the span of the plugin call; by default the one that the trace itself names. Without either: no spans. A whole
 *   span also says when: the agent's clock counts in milliseconds, so its account may seem to begin before the call.
 * @param describe a resource; by default its kind and name.
 */
export function spansFromAgentTrace<R extends AgentResource>(
  trace: AgentTrace<R>,
  parent: SpanContext | Span | undefined = parseTraceparent(trace.parent),
  describe: (resource: R) => string = nameResource,
): readonly Span[] {
  if (parent === undefined) return [];
  const make = spanMaker(trace, parent, placeWithin(trace, parent));
  const request = make('', parent.spanId, `agent ${trace.command}`, { start: 0, duration: trace.duration });
  const stages = trace.stages.map((stage, index) => ({
    stage,
    span: make(`s${index}`, request.spanId, stage.name, stage),
  }));
  const resources = trace.resources.map((each, index) => {
    const within = stages.findLast(({ stage }) => each.start >= stage.start)?.span ?? request;
    const name = `${each.action} ${describe(each.resource)}`;
    const attributes = { 'podwire.resource': each.resource.kind, 'podwire.batch': each.batch };
    return make(`r${index}`, within.spanId, name, each, attributes);
  });
  const facts = { ...request, attributes: factsOf(trace), ...(trace.error && { error: trace.error }) };
  return [facts, ...stages.map(({ span }) => span), ...resources];
}

/**
 * Puts the agent's account of each plugin call into the trace that the call is part of. Accounts of other traces' calls are left
 * out. @param spans of one trace or several
 */
export function joinAgentTraces<R extends AgentResource>(
  spans: readonly Span[],
  traces: readonly AgentTrace<R>[],
  describe?: (resource: R) => string,
): readonly Span[] {
  const calls = new Map(spans.map((span) => [`${span.traceId} ${span.spanId}`, span]));
  const more = traces.flatMap((trace) => {
    const parent = parseTraceparent(trace.parent);
    const call = parent && calls.get(`${parent.traceId} ${parent.spanId}`);
    return call === undefined ? [] : spansFromAgentTrace(trace, call, describe);
  });
  return [...spans, ...more];
}

/** When the request began, inside the call if it fits there. */
function placeWithin({ startedAt, duration }: AgentTrace, parent: SpanContext | Span): number {
  if (!('startedAt' in parent)) return startedAt;
  const latest = parent.startedAt + parent.duration - duration;
  return Math.max(parent.startedAt, Math.min(startedAt, latest));
}

type SpanMaker = (
  key: string,
  parentId: string,
  name: string,
  time: { readonly start: number; readonly duration: number },
  attributes?: Attributes,
) => Span;

function spanMaker(trace: AgentTrace, parent: SpanContext, begin: number): SpanMaker {
  const seed = `${parent.traceId} ${parent.spanId} ${trace.startedAt} ${trace.id}`;
  return (key, parentId, name, { start, duration }, attributes = {}) => ({
    traceId: parent.traceId,
    spanId: createHash('sha256').update(`${seed} ${key}`).digest('hex').slice(0, 16),
    parentId,
    name,
    startedAt: begin + start,
    duration,
    attributes,
  });
}

function factsOf({ id, endpoint, pod, result }: AgentTrace): Attributes {
  const facts: Record<string, AttributeValue | undefined> = {
    'podwire.agent.trace': id,
    'podwire.result': result,
    'podwire.endpoint': endpoint,
    'podwire.pod': pod,
  };
  return Object.fromEntries(
    Object.entries(facts).filter((entry): entry is [string, AttributeValue] => entry[1] !== undefined),
  );
}

/** Fields that name a resource, the most telling first. */
const naming = ['address', 'destination', 'key', 'name', 'link', 'set'];

function nameResource(resource: AgentResource): string {
  const fields = resource as unknown as Readonly<Record<string, unknown>>;
  const name = naming.map((field) => fields[field]).find((value) => typeof value === 'string');
  return name === undefined ? resource.kind : `${resource.kind} ${name}`;
}
