/** RunPodSandbox: the steps in the order of the documents (image, create, checkpoint, start, resolv.conf, network). */
import { CriError, type PodSandboxConfig } from '@podwire/cri';
import { describeError } from '@podwire/errors';
import { compact, orUndefined } from '@podwire/platform';
import { type OpenSpan, withSpan } from '@podwire/tracing';
import { makeCheckpoint, protocolName } from '../checkpoint/checkpoint.js';
import type { SandboxContext } from '../context.js';
import type { Work } from '../call.js';
import { type InspectedContainer, isNotFound } from '../docker/index.js';
import { labelKeys, sandboxType } from '../labels.js';
import { makeSandboxConfig } from './config.js';
import { createContainer, type Created, type NameConflictDecision } from './create.js';
import { teardownSandbox } from './teardown.js';
import { usesHostNetwork } from './namespaces.js';
import { pinSandbox } from './netns.js';
import { rewriteResolvConf } from './resolv-conf.js';
import { removeSandbox } from './stop.js';

export interface SandboxRequest {
  readonly name: string;
  readonly config: PodSandboxConfig;
  readonly runtime: string | undefined;
  /** Told as soon as there is one: from then on a Stop can name it. */
  onCreated(id: string): void;
}

/** @returns the id of a sandbox that is ready. After a failure nothing of it holds addresses, and it does not run. */
export async function runSandbox(
  context: SandboxContext,
  request: SandboxRequest,
  work: Work,
): Promise<string> {
  const step = stepper(context, work);
  await step('image', (span) => context.images.ensure(context.settings.sandboxImage, { ...work, span }));
  const { id, existed } = await step('create', () => createSandbox(context, request, work));
  work.span.set({ sandbox: id });
  request.onCreated(id);
  if (existed) return id;
  context.networkReady.set(id, false);
  await launch(context, id, request.config, work);
  const { hostNetwork, netns } = await settle(context, id, request.config, work);
  if (!hostNetwork) await attach(context, id, request.config, netns, work);
  context.networkReady.set(id, true);
  context.faults.reach('run:ready');
  return id;
}

type Step = <T>(name: string, action: (span: OpenSpan) => Promise<T>) => Promise<T>;

/** Every step is a span, and a test may end the process before and after each. */
function stepper({ faults }: SandboxContext, { signal, span }: Work): Step {
  return async (name, action) => {
    signal.throwIfAborted();
    faults.reach(`run:${name}`);
    const result = await withSpan(span.child(name), action);
    faults.reach(`run:${name}:done`);
    return result;
  };
}

async function createSandbox(context: SandboxContext, request: SandboxRequest, work: Work): Promise<Created> {
  const config = await makeSandboxConfig(request.config, {
    image: context.settings.sandboxImage,
    cgroupDriver: await context.cgroupDriver(work.signal),
    ownerLabel: context.owners.label,
    leastOomScoreAdj: context.settings.leastOomScoreAdj,
    runtime: request.runtime,
  });
  const decide = (owner: string): Promise<NameConflictDecision> => decideOnOwner(context, owner, work);
  try {
    return await createContainer(context, { name: request.name, config, decide }, work);
  } catch (cause) {
    const message = `failed to create a sandbox for pod ${request.config.metadata?.name}: ${describeError(cause)}`;
    throw new CriError('UNKNOWN', message, { cause });
  }
}

/**
 * The same metadata again, and there is a sandbox of it: the answer to an earlier call was lost (containerd #9947). If it is
 * ready it is the answer; otherwise a start of it was given up half-way, or it has ended, and it goes with all that it has.
 */
async function decideOnOwner(
  context: SandboxContext,
  owner: string,
  { signal }: Work,
): Promise<NameConflictDecision> {
  const found = await orUndefined(context.docker.inspectContainer(owner, {}, { signal }), isNotFound);
  if (found?.Config.Labels?.[labelKeys.type] !== sandboxType) return 'unknown';
  if (!context.owners.owns(found.Id, found.Config.Labels)) return decideOnForeign(found);
  if (found.State.Running && context.networkReady.get(found.Id) === true) return 'take';
  await removeSandbox(context, found.Id, AbortSignal.timeout(context.settings.cleanupTimeoutMs));
  return 'cleared';
}

/** Of dockershim, cri-dockerd or another Podwire. One that has ended is in the way as any other container. */
function decideOnForeign({ Id, State }: InspectedContainer): NameConflictDecision {
  if (!State.Running) return 'unknown';
  const why = 'another service made it, and it runs: stop it there, or start with --take-over';
  throw new CriError('ALREADY_EXISTS', `the pod has the sandbox ${Id} already; ${why}`);
}

/** Writes down what must be known to undo it, then starts it. What never ran has nothing worth keeping. */
async function launch(
  context: SandboxContext,
  id: string,
  config: PodSandboxConfig,
  work: Work,
): Promise<void> {
  const { checkpoints, docker } = context;
  const step = stepper(context, work);
  try {
    await step('checkpoint', () => checkpoints.write(id, makeCheckpoint(config)));
    await step('start', () => docker.startContainer(id, { signal: work.signal }));
  } catch (cause) {
    const why = `failed to start the sandbox container for pod ${config.metadata?.name}`;
    throw await afterFailure(context, id, why, cause, { keepContainer: false });
  }
}

interface Settled {
  readonly hostNetwork: boolean;
  /** The file that pins its namespace; empty with the host's network. */
  readonly netns: string;
}

/** Everything between the start and the network. */
async function settle(
  context: SandboxContext,
  id: string,
  config: PodSandboxConfig,
  work: Work,
): Promise<Settled> {
  const step = stepper(context, work);
  const hostNetwork = usesHostNetwork(config);
  try {
    const netns = hostNetwork ? '' : await step('pin', () => pinSandbox(context, id, work.signal));
    await step('resolv.conf', () => writeDns(context, id, config, work));
    return { hostNetwork, netns };
  } catch (cause) {
    throw await afterFailure(
      context,
      id,
      `failed to prepare the sandbox of pod ${config.metadata?.name}`,
      cause,
    );
  }
}

async function writeDns(
  context: SandboxContext,
  id: string,
  config: PodSandboxConfig,
  work: Work,
): Promise<void> {
  if (config.dnsConfig === undefined) return;
  const { ResolvConfPath } = await context.docker.inspectContainer(id, {}, { signal: work.signal });
  if (ResolvConfPath === '') {
    context.log.warn(
      { sandbox: id },
      'Docker has no resolv.conf for the sandbox; its DNS configuration has no effect',
    );
    return;
  }
  await rewriteResolvConf(ResolvConfPath, config.dnsConfig).catch((cause: unknown) => {
    throw new Error(`rewrite of ${ResolvConfPath} failed: ${describeError(cause)}`, { cause });
  });
}

async function attach(
  context: SandboxContext,
  id: string,
  config: PodSandboxConfig,
  netns: string,
  work: Work,
): Promise<void> {
  const { name = '', namespace = '', uid = '' } = config.metadata ?? {};
  const dns = config.dnsConfig;
  const cgroupParent = config.linux?.cgroupParent ?? '';
  try {
    await stepper(context, work)('network', (span) =>
      context.network.setUp(
        {
          ...{ namespace, name, uid, sandboxId: id, netns, annotations: config.annotations },
          portMappings: hostPorts(config),
          ...compact({ dns }),
          ...(cgroupParent === '' ? {} : { cgroupParent }),
        },
        { signal: work.signal, parent: span.context },
      ),
    );
  } catch (cause) {
    throw await afterFailure(context, id, `failed to set up the network of pod ${name}`, cause);
  }
}

function hostPorts({
  portMappings,
}: PodSandboxConfig): Parameters<SandboxContext['network']['setUp']>[0]['portMappings'] {
  return portMappings
    .filter(({ hostPort }) => hostPort > 0)
    .map(({ hostPort, containerPort, protocol, hostIp }) => ({
      ...{ hostPort, containerPort, protocol: protocolName(protocol) },
      ...(hostIp === '' ? {} : { hostIP: hostIp }),
    }));
}

/** Takes back what was done, with a deadline of its own, and says all that went wrong. */
async function afterFailure(
  context: SandboxContext,
  id: string,
  what: string,
  cause: unknown,
  options: { readonly keepContainer: boolean } = { keepContainer: true },
): Promise<Error> {
  context.faults.reach('run:failed');
  const errors = [cause];
  await teardownSandbox(context, id, options).catch((error: unknown) => errors.push(error));
  return errors.length === 1
    ? new Error(`${what}: ${describeError(cause)}`, { cause })
    : new AggregateError(errors, what, { cause });
}
