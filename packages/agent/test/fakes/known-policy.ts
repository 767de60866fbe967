/** A node's knowledge of policy, with the real compiler: two pods here, one elsewhere, and objects in YAML. */
import { readObjects } from '@podwire/objects';
import { createCompiler, Translator } from '@podwire/policy';
import type { NodePolicy } from '../../src/policy/contract.js';
import { PolicyInputs } from '../../src/policy/inputs/inputs.js';
import { createDecider } from '../../src/policy/look/decider.js';

export type KnownPolicy = Pick<NodePolicy, 'inputs' | 'compiler' | 'decider'>;

export interface KnownPod {
  readonly name: string;
  readonly addresses: readonly string[];
}

export const usualPods: readonly KnownPod[] = [
  { name: 'web', addresses: ['10.0.0.1', 'fd00::1'] },
  { name: 'db', addresses: ['10.0.0.2', 'fd00::2'] },
  { name: 'old', addresses: ['10.0.0.3'] },
];

/** Closes `db` but for `web` at its port 5432, and for ICMP over IPv4. */
export const dbPolicy = `apiVersion: projectcalico.org/v3
kind: NetworkPolicy
metadata: { namespace: shop, name: db }
spec:
  selector: app == 'db'
  types: [Ingress]
  ingress:
    - { action: Allow, protocol: TCP, source: { selector: app == 'web' }, destination: { ports: [5432] } }
    - { action: Allow, protocol: ICMP }
`;

export function createKnownPolicy(yaml = dbPolicy, pods = usualPods): KnownPolicy {
  const inputs = new PolicyInputs('n1', new Translator());
  const compiler = createCompiler({ node: 'n1' });
  compiler.apply(inputs.noteNode('n1', { name: 'n1', labels: {}, addresses: ['192.0.2.1'] }));
  for (const { name, addresses } of pods) {
    const ports = [{ name: 'pg', protocol: 'tcp' as const, port: 5432 }];
    const facts = { namespace: 'shop', name, node: 'n2', labels: { app: name }, ports };
    const value = { ...facts, addresses: [...addresses] };
    compiler.apply(inputs.noteRemote(`n2/${name}`, `shop/${name}`, { value, revision: 1 }).inputs);
  }
  const { objects: read, problems } = readObjects(yaml, 'db.yaml');
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  const objects = read.map(({ object, origin }) => ({ object, origin, revision: 1 }));
  compiler.apply(inputs.takeObjects({ type: 'snapshot', objects, unreadable: [], revision: 1 }).inputs);
  const own = { node: 'n1', failsafes: { ingress: [], egress: [] } };
  return { inputs, compiler, decider: () => createDecider(compiler, inputs, own) };
}
