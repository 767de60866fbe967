/** Objects of an API server of Kubernetes, as far as addresses of pods and ends of nodes depend on them. */
import type { Annotations } from '@podwire/cluster-ovn';
import type { OvnPodRecord } from '@podwire/cluster-state';

export interface KubernetesPod {
  /** NAMESPACE/NAME */
  readonly id: string;
  readonly namespace: string;
  /** Of the object. Its record has another one where the pod is a static one of its node. */
  readonly uid: string;
  /** As the pod asks for addresses, without the choice of its namespace. Absent: it has no node yet, or its node's network. */
  readonly record?: OvnPodRecord;
  /** Its containers have ended for good. */
  readonly hasEnded: boolean;
  /** Milliseconds since 1970 from which it counts as ended, since it is being deleted. */
  readonly endsAt?: number;
  /** Answers of Kube-OVN, as they are there. */
  readonly annotations: Annotations;
}

export interface KubernetesNamespace {
  readonly id: string;
  /** Name of the subnet for pods that name none. */
  readonly subnet?: string;
}

export interface KubernetesNode {
  readonly id: string;
  readonly uid: string;
  /** Annotations `ingress_rate` and `egress_rate`, whether they are rates or not. */
  readonly rates: Annotations;
  /** Those of provider networks. */
  readonly labels: Readonly<Record<string, string>>;
  /** Answers of Kube-OVN, as they are there. */
  readonly annotations: Annotations;
}

/** An object as it was read: without `object` it is there, and cannot be read. */
export interface ReadObject<T> {
  /** NAMESPACE/NAME, or the name of what is in no namespace. */
  readonly id: string;
  readonly object?: T;
  /** Why it cannot be read. */
  readonly problem?: string;
}
