/** No pod is added whose labels a policy looks at and that are not known. */
import { PodwireError } from '@podwire/errors';
import { waitUntil, withDeadline } from '@podwire/platform';
import type { PolicyCompiler } from '@podwire/policy';
import { describeEndpoint } from '../../endpoints/registry.js';
import type { PolicyEndpoint } from '../contract.js';
import { policyPodOf } from './facts.js';

export function lacksLabels(
  compiler: Pick<PolicyCompiler, 'dependsOnLabels'>,
  endpoint: PolicyEndpoint,
): boolean {
  if (endpoint.facts?.labels !== undefined) return false;
  return compiler.dependsOnLabels(policyPodOf(endpoint).namespace);
}

export interface LabelWait {
  /** Milliseconds. */
  readonly deadline: number;
  readonly lacks: () => boolean;
  readonly onChange: (listener: () => void) => () => void;
  readonly signal: AbortSignal;
}

/** @throws PodwireError POD_LABELS_UNKNOWN after the deadline */
export async function waitForLabels(endpoint: PolicyEndpoint, wait: LabelWait): Promise<void> {
  const { deadline, lacks, onChange, signal } = wait;
  await withDeadline(signal, deadline, (limit) => waitUntil(() => !lacks(), onChange, limit), {
    reason: () => labelsUnknown(endpoint),
  });
}

export function labelsUnknown(endpoint: PolicyEndpoint): PodwireError {
  const { namespace } = policyPodOf(endpoint);
  const message = `${describeEndpoint(endpoint)}: its labels are not known, and policies of the namespace ${namespace} select pods by labels`;
  return new PodwireError('POD_LABELS_UNKNOWN', message);
}
