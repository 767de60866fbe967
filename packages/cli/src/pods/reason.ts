/** Why a pod is not ready, from what the pod agent says of it; pure. `ps` has it in short, `describe` and `up` in full. */
import type { PodView } from '@podwire/podlet';

export interface Reason {
  /** One word, the API's where it has one: `CrashLoopBackOff`, `FailedMount`, `Unhealthy`. */
  readonly reason: string;
  readonly message?: string;
  /** The container that it is about, or the only one that could be meant. */
  readonly container?: string;
}

type Container = PodView['containers'][number];
type Event = PodView['events'][number];

/** Of a pod that is in order here: users of the API see an earlier status. */
const findRefusal = ({ statusRefusal }: PodView): Reason | undefined =>
  statusRefusal === undefined ? undefined : of('StatusRefused', `by the API server: ${statusRefusal}`);

/** @returns undefined for a pod that is ready, has ended well, or is being taken down without trouble */
export function findReason(pod: PodView): Reason | undefined {
  if (pod.stage === 'terminating') return findTroubleOfEnd(pod);
  const { phase } = pod.status;
  if (phase === 'Failed') return plainer(findFailure(pod));
  return phase === 'Succeeded' || isTrue(pod, 'Ready') ? findRefusal(pod) : plainer(findWait(pod));
}

/**
 * The words of a cell; `-` when there is nothing to say.
 * @param state what stands beside it and need not be said again
 */
export function renderReason(pod: PodView, state?: string): string {
  const found = findReason(pod);
  if (found === undefined) return '-';
  const { reason, message } = found;
  if (message === undefined) return reason;
  return shorten(reason === state ? message : `${reason}: ${message}`);
}

/** Of a row among others; `podwire describe` has all of it. */
const mostCharacters = 64;

function shorten(text: string): string {
  const [line = ''] = text.split('\n');
  if (line.length <= mostCharacters) return line;
  const cut = line.slice(0, mostCharacters - 1);
  const lastSpace = cut.lastIndexOf(' ');
  return `${cut.slice(0, lastSpace > mostCharacters / 2 ? lastSpace : cut.length)}…`;
}

const isTrue = ({ status }: PodView, type: string): boolean =>
  status.conditions.some((condition) => condition.type === type && condition.status === 'True');

function findTroubleOfEnd({ events }: PodView): Reason | undefined {
  return asReason(latest(events, ['FailedCleanUp', 'FailedKillPod', 'FailedPreStopHook']));
}

function findFailure({ status, containers }: PodView): Reason {
  if (status.reason !== undefined) return of(status.reason, status.message);
  const ended = containers.find(({ state }) => (state.terminated?.exitCode ?? 0) !== 0);
  return ended === undefined ? of('Failed', status.message) : describeEnd(ended);
}

function describeEnd({ name, state, lastState }: Container): Reason {
  const { exitCode, reason, message } = state.terminated ?? lastState.terminated!;
  const words = `container ${name} ended with exit code ${exitCode}`;
  return { ...of(reason, message === undefined ? words : `${words}: ${message.trim()}`), container: name };
}

/** In the order in which a pod comes up: admission, sandbox and network, volumes, containers, probes. */
function findWait(pod: PodView): Reason {
  const { status, containers } = pod;
  const waiting = containers.find(({ state }) => isTelling(state.waiting?.reason));
  if (waiting !== undefined) return describeWait(waiting);
  if (status.reason !== undefined) return of(status.reason, status.message);
  const begins = containers.every(({ state }) => state.running === undefined);
  const before = begins ? findTroubleBefore(pod) : undefined;
  return before ?? findInitialisation(pod) ?? findUnready(pod) ?? findFirstStep(pod);
}

/** A text that every container has before it begins is no reason. */
function isTelling(reason: string | undefined): boolean {
  return reason !== undefined && reason !== 'ContainerCreating' && reason !== 'PodInitializing';
}

function describeWait({ name, state, lastState }: Container): Reason {
  const { reason, message } = state.waiting!;
  if (reason === 'CrashLoopBackOff' && lastState.terminated !== undefined) {
    const { exitCode, message: said = '' } = lastState.terminated;
    const words = `container ${name} ended with exit code ${exitCode}`;
    return { reason, message: said === '' ? words : `${words}: ${said.trim()}`, container: name };
  }
  const named = message?.includes(`container ${name}`) === true;
  const words =
    message === undefined ? `container ${name}` : named ? message : `container ${name}: ${message}`;
  return { reason, message: words, container: name };
}

/** The first does no harm; of the others the container says more. */
const saidElsewhere: readonly string[] = ['DNSConfigForming', 'Failed', 'BackOff'];

/** Sandbox and network come first, so what they failed at is over once the sandbox is there. */
function findTroubleBefore(pod: PodView): Reason | undefined {
  const sandbox = pod.status.conditions.find(({ type }) => type === 'PodReadyToStartContainers');
  const unspecific = ['SandboxNotCreated', 'SandboxNotReady', 'NetworkNotConfigured'];
  if (sandbox?.status === 'False' && sandbox.reason !== undefined && !unspecific.includes(sandbox.reason))
    return of(sandbox.reason, sandbox.message);
  const over = sandbox?.status === 'True' ? ['FailedCreatePodSandBox', 'NetworkNotReady', 'FailedMount'] : [];
  const isOver = ({ reason }: Event): boolean => over.includes(reason) || saidElsewhere.includes(reason);
  return asReason(latest(pod.events.filter((event) => event.type === 'Warning' && !isOver(event))));
}

function findInitialisation({ status: { initContainerStatuses: all } }: PodView): Reason | undefined {
  const next = all.find(({ ready, started }) => !ready && started !== true);
  const running = next ?? all.find(({ ready, state }) => !ready && state.running !== undefined);
  if (running?.state.running === undefined) return undefined;
  return { ...of('Initializing', `init container ${running.name} runs`), container: running.name };
}

/** Its latest probe that failed, or that none has succeeded yet. */
function findUnready({ status, events }: PodView): Reason | undefined {
  const all = [...status.initContainerStatuses, ...status.containerStatuses];
  const unready = all.find(({ ready, state }) => !ready && state.running !== undefined);
  if (unready === undefined) return undefined;
  const { name, started } = unready;
  const since = Date.parse(unready.state.running!.startedAt);
  const probe = latest(
    events.filter(({ message, lastAt }) => message.includes(`container ${name} `) && !(lastAt < since)),
    ['Unhealthy'],
  );
  if (probe !== undefined) return { ...asReason(probe)!, container: name };
  const kind = started === false ? 'startup' : 'readiness';
  return { ...of('NotReady', `container ${name}: its ${kind} probe has not succeeded yet`), container: name };
}

function findFirstStep({ status, containers, stage, events }: PodView): Reason {
  const waiting = latest(events, ['WaitingForName']);
  if (stage === 'waiting' && waiting !== undefined) return asReason(waiting)!;
  const [first] = containers;
  if (first?.state.waiting !== undefined) return of(first.state.waiting.reason, first.state.waiting.message);
  const unready = status.conditions.find(({ status: is }) => is === 'False');
  return of(unready?.reason ?? 'NotStarted', unready?.message);
}

function latest(events: readonly Event[], reasons?: readonly string[]): Event | undefined {
  return events
    .filter(({ reason }) => reasons?.includes(reason) ?? true)
    .reduce<Event | undefined>(
      (best, event) => (best === undefined || event.lastAt >= best.lastAt ? event : best),
      undefined,
    );
}

const of = (reason: string, message?: string): Reason =>
  message === undefined || message === '' ? { reason } : { reason, message };

function asReason(event: Event | undefined): Reason | undefined {
  return event === undefined ? undefined : of(event.reason, event.message);
}

/** Words that say which layers handed a failure on: of interest in a log, and said again by the reason here. */
const handedOn = [
  /^Failed to create pod sandbox: /,
  /^sandbox of \S+: /,
  /^pod \S+ could not be attached: /,
  /^plugin \S+ failed to ADD: /,
  /^Pod (?=Predicate )/,
  /^Predicate \S+ failed: /,
  /^Error: container \S+: (?=container )/,
  /^network is not ready: /,
  /^(?:NetworkPluginNotReady|NetworkReady): /,
] as const;

function plainer({ reason, message, ...rest }: Reason): Reason {
  if (message === undefined) return { reason, ...rest };
  const words = handedOn.reduce((text, pattern) => text.replace(pattern, ''), message);
  if (/the Podwire agent cannot be reached/.test(words))
    return { reason: 'NetworkNotReady', message: 'no node agent answers', ...rest };
  const port = /(?:PORT_IN_USE: host port (\S+) (?:\S+):(\d+)|(\S+) port (\d+)) is taken by (pod \S+)/.exec(
    words,
  );
  if (port !== null) {
    const [, tcp, number, TCP, otherNumber, owner = ''] = port;
    const words = `${number ?? otherNumber}/${(tcp ?? TCP ?? '').toLowerCase()} is taken by ${owner}`;
    return { reason: 'HostPort', message: words, ...rest };
  }
  return { reason, message: words, ...rest };
}
