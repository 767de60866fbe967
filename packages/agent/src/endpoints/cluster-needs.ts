/**
 * Needs of an ADD in the cluster: the addresses of its workload, or addresses that this node does not have. The store
 * may hang, a reconcile waits for every endpoint that is locked, and all other requests wait for the reconcile. So the
 * store is never called while an endpoint is locked.
 */
import type { Need, PodAddresses } from '@podwire/cluster-ipam';
import { errorCodes } from '@podwire/cni';
import { errorCatalogue, PodwireError } from '@podwire/errors';
import { compact, withDeadline } from '@podwire/platform';
import type { ClusterMember } from '../cluster/contract.js';
import { identify, type PodRecord } from '../cluster/pod-records.js';
import { allocatesFromPools, enforcesPolicy } from '../networks.js';
import type { Call, ClusterSide, EndpointContext, NodeSide, ProcessSide } from './context.js';
import type { PolicyEndpoint } from '../policy/contract.js';
import type { PendingAdd } from './pending-adds.js';
import { askedAnnotations, type EndpointSpec, wantedAddresses, wantedFamilies } from './plan-endpoint.js';
import { fullName, podName } from './registry.js';

/** Another waiting ADD may take the addresses that were provided; after so many losses the ADD fails. */
const attempts = 10;

/**
 * `workload`: the addresses of the pod's workload. `addresses`: a block, or an address of another node's block. `labels`: those of the
 * pod, where a policy looks at them and the request has none. `objects`: those that say where the pod belongs. `record`:
 * that of the pod, by which a controller gives it its addresses.
 */
export type ClusterNeed = 'workload' | 'addresses' | 'labels' | 'objects' | 'record';

/** Milliseconds that an ADD waits for objects; then it fails, to be tried again later. */
const longestWait = 5_000;

/** Results that one ADD has got from the cluster so far. */
export interface AddProgress {
  /** From the first need on. */
  pending: PendingAdd | undefined;
  isWorkloadKnown: boolean;
  workload: PodAddresses | undefined;
  /** How many times addresses were provided. */
  provided: number;
}

type Spec = Omit<EndpointSpec, 'namespace'>;

export function withWorkload<S extends Spec>(spec: S, { workload }: AddProgress): S {
  return workload === undefined ? spec : { ...spec, workload };
}

/** @param error why memory cannot serve the ADD; absent before it was tried */
export function needOf(
  cluster: ClusterMember | undefined,
  spec: Spec,
  { isWorkloadKnown, provided }: AddProgress,
  error?: unknown,
): ClusterNeed | undefined {
  if (cluster === undefined) return undefined;
  if (!isWorkloadKnown && hasWorkload(cluster, spec)) return 'workload';
  const isProvided = allocatesFromPools(spec.network.model) && provided < attempts - 1;
  return error !== undefined && isProvided && mayBeElsewhere(error) ? 'addresses' : undefined;
}

/** Until the pod's labels do not matter, if the request has none and its network enforces policy. */
export function labelNeed(
  { policy }: Pick<ClusterSide, 'policy'>,
  spec: Spec,
): Extract<ClusterNeed, 'labels'> | undefined {
  if (!enforcesPolicy(spec.network)) return undefined;
  return policy?.lacksLabels(describePod(spec)) === true ? 'labels' : undefined;
}

/** Until the pod's record is in the store, in models whose pods get their addresses from a controller. */
export function recordNeed(
  { cluster }: ClusterSide,
  { id, network, request, delegation }: Spec,
): Extract<ClusterNeed, 'record'> | undefined {
  const pod = identify(request.pod);
  if (network.model.assigned === undefined || delegation !== undefined || pod === undefined) return undefined;
  return cluster?.podRecords?.has(id, pod) === false ? 'record' : undefined;
}

/** Until the cluster has decided what the pod belongs to. */
export const objectNeed = (
  context: ClusterSide & Pick<NodeSide, 'desired'>,
  spec: Spec,
): Extract<ClusterNeed, 'objects'> | undefined =>
  findUndecided(context, spec) === undefined ? undefined : 'objects';

/** Why the pod cannot be planned yet. Other errors of the model are those of the plan. */
function findUndecided(
  { cluster, desired }: ClusterSide & Pick<NodeSide, 'desired'>,
  { network, request, delegation }: Spec,
): PodwireError | undefined {
  if (cluster === undefined) return undefined;
  const { model, view } = network;
  try {
    if (delegation === undefined) model.resolve?.(request.pod, view, desired.read);
    return undefined;
  } catch (error) {
    return isUndecided(error) ? error : undefined;
  }
}

const isUndecided = (error: unknown): error is PodwireError =>
  error instanceof PodwireError && errorCatalogue[error.code].cni === errorCodes.tryAgainLater;

const describePod = ({ id, request }: Spec): PolicyEndpoint => ({
  id,
  pod: request.pod,
  facts: request.facts,
});

/** Most pods have no workload with addresses, and that is known in memory. */
function hasWorkload({ addressing }: ClusterMember, { network, request }: Spec): boolean {
  const pod = fullName(request.pod);
  return pod !== undefined && addressing.hasWorkload(network.view.name, pod);
}

/** This node has no free address, or the requested address lies in a block of another node. */
function mayBeElsewhere(error: unknown): boolean {
  if (!(error instanceof PodwireError)) return false;
  const { code, details } = error;
  // An address of an own block has an owner, or a time when it has cooled down.
  const isElsewhere = details['owner'] === undefined && details['freeAt'] === undefined;
  return code === 'POOL_EXHAUSTED' || (code === 'ADDRESS_IN_USE' && isElsewhere);
}

/**
 * Asks the cluster; the endpoint must not be locked.
 * @throws PodwireError as NodeAddressing.provide and addressesFor do; the reason of the ADD's signal
 */
export async function resolveNeed(
  context: ClusterSide & Pick<NodeSide, 'node' | 'desired'> & Pick<ProcessSide, 'faults'>,
  need: ClusterNeed,
  spec: Spec,
  progress: AddProgress,
  { trace }: Call,
): Promise<void> {
  const { signal } = progress.pending!;
  // A DEL may have had the lock in between.
  signal.throwIfAborted();
  try {
    if (need === 'labels') {
      trace.stage('labels');
      await context.policy?.waitForLabels(describePod(spec), signal);
    } else if (need === 'objects') {
      trace.stage('objects');
      await waitForObjects(context, spec, signal);
    } else if (need === 'record') {
      trace.stage('ask');
      await context.cluster!.podRecords!.ask(spec.id, describeRecord(spec), signal);
      context.faults.reach('add:asked');
      await waitForOwnAnswer(context, spec, signal);
    } else if (need === 'workload') {
      trace.stage('workload');
      progress.workload = await askWorkload(context, spec, signal);
      progress.isWorkloadKnown = true;
    } else {
      trace.stage('provide');
      await context.cluster!.provide(describeNeed(context, withWorkload(spec, progress)), signal);
      progress.provided++;
    }
  } catch (error) {
    // A store may wrap the reason in an error of its own.
    signal.throwIfAborted();
    throw error;
  }
}

/** Label of Kubernetes on pods of stateful sets. */
const podNameLabel = 'statefulset.kubernetes.io/pod-name';

function describeRecord({ network, request }: Spec): PodRecord {
  const pod = identify(request.pod)!;
  const isOfSet = request.facts.labels?.[podNameLabel] === pod.name;
  return {
    ...pod,
    annotations: askedAnnotations(network, request) ?? {},
    ...(isOfSet ? { statefulSet: pod.name.replace(/-\d+$/, '') } : {}),
  };
}

/** @throws PodwireError that names what is not decided, after five seconds */
async function waitForObjects(
  context: ClusterSide & Pick<NodeSide, 'desired'>,
  spec: Spec,
  signal: AbortSignal,
): Promise<void> {
  const find = (): PodwireError | undefined => findUndecided(context, spec);
  const wait = (either: AbortSignal): Promise<void> =>
    context.cluster!.objects.until(() => find() === undefined, either);
  await withDeadline(signal, longestWait, wait, { reason: find }).catch(async (error: unknown) => {
    throw (await explain(context, spec, error, signal)) ?? error;
  });
}

/**
 * A sandbox that is made anew right after the last one of its pod: what is known of the pod may be the answer to its earlier record,
 * whose addresses are about to be free.
 */
async function waitForOwnAnswer(
  context: ClusterSide & Pick<NodeSide, 'desired'>,
  spec: Spec,
  signal: AbortSignal,
): Promise<void> {
  const { podRecords, objects } = context.cluster!;
  const pod = identify(spec.request.pod)!;
  if (podRecords!.isUnanswered(pod) && findUndecided(context, spec) === undefined) {
    const wait = async (either: AbortSignal): Promise<void> => {
      const answer = await podRecords!.untilAnswered(pod, either);
      await objects.until(() => isAnswered(context, spec, answer), either);
    };
    const reason = (): Error =>
      new PodwireError('POD_UNALLOCATED', `no address allocated to pod ${pod.namespace}/${pod.name} yet`);
    await withDeadline(signal, longestWait, wait, { reason }).catch(async (error: unknown) => {
      throw (await explain(context, spec, error, signal)) ?? error;
    });
  }
  podRecords!.noteAnswered(pod);
}

/** True once the pod would get what the record says. */
function isAnswered(
  { desired }: Pick<NodeSide, 'desired'>,
  { network: { model, view }, request }: Spec,
  answer: Readonly<Record<string, string>>,
): boolean {
  try {
    return model.assigned!.isAnswer(model.resolve!(request.pod, view, desired.read), answer);
  } catch (error) {
    if (isUndecided(error)) return false;
    throw error;
  }
}

/** The error with the reason that the controller has written down, where there is one. */
async function explain(
  { cluster }: ClusterSide,
  { request }: Spec,
  error: unknown,
  signal: AbortSignal,
): Promise<PodwireError | undefined> {
  const pod = identify(request.pod);
  if (!isUndecided(error) || pod === undefined || signal.aborted) return undefined;
  const problem = await cluster?.podRecords?.findProblem(pod, signal).catch(() => undefined);
  return problem === undefined ? undefined : new PodwireError(error.code, `${error.message}: ${problem}`);
}

function askWorkload(
  { cluster, node }: Pick<EndpointContext, 'cluster' | 'node'>,
  { network, request }: Spec,
  signal: AbortSignal,
): Promise<PodAddresses | undefined> {
  const families = wantedFamilies(request, network, node.view(network));
  const pod = fullName(request.pod)!;
  return cluster!.addressing.addressesFor(network.view.name, pod, families, signal);
}

function describeNeed({ node }: Pick<NodeSide, 'node'>, spec: Spec): Need {
  const { network, request } = spec;
  const { requested, pools, workload } = wantedAddresses(spec);
  const families = wantedFamilies(request, network, node.view(network));
  return compact({ network: network.view.name, families, requested, pools, workload });
}

/**
 * For an ADD whose endpoint was removed before it was wired: the addresses that its workload gave it go back to the workload, as
 * after any DEL. After other failures they stay the pod's, since the ADD is tried again. Those of another endpoint of the pod stay.
 */
export function releaseWorkload(
  { cluster, endpoints }: Pick<EndpointContext, 'cluster' | 'endpoints'>,
  { network, request }: Spec,
): void {
  const pod = fullName(request.pod);
  if (pod === undefined) return;
  const { name } = network.view;
  const isHere = endpoints.find(podName(request)!).some(({ endpoint }) => endpoint.network === name);
  if (!isHere) cluster?.addressing.noteUnassigned(name, pod);
}
