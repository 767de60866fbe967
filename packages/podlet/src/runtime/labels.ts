import type { ContainerConfig, PodSandboxConfig } from '@podwire/cri';
import { compact } from '@podwire/platform';
import type { SourceName } from '../contract.js';
import type { ContainerRole } from '../lifecycle/container-plan.js';
import { type ContainerPort, localAnnotations, type Pod, type ProbeAction } from '@podwire/pod-spec';
import { readContainerIdentity, readPodIdentity } from '../runtime-config/identity.js';

/** Labels and annotations beside the kubelet's, by which a later podlet adopts sandboxes and containers. */

/** The owner: several podlets, or a kubelet, may share one runtime. */
export const nodeLabel = 'podwire.io/node';
export const uidLabel = 'io.kubernetes.pod.uid';
const roleAnnotation = 'podwire.io/role';

type Texts = Readonly<Record<string, string>>;

/** The pod of a sandbox or container. */
export interface PodLabels {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly source?: SourceName;
  readonly graceSeconds?: number;
}

/** How a container ends: all that is needed of its specification when that is gone. */
export interface ContainerEnd {
  readonly role: ContainerRole;
  readonly preStop?: ProbeAction;
  readonly ports: readonly ContainerPort[];
}

export function labelSandbox(config: PodSandboxConfig, pod: Pod, node: string): PodSandboxConfig {
  return {
    ...config,
    labels: { ...config.labels, [nodeLabel]: node },
    annotations: { ...config.annotations, ...sourceOf(pod) },
  };
}

export function labelContainer(
  config: ContainerConfig,
  pod: Pod,
  node: string,
  role: ContainerRole,
): ContainerConfig {
  return {
    ...config,
    labels: { ...config.labels, [nodeLabel]: node },
    annotations: { ...config.annotations, ...sourceOf(pod), [roleAnnotation]: role },
  };
}

function sourceOf(pod: Pod): Record<string, string> {
  const source = pod.metadata.annotations[localAnnotations.source];
  return source === undefined ? {} : { [localAnnotations.source]: source };
}

/** @returns undefined when it belongs to no pod */
export function readPodLabels(labels: Texts, annotations: Texts): PodLabels | undefined {
  const identity = readPodIdentity(labels);
  if (identity === undefined) return undefined;
  const source = readSource(annotations[localAnnotations.source]);
  const grace = readContainerIdentity(labels, annotations)?.gracePeriodSeconds;
  return {
    ...identity,
    ...compact({ source, graceSeconds: grace }),
  };
}

export function readSource(text: string | undefined): SourceName | undefined {
  return text === 'file' || text === 'http' || text === 'api' ? text : undefined;
}

/** @returns undefined for what needs nothing special */
export function readEnd(labels: Texts, annotations: Texts): ContainerEnd | undefined {
  const role = readRole(annotations[roleAnnotation]);
  const identity = readContainerIdentity(labels, annotations);
  if (identity?.preStop === undefined) return role === 'normal' ? undefined : { role, ports: [] };
  return { role, preStop: identity.preStop, ports: identity.ports };
}

function readRole(text: string | undefined): ContainerRole {
  return text === 'init' || text === 'sidecar' ? text : 'normal';
}
