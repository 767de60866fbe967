/** Fields that NetworkPolicy and GlobalNetworkPolicy of Calico share. */
import { subdomainRule } from '@podwire/apimachinery';
import { z } from 'zod';
import { named } from '../shared/text.js';
import type { CalicoRule } from './rule.js';
import { egressRules, ingressRules } from './rule.js';
import { selector, serviceAccountSelector } from './text.js';

/** Over all numbers: fractions and negative ones are Calico's, too. */
export const order = z.number();

export const policyFields = {
  tier: named(subdomainRule).default('default').describe('The tier that it is evaluated in.'),
  order: order.optional().describe('Lower ones come first in the tier. Absent: behind all that have one.'),
  selector: selector.default('').describe("What it applies to: app == 'web'. Empty: everything."),
  types: z
    .array(z.enum(['Ingress', 'Egress']))
    .max(2)
    .optional()
    .describe('The directions that it governs. Absent: those with rules; Ingress where there are none.'),
  ingress: ingressRules.describe('Rules for what comes in; the first that matches acts.'),
  egress: egressRules.describe('Rules for what goes out; the first that matches acts.'),
  serviceAccountSelector: serviceAccountSelector
    .optional()
    .describe("Only pods of these service accounts, by name: projectcalico.org/name == 'builder'."),
  performanceHints: z
    .array(z.enum(['AssumeNeededOnEveryNode']))
    .max(1)
    .optional()
    .describe('Hints for Calico. They change nothing.'),
};

interface Directions {
  readonly types?: ('Ingress' | 'Egress')[] | undefined;
  readonly ingress?: CalicoRule[] | undefined;
  readonly egress?: CalicoRule[] | undefined;
}

/** As Calico fills them in. */
export function fillTypes<T extends Directions>(
  spec: T,
): Omit<T, 'types'> & { types: ('Ingress' | 'Egress')[] } {
  const { types = [], ingress = [], egress = [] } = spec;
  if (types.length > 0) return { ...spec, types };
  if (egress.length === 0) return { ...spec, types: ['Ingress'] };
  return { ...spec, types: ingress.length === 0 ? ['Egress'] : ['Ingress', 'Egress'] };
}
