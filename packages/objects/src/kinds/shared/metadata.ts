import { labelRule, type NameRule, subdomainRule } from '@podwire/apimachinery';
import { z } from 'zod';
import { annotations, labels, named } from './text.js';

/** The first two fields of every object. */
export const typeFields = <const Version extends string, const Kind extends string>(
  apiVersion: Version,
  kind: Kind,
) => ({
  apiVersion: z.literal(apiVersion).describe('The API group and version.'),
  kind: z.literal(kind).describe('The kind.'),
});

const common = {
  labels: labels.optional().describe('What selectors match: keys with values.'),
  annotations: annotations
    .optional()
    .describe('Notes of people and programs. Podwire does nothing with them.'),
};

/**
 * Of a kind whose objects belong to the whole cluster.
 * @param notes what the annotations mean, of a kind that knows some
 */
export const clusterMetadata = (rule: NameRule = subdomainRule, notes?: string) =>
  z
    .strictObject({
      name: named(rule).describe('Its name; no other object of the kind has it.'),
      ...common,
      ...(notes !== undefined && { annotations: annotations.optional().describe(notes) }),
    })
    .describe('Name and labels.');

/** Of a kind whose objects lie in namespaces. */
export const namespacedMetadata = (rule: NameRule = subdomainRule) =>
  z
    .strictObject({
      name: named(rule).describe('Its name; no other object of the kind and namespace has it.'),
      namespace: named(labelRule).default('default').describe('The namespace that it lies in.'),
      ...common,
    })
    .describe('Name, namespace and labels.');
