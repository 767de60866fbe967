/**
 * What an ADD asks the cluster for: when this node has no address for it, or when its workload has addresses of its own. The
 * store may hang, a reconcile waits for every endpoint that is held, and everybody waits for the reconcile. So nothing is
 * asked while an endpoint is held: an ADD that memory cannot serve lets go of its endpoint, asks, and begins anew.
 */
import type { Need, PodAddresses } from '@podwire/cluster-ipam';
import { PodwireError } from '@podwire/errors';
import type { ClusterMember } from '../cluster/contract.js';
import type { Asking } from './asking.js';
import type { Call, EndpointContext } from './context.js';
import { fullName, podName } from './registry.js';
import { type AddRequest, wantedAddresses, wantedFamilies } from './draft.js';

/** What is provided may be taken by another ADD that waits too; somebody who loses so often is told. */
const attempts = 10;

/** The endpoints' context of a node that is in a cluster. */
type MemberContext = EndpointContext & { readonly cluster: ClusterMember };

export const isMember = (context: EndpointContext): context is MemberContext => context.cluster !== undefined;

/** One attempt at an ADD. */
export interface Attempt {
  readonly call: Call;
  /** From the second attempt on. */
  readonly learned?: Learned;
}

/** What an ADD has from the cluster so far. */
export interface Learned {
  readonly asking: Asking;
  readonly isWorkloadKnown: boolean;
  readonly given?: PodAddresses;
  /** How many times addresses were provided. */
  readonly provided: number;
}

/** What must be asked before an ADD can go on. */
export interface Question {
  readonly asking: Asking;
  readonly asked: AddRequest;
  /** For when no endpoint is held. @throws PodwireError as NodeAddressing.provide and addressesFor do */
  readonly ask: (call: Call) => Promise<Learned>;
}

export const isQuestion = (value: object): value is Question => 'ask' in value;

/**
 * Runs `work` with what memory has for it. The caller holds the endpoint.
 * @throws what `work` throws when the cluster cannot help
 */
export function tryFromMemory<T>(
  context: MemberContext,
  asked: AddRequest,
  attempt: Attempt,
  work: (complete: AddRequest) => T,
): T | Question {
  const { learned } = attempt;
  if (learned?.isWorkloadKnown !== true && hasWorkload(context, asked))
    return leaveToAsk(context, asked, attempt, askWorkload);
  const complete = learned?.given === undefined ? asked : { ...asked, given: learned.given };
  try {
    return work(complete);
  } catch (error) {
    if (learned?.provided === attempts - 1 || !mayBeElsewhere(error)) throw error;
    return leaveToAsk(context, complete, attempt, askForAddresses);
  }
}

/**
 * Asks, and tries again, until an attempt has no more questions.
 * @param again holds the endpoint, and looks at everything afresh: what was so before may be otherwise now
 */
export async function askAndTryAgain(
  context: EndpointContext,
  first: Question,
  call: Call,
  again: (attempt: Attempt) => Promise<Question | undefined>,
): Promise<void> {
  const { asking, asked } = first;
  const slow: Call = { ...call, signal: asking.signal };
  try {
    for (let next: Question | undefined = first; next !== undefined;) {
      next = await again({ call: slow, learned: await answerTo(next, slow) });
    }
  } catch (error) {
    if (asking.isRemoved) leaveWorkload(context, asked);
    throw error;
  } finally {
    asking.end();
  }
}

async function answerTo({ ask }: Question, call: Call): Promise<Learned> {
  // Whoever held the endpoint next may have removed it already.
  call.signal.throwIfAborted();
  try {
    return await ask(call);
  } catch (error) {
    // Stores have words of their own for it.
    call.signal.throwIfAborted();
    throw error;
  }
}

type Ask = (context: MemberContext, asked: AddRequest, so: Learned, call: Call) => Promise<Learned>;

function leaveToAsk(
  context: MemberContext,
  asked: AddRequest,
  { call, learned }: Attempt,
  ask: Ask,
): Question {
  const so = learned ?? {
    asking: context.asking.begin(asked.id, call.signal),
    isWorkloadKnown: false,
    provided: 0,
  };
  return { asking: so.asking, asked, ask: (slow) => ask(context, asked, so, slow) };
}

/** Most pods have no workload with addresses, and that is known in memory. */
function hasWorkload({ cluster }: MemberContext, { network, wish }: AddRequest): boolean {
  const pod = fullName(wish.pod);
  return pod !== undefined && cluster.addressing.hasWorkload(network.view.name, pod);
}

async function askWorkload(
  { cluster, node }: MemberContext,
  { network, wish }: AddRequest,
  so: Learned,
  call: Call,
): Promise<Learned> {
  call.trace.stage('workload');
  const families = wantedFamilies(wish, network, node.view(network));
  const pod = fullName(wish.pod)!;
  const given = await cluster.addressing.addressesFor(network.view.name, pod, families, call.signal);
  return { ...so, isWorkloadKnown: true, ...(given && { given }) };
}

async function askForAddresses(
  context: MemberContext,
  asked: AddRequest,
  so: Learned,
  call: Call,
): Promise<Learned> {
  call.trace.stage('provide');
  await context.cluster.provide(needOf(context, asked), call.signal);
  return { ...so, provided: so.provided + 1 };
}

/**
 * The pod of an endpoint that was removed before it was there: what its workload gave it is the workload's again, as after any
 * DEL. After other failures it stays the pod's, which is tried again. What another endpoint of the pod has stays too.
 */
function leaveWorkload({ cluster, endpoints }: EndpointContext, { network, wish }: AddRequest): void {
  const pod = fullName(wish.pod);
  if (pod === undefined) return;
  const { name } = network.view;
  const isHere = endpoints.find(podName(wish)!).some(({ endpoint }) => endpoint.network === name);
  if (!isHere) cluster?.addressing.noteUnassigned(name, pod);
}

/** Nothing is left in the blocks of this node, or the address lies in a block of another one. */
function mayBeElsewhere(error: unknown): boolean {
  if (!(error instanceof PodwireError)) return false;
  const { code, details } = error;
  // Who has it, or when it has cooled down, would be there if it were in a block of this node.
  const isNobodysHere = details['owner'] === undefined && details['freeAt'] === undefined;
  return code === 'POOL_EXHAUSTED' || (code === 'ADDRESS_IN_USE' && isNobodysHere);
}

function needOf({ node }: EndpointContext, asked: AddRequest): Need {
  const { network, wish } = asked;
  const { requested, pools, workload } = wantedAddresses(asked);
  return {
    network: network.view.name,
    families: wantedFamilies(wish, network, node.view(network)),
    ...(requested === undefined ? {} : { requested }),
    ...(pools === undefined ? {} : { pools }),
    ...(workload === undefined ? {} : { workload }),
  };
}
