/** `networking.k8s.io/v1` NetworkPolicy: fields, defaults and validation as the API server has them. */
import { containsPrefix, parsePrefix } from '@podwire/addresses';
import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { formatLabelSelector } from '../shared/format-selector.js';
import { labelSelector } from '../shared/label-selector.js';
import { namespacedMetadata, typeFields } from '../shared/metadata.js';
import { cidr, portName, portNumber, protocol } from '../shared/text.js';

const most = 10_000;

const port = z
  .strictObject({
    protocol: protocol.default('TCP').describe('TCP, UDP or SCTP.'),
    port: z
      .union([portNumber, portName])
      .optional()
      .describe('Number, or the name of a port of the pod that the connection goes to. Absent: every port.'),
    endPort: portNumber
      .optional()
      .describe('The last port of a range that begins with `port`, which must be a number.'),
  })
  .superRefine(({ port: first, endPort }, context) => {
    const message = endPort === undefined ? undefined : checkRange(first, endPort);
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['endPort'], message });
  });

function checkRange(first: number | string | undefined, last: number): string | undefined {
  if (first === undefined) return 'needs `port`, the first of the range';
  if (typeof first === 'string') return `needs a number in \`port\`, not the name ${JSON.stringify(first)}`;
  return last < first ? `must not be below \`port\` (${first})` : undefined;
}

const ipBlock = z
  .strictObject({
    cidr: cidr.describe('A prefix: 10.0.0.0/8 or fd00::/8.'),
    except: z
      .array(cidr)
      .max(most)
      .optional()
      .describe('Prefixes within `cidr` that are taken away from this block, and from no other.'),
  })
  .superRefine(({ cidr: whole, except = [] }, context) => {
    for (const [index, part] of except.entries())
      if (!isStrictlyWithin(part, whole))
        context.addIssue({
          code: 'custom',
          path: ['except', index],
          message: `must lie within ${whole} and be smaller`,
        });
  });

function isStrictlyWithin(part: string, whole: string): boolean {
  try {
    const [inner, outer] = [parsePrefix(part), parsePrefix(whole)];
    return inner.length > outer.length && containsPrefix(outer, inner);
  } catch {
    // One of them is no prefix: that has been said.
    return true;
  }
}

const peer = z
  .strictObject({
    podSelector: labelSelector
      .optional()
      .describe('Pods by labels: of the namespaces that namespaceSelector selects, or of the policy’s own.'),
    namespaceSelector: labelSelector
      .optional()
      .describe(
        'Namespaces by labels: all their pods, or those that podSelector selects. Empty: every namespace.',
      ),
    ipBlock: ipBlock.optional().describe('Addresses. No selector may stand beside it.'),
  })
  .superRefine(({ podSelector, namespaceSelector, ipBlock: block }, context) => {
    const hasSelector = podSelector !== undefined || namespaceSelector !== undefined;
    if (block === undefined && !hasSelector)
      context.addIssue({ code: 'custom', message: 'must have podSelector, namespaceSelector or ipBlock' });
    if (block !== undefined && hasSelector)
      context.addIssue({
        code: 'custom',
        path: ['ipBlock'],
        message: 'must not stand beside podSelector or namespaceSelector',
      });
  });

const ports = z
  .array(port)
  .max(most)
  .optional()
  .describe('Ports that are allowed, any of them. Absent or empty: all traffic.');

const peers = z.array(peer).max(most).optional();

const ingressRule = z.strictObject({
  ports,
  from: peers.describe('Who may connect, any of them. Absent or empty: all peers.'),
});

const egressRule = z.strictObject({
  ports,
  to: peers.describe('Who may be connected to, any of them. Absent or empty: all peers.'),
});

const spec = z
  .strictObject({
    podSelector: labelSelector
      .default({})
      .describe('The pods of the namespace that the policy applies to. Empty: all of them.'),
    policyTypes: z
      .array(z.enum(['Ingress', 'Egress']))
      .max(2)
      .optional()
      .describe(
        'The directions that the policy governs. Absent: Ingress, and Egress where there are egress rules. A direction without rules is closed.',
      ),
    ingress: z
      .array(ingressRule)
      .max(most)
      .optional()
      .describe('What may come in: any rule that matches allows.'),
    egress: z
      .array(egressRule)
      .max(most)
      .optional()
      .describe('What may go out: any rule that matches allows.'),
  })
  .transform(({ policyTypes = [], ...rest }) => ({
    ...rest,
    policyTypes: policyTypes.length > 0 ? policyTypes : defaultTypes(rest.egress),
  }));

/** An empty list counts as absent, as the API server fills it. */
const defaultTypes = (egress: readonly unknown[] = []): ('Ingress' | 'Egress')[] =>
  egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];

const schema = z.strictObject({
  ...typeFields('networking.k8s.io/v1', 'NetworkPolicy'),
  metadata: namespacedMetadata(),
  spec: spec.describe('Which pods, which directions, and what is allowed.'),
});

export type NetworkPolicy = z.output<typeof schema>;
export type NetworkPolicyPort = z.output<typeof port>;
export type NetworkPolicyPeer = z.output<typeof peer>;

export const networkPolicyKind = defineKind<NetworkPolicy>({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  shortNames: ['netpol'],
  namespaced: true,
  summary: 'What pods of a namespace may receive and send. Policies of this kind only ever allow more.',
  schema,
  columns: [
    { title: 'PODS', show: ({ spec: { podSelector } }) => formatLabelSelector(podSelector) },
    { title: 'TYPES', show: ({ spec: { policyTypes } }) => policyTypes.join(',') },
    { title: 'INGRESS', wide: true, show: ({ spec: { ingress = [] } }) => `${ingress.length}` },
    { title: 'EGRESS', wide: true, show: ({ spec: { egress = [] } }) => `${egress.length}` },
  ],
});
