import type { LabelRequirement, LabelSelector } from './label-selector.js';

/** As people write selectors on a command line: `app=web,tier in (a,b),!old`; `<all>` for an empty one. */
export function formatLabelSelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const parts = [
    ...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`),
    ...matchExpressions.map(formatRequirement),
  ];
  return parts.length === 0 ? '<all>' : parts.join(',');
}

function formatRequirement({ key, operator, values = [] }: LabelRequirement): string {
  if (operator === 'Exists') return key;
  if (operator === 'DoesNotExist') return `!${key}`;
  return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`;
}
