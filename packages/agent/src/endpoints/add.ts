import { isDeepStrictEqual } from 'node:util';
import type { AttachmentRequest } from '@podwire/cni';
import type { CallOptions } from '@podwire/engine';
import { type EndpointId, endpointKey } from '@podwire/network-contract';
import { describeError, PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import { chooseNetwork, isEnforced, type Network } from '../networks.js';
import { renderAnswer } from './answers.js';
import { clearBroken } from './broken-records.js';
import {
  type AddProgress,
  type ClusterNeed,
  labelNeed,
  needOf,
  objectNeed,
  recordNeed,
  releaseWorkload,
  resolveNeed,
  withWorkload,
} from './cluster-needs.js';
import {
  type Call,
  type ClusterSide,
  type EndpointContext,
  type EndpointState,
  type NodeSide,
  type PlanningInput,
  type ProcessSide,
  requireReady,
} from './context.js';
import { onlyAddresses, readDelegation } from './delegation.js';
import { differenceToRequest } from './duplicate.js';
import { logWarnings } from './hidden-sockets.js';
import { checkNames } from './names.js';
import { type EndpointSpec, planEndpoint, wantedFamilies } from './plan-endpoint.js';
import { type AddRequest, endpointIdOf, readAddRequest } from './read-request.js';
import { describeEndpoint, podName } from './registry.js';
import type { EndpointRecord } from '../records/record.js';
import { forget, type ForgetContext, markRemoving, teardown, type TeardownContext } from './teardown.js';

/** State that all attempts of one ADD share. */
interface Add extends Omit<EndpointSpec, 'namespace' | 'workload' | 'foundLinks'> {
  readonly attachment: AttachmentRequest;
}

/**
 * ADD (CNI specification 1.1.0, section 2): the pod gets its addresses and is wired, or nothing is changed. The same
 * ADD again gets the same answer. When the plugin does not take the answer the endpoint is removed again.
 *
 * An attempt that memory alone cannot serve releases the endpoint's lock and returns a need; it is resolved with the
 * store's help, and the next attempt looks at everything afresh.
 */
export async function addEndpoint(
  context: EndpointContext,
  attachment: AttachmentRequest,
  call: Call,
): Promise<void> {
  call.trace.stage('validate');
  const add = readAdd(context.networks, attachment);
  identifyTrace(call, add);
  const progress: AddProgress = {
    pending: undefined,
    isWorkloadKnown: false,
    workload: undefined,
    provided: 0,
  };
  try {
    for (;;) {
      const current = progress.pending === undefined ? call : { ...call, signal: progress.pending.signal };
      const need = await attemptAdd(context, add, progress, current);
      if (need === undefined) return;
      await resolveNeed(context, need, add, progress, call);
    }
  } catch (error) {
    if (progress.pending?.isRemoved === true) releaseWorkload(context, add);
    throw error;
  } finally {
    progress.pending?.end();
  }
}

function readAdd(networks: readonly Network[], attachment: AttachmentRequest): Add {
  refusePrevResult(attachment);
  const id = endpointIdOf(attachment);
  checkNames(id, attachment);
  const { config } = attachment;
  const delegation = readDelegation(config);
  const request = readAddRequest(attachment);
  if (delegation === undefined) return { attachment, id, network: chooseNetwork(networks, config), request };
  const network = chooseNetwork(networks, { name: config.name, network: delegation.network });
  return { attachment, id, network, request: onlyAddresses(request), delegation };
}

function refusePrevResult({ prevResult }: AttachmentRequest): void {
  if (prevResult === undefined) return;
  const message = 'prevResult: podwire-cni makes the interface, so it must be the first plugin of the list';
  throw new PodwireError('CONFIG_INVALID', message);
}

function identifyTrace(call: Call, { id, request }: { id: EndpointId; request: AddRequest }): void {
  call.trace.identify(compact({ endpoint: endpointKey(id), pod: podName(request) }));
}

/**
 * Holds the endpoint's lock until the plugin has its answer.
 * @returns what must be asked of the cluster before the next attempt; undefined when the ADD is done
 */
function attemptAdd(
  context: EndpointContext,
  { attachment, ...add }: Add,
  progress: AddProgress,
  call: Call,
): Promise<ClusterNeed | undefined> {
  call.trace.stage('lock');
  return context.locks.withKey(endpointKey(add.id), call.signal, async () => {
    requireReady(context);
    call.trace.stage('namespace');
    const namespace = context.namespaces.identify(attachment.netns, { allowOwn: attachment.netnsOverride });
    context.faults.reach('add:validated');
    const spec: EndpointSpec = { ...add, namespace };
    const present = await findPresent(context, spec, call);
    if (present !== undefined) {
      await sendResult(context, await takeFacts(context, present, add.request, call), attachment, call);
      return undefined;
    }
    call.trace.stage('plan');
    const reserved = reserveOrNeed(context, withFoundLinks(context, spec), progress);
    if (typeof reserved === 'string') {
      progress.pending ??= context.pendingAdds.begin(add.id, call.signal);
      return reserved;
    }
    const record = await wire(context, reserved, call);
    try {
      await sendResult(context, record, attachment, call);
    } catch (error) {
      await undo(context, record, error);
      throw error;
    }
    // The runtime has its answer: this takes no time of its.
    context.policy?.announce(record);
    logWarnings(context, record);
    return undefined;
  });
}

/** Asks the kernel only for models whose plans depend on it. */
function withFoundLinks({ findLinks }: Pick<EndpointContext, 'findLinks'>, spec: EndpointSpec): EndpointSpec {
  const { looksFor = [] } = spec.network.model;
  if (findLinks === undefined || looksFor.length === 0 || spec.delegation !== undefined) return spec;
  const foundLinks = findLinks(spec.namespace, looksFor);
  return foundLinks.length === 0 ? spec : { ...spec, foundLinks };
}

/** The endpoint, if it exists as it is requested now. An incomplete one is removed first. */
async function findPresent(
  context: TeardownContext & Pick<EndpointContext, 'broken' | 'namespaces' | 'log'>,
  spec: EndpointSpec,
  call: Call,
): Promise<EndpointRecord | undefined> {
  const key = endpointKey(spec.id);
  clearBroken(context, key);
  const present = context.endpoints.get(key);
  if (present === undefined) return undefined;
  if (present.phase !== 'ready' || context.namespaces.isGone(present.namespace)) {
    call.trace.stage('remove leftover');
    await teardown(context, present, { signal: call.signal, trace: call.trace.resources() });
    return undefined;
  }
  const difference = differenceToRequest(present, spec);
  if (difference === undefined) return present;
  const message = `${describeEndpoint(present)} has an interface ${spec.id.ifName} already, and ${difference}`;
  throw new PodwireError('ENDPOINT_EXISTS', message, { details: { endpoint: key } });
}

/** The same ADD again may know more about its pod, or that its labels are others by now. */
async function takeFacts(
  context: Pick<EndpointContext, 'endpoints' | 'records' | 'policy'>,
  record: EndpointRecord,
  { facts }: AddRequest,
  { signal }: Call,
): Promise<EndpointRecord> {
  if (facts.labels === undefined || isDeepStrictEqual(facts, record.facts)) return record;
  const changed = { ...record, facts };
  context.records.write(changed);
  context.endpoints.put(changed);
  await context.policy?.attach(changed, signal);
  context.policy?.announce(changed);
  return changed;
}

/** Besides a plan, a reservation claims host ports, and addresses in the cluster. */
type ReserveContext = PlanningInput & ClusterSide & Pick<EndpointState, 'ports'>;

/** Reserves what memory has. @throws as {@link reserve}, when the cluster cannot help */
function reserveOrNeed(
  context: ReserveContext,
  spec: EndpointSpec,
  progress: AddProgress,
): EndpointRecord | ClusterNeed {
  const need =
    labelNeed(context, spec) ??
    recordNeed(context, spec) ??
    objectNeed(context, spec) ??
    needOf(context.cluster, spec, progress);
  if (need !== undefined) return need;
  try {
    return reserve(context, withWorkload(spec, progress));
  } catch (error) {
    const next = needOf(context.cluster, spec, progress, error);
    if (next === undefined) throw error;
    return next;
  }
}

/** Plans the endpoint and reserves its addresses and ports in memory, synchronously. */
function reserve(
  { node, desired, ports, endpoints, cluster, clock, random }: ReserveContext,
  spec: EndpointSpec,
): EndpointRecord {
  const { network, request } = spec;
  const view = () => node.view(network);
  ports.check(spec.id, request.portMappings, wantedFamilies(request, network, view()));
  const record = planEndpoint(spec, {
    ipam: network.ipam,
    view,
    read: desired.read,
    random,
    now: clock(),
    isLinkTaken: (name) => endpoints.ofLink(name) !== undefined,
  });
  endpoints.put(record);
  ports.claim(record);
  cluster?.noteUsed(record);
  return record;
}

type UndoContext = TeardownContext & Pick<EndpointContext, 'cleanupDeadline' | 'log'>;

/** Writes the record, then changes the kernel. Rolls everything back when a step fails. */
async function wire(
  context: UndoContext & Pick<NodeSide, 'node' | 'desired'>,
  record: EndpointRecord,
  call: Call,
): Promise<EndpointRecord> {
  // New for each call, because spans count from this moment.
  const options = (): CallOptions => ({ signal: call.signal, trace: call.trace.resources() });
  try {
    call.trace.stage('record');
    context.records.write(record);
    context.faults.reach('add:recorded');
    call.trace.stage('node');
    await context.node.ensure(context.engine, options());
    context.faults.reach('add:node-ready');
    await ensureNeeds(context, record, call);
    await select(context, record, call);
    call.trace.stage('apply');
    await context.scopes.apply(record, { ...options(), engine: context.engine });
  } catch (error) {
    await context.policy?.detach(record);
    rollback(context, record, error);
    throw error;
  }
  context.faults.reach('add:applied');
  return markReady(context, record, call);
}

/** Scopes of its model: a group's flows, say, which the first packet has to find. */
async function ensureNeeds(
  { desired, engine }: Pick<EndpointContext, 'desired' | 'engine'>,
  { needs = [] }: EndpointRecord,
  { signal, trace }: Call,
): Promise<void> {
  if (needs.length === 0) return;
  trace.stage('needs');
  try {
    await desired.ensure(needs, { engine, signal });
  } catch (error) {
    signal.throwIfAborted();
    const message = `the pod needs ${needs.join(', ')}, which could not be put in force`;
    throw new PodwireError('PLAN_FAILED', message, { cause: error });
  }
}

/** Before its link is there: from the first packet on, the pod's policy is in force. */
async function select(
  { networks, policy, faults }: Pick<EndpointContext, 'networks' | 'policy' | 'faults'>,
  record: EndpointRecord,
  call: Call,
): Promise<void> {
  if (policy === undefined || !isEnforced(networks, record)) return;
  call.trace.stage('policy');
  await policy.attach(record, call.signal);
  faults.reach('add:selected');
}

/**
 * `apply` is all or nothing, so only the agent's own state is to be put right; unless it reports that its rollback failed:
 * then the endpoint is removed like any other, later.
 */
function rollback(
  context: ForgetContext & Pick<ProcessSide, 'log'>,
  record: EndpointRecord,
  error: unknown,
): void {
  const leftBehind = error instanceof PodwireError && error.code === 'REMOVE_INCOMPLETE';
  try {
    if (leftBehind) markRemoving(context, record);
    else {
      forget(context, record);
      context.scopes.noteUndone(record);
    }
  } catch (err) {
    context.log.error({ err, endpoint: endpointKey(record.id) }, 'a failed ADD left its record behind');
  }
}

async function markReady(context: UndoContext, record: EndpointRecord, call: Call): Promise<EndpointRecord> {
  call.trace.stage('finish');
  try {
    const ready = context.records.advance(record, 'ready');
    context.endpoints.put(ready);
    context.faults.reach('add:ready');
    return ready;
  } catch (error) {
    await undo(context, record, error);
    throw error;
  }
}

/**
 * Sends the result while the lock is still held: if the plugin has died meanwhile, its runtime may already be waiting with
 * a DEL, or with the same ADD again, and neither may see an endpoint that is about to be removed.
 */
async function sendResult(
  { faults }: Pick<ProcessSide, 'faults'>,
  { answer }: EndpointRecord,
  { config }: AttachmentRequest,
  call: Call,
): Promise<void> {
  call.trace.stage('answer');
  await call.answer(renderAnswer(answer, config.cniVersion));
  faults.reach('add:answered');
}

/** Removes an endpoint that was wired, because of an error that the caller throws afterwards. */
async function undo(context: UndoContext, record: EndpointRecord, because: unknown): Promise<void> {
  const endpoint = endpointKey(record.id);
  context.log.warn({ endpoint, because: describeError(because) }, 'rolling back an ADD');
  try {
    await teardown(context, record, { signal: AbortSignal.timeout(context.cleanupDeadline) });
  } catch (err) {
    context.log.error({ err, endpoint }, 'an ADD could not be rolled back; the next reconcile tries again');
  }
}
