/** `metav1.LabelSelector`: the one language for labels in all of Kubernetes' own kinds. */
import { z } from 'zod';
import { labelKey, labels, labelValue } from './text.js';

const requirement = z
  .strictObject({
    key: labelKey.describe('The key of the label.'),
    operator: z
      .enum(['In', 'NotIn', 'Exists', 'DoesNotExist'])
      .describe('How the label stands to the values. NotIn matches objects without the label, too.'),
    values: z
      .array(labelValue)
      .max(4096)
      .optional()
      .describe('For In and NotIn one at least; for Exists and DoesNotExist none.'),
  })
  .superRefine(({ operator, values = [] }, context) => {
    const needsValues = operator === 'In' || operator === 'NotIn';
    if (needsValues === values.length > 0) return;
    const message = needsValues
      ? `must have one value at least for ${operator}`
      : `must not be there for ${operator}`;
    context.addIssue({ code: 'custom', path: ['values'], message });
  });

/** Everything in it must hold; an empty one matches everything. An absent one is no selector: see the field. */
export const labelSelector = z.strictObject({
  matchLabels: labels.optional().describe('Labels that must all be there with these values.'),
  matchExpressions: z.array(requirement).max(1024).optional().describe('Requirements that must all hold.'),
});

export type LabelSelector = z.output<typeof labelSelector>;
export type LabelRequirement = z.output<typeof requirement>;
