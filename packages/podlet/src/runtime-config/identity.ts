/**
 * Labels and annotations by which a pod agent that was started again knows whose containers these are. Keys are the kubelet's,
 * so that other tools (crictl, log collectors) see a pod as they are used to.
 */
import type { Container, ContainerPort, Pod, ProbeAction } from '@podwire/pod-spec';
import { hashContainer } from '../lifecycle/spec-hash.js';

export const podLabels = {
  name: 'io.kubernetes.pod.name',
  namespace: 'io.kubernetes.pod.namespace',
  uid: 'io.kubernetes.pod.uid',
} as const;

export const containerNameLabel = 'io.kubernetes.container.name';

export const containerAnnotations = {
  hash: 'io.kubernetes.container.hash',
  restartCount: 'io.kubernetes.container.restartCount',
  terminationMessagePath: 'io.kubernetes.container.terminationMessagePath',
  terminationMessagePolicy: 'io.kubernetes.container.terminationMessagePolicy',
  ports: 'io.kubernetes.container.ports',
  preStop: 'io.kubernetes.container.preStopHandler',
  gracePeriod: 'io.kubernetes.pod.terminationGracePeriod',
} as const;

type Texts = Readonly<Record<string, string>>;

export function sandboxLabels({ metadata }: Pod): Record<string, string> {
  return {
    ...metadata.labels,
    [podLabels.name]: metadata.name,
    [podLabels.namespace]: metadata.namespace,
    [podLabels.uid]: metadata.uid,
  };
}

export function containerLabels(pod: Pod, container: Container): Record<string, string> {
  return { ...sandboxLabels(pod), [containerNameLabel]: container.name };
}

/** Everything that is needed to end a container properly when its pod is known no more. */
export function buildContainerAnnotations(
  pod: Pod,
  container: Container,
  attempt: number,
): Record<string, string> {
  const preStop = container.lifecycle?.preStop;
  return {
    [containerAnnotations.hash]: hashContainer(container),
    [containerAnnotations.restartCount]: String(attempt),
    [containerAnnotations.terminationMessagePath]: container.terminationMessagePath,
    [containerAnnotations.terminationMessagePolicy]: container.terminationMessagePolicy,
    [containerAnnotations.gracePeriod]: String(pod.spec.terminationGracePeriodSeconds),
    ...(container.ports.length > 0 && { [containerAnnotations.ports]: JSON.stringify(container.ports) }),
    ...(preStop !== undefined && { [containerAnnotations.preStop]: JSON.stringify(preStop) }),
  };
}

export interface PodIdentity {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

/** @returns undefined when it is not of a pod agent */
export function readPodIdentity(labels: Texts): PodIdentity | undefined {
  const name = labels[podLabels.name];
  const namespace = labels[podLabels.namespace];
  const uid = labels[podLabels.uid];
  if (!name || !namespace || !uid) return undefined;
  return { name, namespace, uid };
}

/** A container's identity, read from its labels. */
export interface ContainerIdentity {
  readonly pod: PodIdentity;
  readonly name: string;
  readonly hash: string;
  readonly restartCount: number;
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: Container['terminationMessagePolicy'];
  readonly gracePeriodSeconds?: number;
  readonly ports: readonly ContainerPort[];
  readonly preStop?: ProbeAction;
}

/** The inverse of {@link containerLabels} and {@link buildContainerAnnotations}; what cannot be read is absent. */
export function readContainerIdentity(labels: Texts, annotations: Texts): ContainerIdentity | undefined {
  const pod = readPodIdentity(labels);
  const name = labels[containerNameLabel];
  if (pod === undefined || !name) return undefined;
  const path = annotations[containerAnnotations.terminationMessagePath];
  const policy = annotations[containerAnnotations.terminationMessagePolicy];
  const gracePeriodSeconds = readCount(annotations[containerAnnotations.gracePeriod]);
  const preStop = readJson<ProbeAction>(annotations[containerAnnotations.preStop]);
  return {
    pod,
    name,
    hash: annotations[containerAnnotations.hash] ?? '',
    restartCount: readCount(annotations[containerAnnotations.restartCount]) ?? 0,
    ports: readJson<ContainerPort[]>(annotations[containerAnnotations.ports]) ?? [],
    ...(path !== undefined && { terminationMessagePath: path }),
    ...((policy === 'File' || policy === 'FallbackToLogsOnError') && { terminationMessagePolicy: policy }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(preStop !== undefined && { preStop }),
  };
}

function readCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** Annotations were written by this program, or by a kubelet, whose forms are the API's too. */
function readJson<T>(text: string | undefined): T | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}
