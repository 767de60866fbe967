/** Fields that the kinds of network-policy-api share: subjects and peers. */
import { z } from 'zod';
import { labelSelector } from '../shared/label-selector.js';
import { cidr, isExactlyOne } from '../shared/text.js';

const oneOf = 'must have exactly one field';

const pods = z.strictObject({
  namespaceSelector: labelSelector.describe('Namespaces by labels. Empty: every namespace.'),
  podSelector: labelSelector.describe('Pods of these namespaces by labels. Empty: all of them.'),
});

const selections = {
  namespaces: labelSelector
    .optional()
    .describe('All pods of the namespaces with these labels. Empty: of every namespace.'),
  pods: pods.optional().describe('Pods by labels, in namespaces by labels.'),
};

export const subject = z
  .strictObject(selections)
  .refine(isExactlyOne, { error: oneOf })
  .describe('The pods that the policy applies to. Pods with the network of their host are never among them.');

export const ingressPeer = z.strictObject(selections).refine(isExactlyOne, { error: oneOf });

const distinct = (list: readonly string[]): boolean => new Set(list).size === list.length;

const outside = {
  nodes: labelSelector.optional().describe('Addresses of the nodes with these labels. Empty: of every node.'),
  networks: z
    .array(cidr)
    .min(1)
    .max(25)
    .refine(distinct, { error: 'must not name a prefix twice' })
    .optional()
    .describe('Prefixes: 10.0.0.0/8 or fd00::/8. Pods with such addresses are meant, too.'),
};

/** Domain names are not in the standard channel of the API, and nothing here resolves them. */
const domainNames = z
  .array(z.string().max(253))
  .refine(() => false, {
    error: 'is not supported: domain names are not in the standard channel of network-policy-api',
  })
  .optional()
  .describe('Domain names. Not supported.');

export const egressPeer = z
  .strictObject({ ...selections, ...outside, domainNames })
  .refine(isExactlyOne, { error: oneOf });

export const baselineEgressPeer = z
  .strictObject({ ...selections, ...outside })
  .refine(isExactlyOne, { error: oneOf });

export const ruleName = z.string().max(100).optional().describe('A name for the rule, which messages show.');

export type PolicySubject = z.output<typeof subject>;
export type EgressPeer = z.output<typeof egressPeer>;

/** Nodes and prefixes have no named ports: a rule cannot have both. */
export const hasPeersWithoutPorts = (to: readonly EgressPeer[]): boolean =>
  to.some(({ nodes, networks }) => nodes !== undefined || networks !== undefined);
