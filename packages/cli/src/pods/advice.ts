/** Advice about a pod that is not ready; pure. Empty where its message already names the next step. */
import type { PodView } from '@podwire/podlet';
import { fullName } from './names.js';
import { findReason, type Reason } from './reason.js';

type Advise = (of: Subject) => readonly string[];

interface Subject {
  readonly pod: PodView;
  readonly reason: Reason;
  /** `podwire logs shop/web -c CONTAINER` as far as that is needed. */
  readonly logs: string;
}

const edit = (what: string): Advise => {
  return ({ pod }) =>
    pod.origin === undefined
      ? [`${what}.`]
      : [`${what}. The manifest is ${pod.origin}; when it is saved the pod is replaced.`];
};

const readLogs: Advise = ({ logs }) => [`podwire ${logs}   shows what it wrote.`];

const image: Advise = ({ pod }) => [
  `Correct \`image\` in ${pod.origin ?? 'its manifest'}, or see that the runtime can reach its registry; it is tried again by itself.`,
];

const wait = (text: string): Advise => {
  return () => [text];
};

const resources = edit('Ask for less under `resources.requests`, or end another pod');

const network: Advise = ({ reason }) => {
  if (/no node agent answers/.test(reason.message ?? ''))
    return [
      'Start the node agent: `podwire agent`, or `podwire down` and `podwire up FILE`. The pod goes on by itself then.',
      '`podwire status` says whether it is ready; its log says why it ended.',
    ];
  return ['podwire net explain   lists the network configurations, and what is wrong with each.'];
};

const sandbox: Advise = ({ reason }) => {
  const code = /\b([A-Z]+(?:_[A-Z]+)+)\b/.exec(reason.message ?? '')?.[1];
  const page = code === undefined ? [] : [`docs/errors.md says what ${code} means and what helps.`];
  return [...page, 'It is tried again by itself. `podwire status` says whether the node agent is ready.'];
};

/** By reason, the words of the pod agent and those of `findReason`. */
const table: Readonly<Record<string, Advise>> = {
  HostPort: edit('Choose another `hostPort`, or take the other pod down first'),
  NetworkNotReady: network,
  FailedCreatePodSandBox: sandbox,
  FailedMount: edit('Make what the volume names, or correct the volume'),
  CrashLoopBackOff: ({ logs }) => [`podwire ${logs} --previous   shows what it wrote before it ended.`],
  RunContainerError: edit('Correct `command` and `image` of the container'),
  CreateContainerConfigError: edit('Correct what the message names'),
  PostStartHookError: edit('Correct `lifecycle.postStart` of the container'),
  ErrImagePull: image,
  ImagePullBackOff: image,
  ErrImageNeverPull: edit('Load the image into the runtime, or change `imagePullPolicy`'),
  InvalidImageName: edit('Correct `image`'),
  ImageInspectError: wait('Ask the container runtime; it is tried again by itself.'),
  RegistryUnavailable: image,
  SignatureValidationFailed: edit('Use an image that the policy of the runtime accepts'),
  AppArmor: edit('Switch AppArmor on, or take its profile out'),
  Seccomp: edit('Correct the seccomp profile'),
  Unsupported: edit('Take out what the message names'),
  OutOfcpu: resources,
  OutOfmemory: resources,
  NodeAffinity: edit('Correct `nodeSelector` or `affinity`'),
  SysctlForbidden: edit('Take the sysctl out, or allow it with `podwire podlet --allowed-unsafe-sysctls`'),
  DeadlineExceeded: edit('Set a longer `activeDeadlineSeconds`'),
  Hopeless: readLogs,
  Error: readLogs,
  OOMKilled: edit('Set a larger `resources.limits.memory`'),
  ContainerStatusUnknown: wait('The runtime has lost it: its own log says why.'),
  Unhealthy: ({ logs, reason, pod }) => [
    `podwire ${logs}   shows what it writes; the probe is in ${pod.origin ?? 'its manifest'}.`,
    ...(/timed? ?out|no answer|EHOSTUNREACH/i.test(reason.message ?? '')
      ? [`podwire explain ${fullName(pod)}   compares its network with what was planned.`]
      : []),
  ],
  NotReady: ({ logs }) => [`Wait for the probe, or see what it does: podwire ${logs}`],
  Initializing: readLogs,
  WaitingForName: wait('It begins when the other one has ended; `podwire ps` shows it as Terminating.'),
  FailedCleanUp: wait(
    'It is tried again by itself. Pods are taken off the network through the node agent: `podwire status` says whether it answers.',
  ),
  FailedKillPod: wait('It is tried again by itself.'),
  FailedPreStopHook: wait('The pod ends all the same.'),
  ContainerCreating: wait('Nothing has failed yet: `podwire events -w` shows what comes next.'),
  PodInitializing: wait('Nothing has failed yet: `podwire events -w` shows what comes next.'),
};

/** @returns nothing for a pod that is as it should be */
export function adviseOn(pod: PodView): readonly string[] {
  const reason = findReason(pod);
  if (reason === undefined) return [];
  const advise = table[reason.reason] ?? sandboxOrLogs(pod);
  return advise({ pod, reason, logs: logsOf(pod, reason) });
}

/** A reason of the runtime's own, such as that of a container that has ended. */
const sandboxOrLogs = ({ containers }: PodView): Advise =>
  containers.some(({ logPath }) => logPath !== undefined) ? readLogs : () => [];

function logsOf(pod: PodView, { container }: Reason): string {
  const isFirst = container === undefined || pod.status.containerStatuses[0]?.name === container;
  return `logs ${fullName(pod)}${isFirst ? '' : ` -c ${container}`}`;
}

/** For tests: what has advice. */
export const advisedReasons: readonly string[] = Object.keys(table);
