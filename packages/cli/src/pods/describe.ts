/** All that is known of one pod: from the pod agent, and from the node agent when it answers. */
import { PodwireError } from '@podwire/errors';
import { ApiError, type LocalApi } from '@podwire/local-api';
import type { PodDescription, PodView } from '@podwire/podlet';
import type { EndpointView, Plan } from '../api/shapes.js';
import { adviseOn } from './advice.js';
import { fullName } from './names.js';
import { findReason, type Reason } from './reason.js';

/** Attachment of the pod at the node agent, with all its resources. */
type Attachment = EndpointView & { readonly resources: Plan['resources'] };

/** The document of `podwire describe -o json`. */
export interface PodDocument extends PodDescription {
  readonly network: {
    readonly attachment: EndpointView | null;
    /** bytes */
    readonly mtu: number | null;
    /** Why there is no attachment to show. */
    readonly problem: string | null;
  };
  /** Why it is not ready. */
  readonly reason: Reason | null;
  /** Advice about it. */
  readonly advice: readonly string[];
}

export async function describePod(
  podAgent: LocalApi,
  nodeAgent: LocalApi,
  pod: PodView,
): Promise<PodDocument> {
  const description = await podAgent.get<PodDescription>(`/v1/describe/${fullName(pod)}`);
  const { pod: view, spec } = description;
  const network = spec.hostNetwork
    ? { attachment: null, mtu: null, problem: 'it has the network of the node (hostNetwork)' }
    : await readAttachment(nodeAgent, view);
  return { ...description, network, reason: findReason(view) ?? null, advice: adviseOn(view) };
}

async function readAttachment(nodeAgent: LocalApi, pod: PodView): Promise<PodDocument['network']> {
  const target = encodeURIComponent(pod.sandboxId ?? fullName(pod));
  try {
    const { resources, ...attachment } = await nodeAgent.get<Attachment>(`/v1/endpoints/${target}`);
    const veth = resources.find((each) => each.kind === 'veth');
    return { attachment, mtu: veth?.mtu ?? null, problem: null };
  } catch (error) {
    return { attachment: null, mtu: null, problem: explainAbsence(error) };
  }
}

function explainAbsence(error: unknown): string {
  if (error instanceof PodwireError && error.code === 'AGENT_UNREACHABLE') return error.message;
  if (!(error instanceof ApiError)) throw error;
  const { code, message } = error.failure;
  return code === 'ENDPOINT_UNKNOWN' ? 'it is not attached: no CNI ADD has succeeded for it' : message;
}
