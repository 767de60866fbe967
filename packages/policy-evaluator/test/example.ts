import type { AnyObject } from '@podwire/objects';
import { type Cluster, evaluate } from '@podwire/policy-evaluator';

const pod = (name: string, address: string, labels: Record<string, string>): Cluster['pods'][number] => ({
  namespace: 'shop',
  name,
  labels,
  addresses: [address],
  node: 'node1',
  ports: [{ name: 'http', protocol: 'tcp', port: 80 }],
});

const onlyFromWeb = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { namespace: 'shop', name: 'only-from-web' },
  spec: {
    podSelector: { matchLabels: { app: 'db' } },
    ingress: [{ from: [{ podSelector: { matchLabels: { app: 'web' } } }], ports: [{ port: 'http' }] }],
  },
} satisfies AnyObject & { spec: unknown };

export const cluster: Cluster = {
  objects: [onlyFromWeb],
  pods: [pod('web', '10.1.0.5', { app: 'web' }), pod('db', '10.1.0.6', { app: 'db' })],
  nodes: [{ name: 'node1', labels: {}, addresses: ['192.0.2.1'] }],
};

/** The pods that may reach the database, and why. */
export const ask = (from: string, port: number): string => {
  const connection = { from: { pod: from }, to: { pod: 'shop/db' }, protocol: 'tcp', port } as const;
  const { verdict, ingress } = evaluate(cluster, connection);
  return `${verdict}: ${ingress.object} ${ingress.path ?? ingress.reason}`;
};
