/** The name of its namespace, as a label of every namespace. */
export const namespaceNameLabel = 'kubernetes.io/metadata.name';

/** Calico's labels of whatever lies in a namespace, and of pods. */
export const impliedLabels = {
  namespace: 'projectcalico.org/namespace',
  serviceAccount: 'projectcalico.org/serviceaccount',
} as const;
