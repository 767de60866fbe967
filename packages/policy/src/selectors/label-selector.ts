import type { LabelRequirement, LabelSelector } from '@podwire/objects';
import type { Selector } from './contract.js';

/** Kubernetes' language: everything must hold, an empty one selects all. What an absent one means, its field says. */
export function fromLabelSelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): Selector {
  const parts: Selector[] = [
    ...Object.entries(matchLabels).map(([key, value]): Selector => ({ is: 'in', key, values: [value] })),
    ...matchExpressions.map(fromRequirement),
  ];
  if (parts.length === 0) return { is: 'all' };
  return parts.length === 1 ? parts[0]! : { is: 'and', of: parts };
}

function fromRequirement({ key, operator, values = [] }: LabelRequirement): Selector {
  switch (operator) {
    case 'In':
      return { is: 'in', key, values };
    case 'NotIn':
      return { is: 'not', of: { is: 'in', key, values } };
    case 'Exists':
      return { is: 'has', key };
    case 'DoesNotExist':
      return { is: 'not', of: { is: 'has', key } };
  }
}
