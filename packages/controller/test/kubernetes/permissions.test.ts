/** The permissions that the example grants are those that are used. */
import fs from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { expect, onTestFinished, test } from 'vitest';
import { KubernetesCluster, paths } from '../kubernetes-cluster.js';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const example = path.resolve(import.meta.dirname, '../../../../contrib/kubernetes/ovn-controller.yaml');

function readExample(): string[] {
  const documents = parseAllDocuments(fs.readFileSync(example, 'utf8'));
  const [{ rules }] = documents.map((each) => each.toJS() as { readonly rules: readonly Rule[] }) as [
    { readonly rules: readonly Rule[] },
  ];
  return rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((kind) => verbs.map((verb) => `${verb} ${group}/${kind}`)),
    ),
  );
}

const resourceOf = /^(?:\/api|\/apis\/([a-z]+))\/v1(?:\/namespaces\/[^/]+)?\/([a-z]+)/;

function verbOf(method: string, query: Readonly<Record<string, string>>): string {
  if (method !== 'GET') return method === 'POST' ? 'create' : method.toLowerCase();
  return query['watch'] === 'true' ? 'watch' : 'list';
}

test('the example of a ClusterRole grants what the controller uses, and nothing else', async () => {
  const cluster = new KubernetesCluster();
  onTestFinished(() => cluster.close());
  await cluster.start();
  cluster.addPod('web');
  cluster.addPod('lost', { annotations: { 'ovn.kubernetes.io/ip_address': '192.0.2.77' } });
  cluster.api.putAt(paths.nodes, { metadata: { name: 'n1', uid: 'n1' } });
  await cluster.addNode('n1');
  cluster.follow();
  await expect.poll(() => cluster.annotationsOf('web')['routed']).toBe('true');
  await expect.poll(() => cluster.annotationsOf('n1', paths.nodes)['allocated']).toBe('true');
  await cluster.api.until(({ query }) => query['watch'] === 'true', 4);
  await cluster.api.until(({ method }) => method === 'POST');
  const used = cluster.api.asked.map(({ method, path: asked, query }) => {
    const [, group = '', kind] = resourceOf.exec(asked)!;
    return `${verbOf(method, query)} ${group}/${kind}`;
  });
  expect([...new Set(used)].sort()).toEqual(readExample().sort());
});
