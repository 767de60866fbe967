/** Inputs of a compiler that is measured: pods, and policies that let pods in at one port. */
import type { InputChange, Selector } from '@podwire/policy';

export const label = (key: string, ...values: string[]): Selector => ({ is: 'in', key, values });

export const podInput = (
  namespace: string,
  name: string,
  on: string,
  rest: { readonly labels: Readonly<Record<string, string>>; readonly addresses: readonly string[] },
): InputChange => ({
  topic: 'pod',
  key: `${namespace}/${name}`,
  value: { namespace, name, node: on, ports: [], labels: rest.labels, addresses: [...rest.addresses] },
});

export const policyInput = (
  namespace: string,
  name: string,
  subject: { readonly namespaces: Selector; readonly pods: Selector },
  allowed: { readonly port: number; readonly pods: Selector },
): InputChange => ({
  topic: 'policy',
  key: name,
  value: {
    ...{ id: name, tier: 'default', order: 1000 },
    reference: { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', namespace, name },
    subjects: [{ is: 'pods', ...subject }],
    ingress: [
      {
        ...{ action: 'allow', destination: [], path: 'spec.ingress[0]' },
        services: [{ protocol: 'tcp', ports: [{ first: allowed.port, last: allowed.port }] }],
        source: [{ peers: [{ is: 'pods', namespaces: { is: 'all' }, pods: allowed.pods }] }],
      },
    ],
  },
});
