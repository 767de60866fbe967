import type { AttachmentRequest, Result } from '@podwire/cni';
import type { CallOptions } from '@podwire/engine';
import { type EndpointId, endpointKey } from '@podwire/network-contract';
import { describeError, PodwireError } from '@podwire/errors';
import { chooseNetwork } from '../networks.js';
import { renderAnswer } from './answers.js';
import { clearBroken } from './clear-broken.js';
import { type Call, type EndpointContext, ownedBy, requireReady } from './context.js';
import { onlyAddresses, readDelegation } from './delegation.js';
import { dismantle, forget, markRemoving } from './dismantle.js';
import { type AddRequest, draftEndpoint, wantedFamilies } from './draft.js';
import { differenceToWish } from './duplicate.js';
import { checkNames } from './names.js';
import { type AgentRecord, describeEndpoint, podName } from './registry.js';
import {
  askAndTryAgain,
  type Attempt,
  isMember,
  isQuestion,
  type Question,
  tryFromMemory,
} from './slow-path.js';
import { endpointIdOf, readWish, type Wish } from './wish.js';

/**
 * ADD (CNI specification 1.1.0, section 2): the pod gets its addresses and is wired, or nothing is changed. The same
 * ADD again gets the same answer. When nobody takes the answer the endpoint is removed again.
 */
export async function addEndpoint(
  context: EndpointContext,
  request: AttachmentRequest,
  call: Call,
): Promise<void> {
  call.trace.stage('validate');
  refusePrevResult(request);
  const id = endpointIdOf(request);
  checkNames(id, request);
  const wanted = readWanted(context, request);
  identifyTrace(call, id, wanted.wish);
  const understood: Understood = { request, id, wanted };
  const question = await attemptAdd(context, understood, { call });
  if (question === undefined) return;
  await askAndTryAgain(context, question, call, (attempt) => attemptAdd(context, understood, attempt));
}

interface Understood {
  readonly request: AttachmentRequest;
  readonly id: EndpointId;
  readonly wanted: Pick<AddRequest, 'network' | 'wish' | 'delegation'>;
}

/** Holds the endpoint until the plugin has its answer, or until something must be asked of the cluster. */
function attemptAdd(
  context: EndpointContext,
  { request, id, wanted }: Understood,
  attempt: Attempt,
): Promise<Question | undefined> {
  const { call } = attempt;
  call.trace.stage('lock');
  return context.locks.withEndpoint(endpointKey(id), call.signal, async () => {
    requireReady(context);
    call.trace.stage('namespace');
    const namespace = context.namespaces.identify(request.netns, { allowOwn: request.netnsOverride });
    context.faults.reach('add:validated');
    const asked: AddRequest = { id, namespace, ...wanted };
    const present = await findPresent(context, asked, call);
    const record = present ?? (await wire(context, asked, attempt));
    if (isQuestion(record)) return record;
    await handOver(context, record, { isNew: present === undefined, request, call });
    return undefined;
  });
}

/** What is wanted: a pod's network from us, or its addresses for another plugin that wires it. */
function readWanted({ networks }: EndpointContext, request: AttachmentRequest): Understood['wanted'] {
  const { config } = request;
  const delegation = readDelegation(config);
  const wish = readWish(request);
  if (delegation === undefined) return { network: chooseNetwork(networks, config), wish };
  const network = chooseNetwork(networks, { name: config.name, network: delegation.network });
  return { network, wish: onlyAddresses(wish), delegation };
}

function identifyTrace(call: Call, id: EndpointId, { pod }: Wish): void {
  const name = podName({ pod });
  call.trace.identify({ endpoint: endpointKey(id), ...(name === undefined ? {} : { pod: name }) });
}

function refusePrevResult({ prevResult }: AttachmentRequest): void {
  if (prevResult === undefined) return;
  const message = 'prevResult: podwire-cni makes the interface, so it must be the first plugin of the list';
  throw new PodwireError('CONFIG_INVALID', message);
}

/** The endpoint when it is there already as it is wanted now. What is left of an earlier one is removed first. */
async function findPresent(
  context: EndpointContext,
  asked: AddRequest,
  call: Call,
): Promise<AgentRecord | undefined> {
  clearBroken(context, endpointKey(asked.id));
  const present = context.endpoints.get(endpointKey(asked.id));
  if (present === undefined) return undefined;
  if (present.phase !== 'ready' || context.namespaces.isGone(present.namespace)) {
    call.trace.stage('remove leftover');
    await dismantle(context, present, { signal: call.signal, trace: call.trace.resources() });
    return undefined;
  }
  const difference = differenceToWish(present, asked);
  if (difference === undefined) return present;
  const message = `${describeEndpoint(present)} has an interface ${asked.id.ifName} already, and ${difference}`;
  throw new PodwireError('ENDPOINT_EXISTS', message, { details: { endpoint: endpointKey(asked.id) } });
}

/** Addresses and plan, then the record, then the kernel. Takes back everything when a step fails. */
async function wire(
  context: EndpointContext,
  asked: AddRequest,
  attempt: Attempt,
): Promise<AgentRecord | Question> {
  const { call } = attempt;
  call.trace.stage('plan');
  const draft = isMember(context)
    ? tryFromMemory(context, asked, attempt, (complete) => enterBooks(context, complete))
    : enterBooks(context, asked);
  if (isQuestion(draft)) return draft;
  // Made anew for each call: spans count from the moment of this.
  const options = (): CallOptions => ({ signal: call.signal, trace: call.trace.resources() });
  try {
    call.trace.stage('record');
    context.records.write(draft);
    context.faults.reach('add:recorded');
    call.trace.stage('node');
    await context.node.ensure(context.engine, options());
    context.faults.reach('add:node-ready');
    call.trace.stage('apply');
    await context.engine.apply(ownedBy(draft), options());
  } catch (error) {
    takeBack(context, draft, error);
    throw error;
  }
  context.faults.reach('add:applied');
  return finish(context, draft, call);
}

/** Makes the draft and writes it into the books in memory, with no turn of the event loop in between. */
function enterBooks(context: EndpointContext, asked: AddRequest): AgentRecord {
  const { network, wish } = asked;
  const view = () => context.node.view(network);
  context.ports.check(asked.id, wish.portMappings, wantedFamilies(wish, network, view()));
  const draft = draftEndpoint(asked, {
    ipam: network.ipam,
    view,
    random: context.random,
    now: context.clock(),
    isLinkTaken: (name) => context.endpoints.ofLink(name) !== undefined,
  });
  context.endpoints.put(draft);
  context.ports.claim(draft);
  context.cluster?.noteUsed(draft);
  return draft;
}

/**
 * `apply` is all or nothing, so only our own books are to be put right; unless it says that its way back failed, then
 * the endpoint is removed like any other, later.
 */
function takeBack(context: EndpointContext, draft: AgentRecord, error: unknown): void {
  const leftBehind = error instanceof PodwireError && error.code === 'REMOVE_INCOMPLETE';
  try {
    if (leftBehind) markRemoving(context, draft);
    else forget(context, draft);
  } catch (err) {
    context.log.error({ err, endpoint: endpointKey(draft.id) }, 'a failed ADD left its record behind');
  }
}

async function finish(context: EndpointContext, draft: AgentRecord, call: Call): Promise<AgentRecord> {
  call.trace.stage('finish');
  try {
    const ready = context.records.advance(draft, 'ready') as AgentRecord;
    context.endpoints.put(ready);
    context.faults.reach('add:ready');
    return ready;
  } catch (error) {
    await undo(context, draft, error);
    throw error;
  }
}

interface HandOver {
  readonly isNew: boolean;
  readonly request: AttachmentRequest;
  readonly call: Call;
}

/**
 * Gives the answer to the plugin while the lock is still held: if the plugin has died meanwhile, its runtime may
 * already be waiting with a DEL, or with the same ADD again, and neither may see an endpoint that is about to go.
 */
async function handOver(
  context: EndpointContext,
  record: AgentRecord,
  { isNew, request, call }: HandOver,
): Promise<void> {
  call.trace.stage('answer');
  try {
    await call.answer(renderAnswer(record.answer as Result, request.config.cniVersion));
    context.faults.reach('add:answered');
  } catch (error) {
    if (isNew) await undo(context, record, error);
    throw error;
  }
}

/** Removes an endpoint that was wired, because of an error that the caller throws afterwards. */
async function undo(context: EndpointContext, record: AgentRecord, because: unknown): Promise<void> {
  const endpoint = endpointKey(record.id);
  context.log.warn({ endpoint, because: describeError(because) }, 'taking an ADD back');
  try {
    await dismantle(context, record, { signal: AbortSignal.timeout(context.cleanupDeadline) });
  } catch (err) {
    context.log.error({ err, endpoint }, 'an ADD could not be taken back; the next reconcile tries again');
  }
}
