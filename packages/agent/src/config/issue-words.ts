/** Faults that the schema finds, in the words that the other checks of the configuration use. */
import type { z } from 'zod';

const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
};

/** For `safeParse`; undefined leaves zod's own words. A message of the schema itself comes first. */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined && issue.code.startsWith('invalid_')) return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${kinds[issue.expected] ?? issue.expected}, is ${show(issue.input)}`;
    case 'invalid_value':
      return `must be ${issue.values.map(String).join(' or ')}, is ${show(issue.input)}`;
    case 'too_small':
      return `must ${describeBound(issue.origin, 'least', Number(issue.minimum))}, is ${show(issue.input)}`;
    case 'too_big':
      return `must ${describeBound(issue.origin, 'most', Number(issue.maximum))}, is ${show(issue.input)}`;
    default:
      return undefined;
  }
}

function describeBound(origin: string, side: 'least' | 'most', bound: number): string {
  if (origin === 'array') return `have at ${side} ${bound} ${bound === 1 ? 'entry' : 'entries'}`;
  if (origin === 'string') return `have at ${side} ${bound} ${bound === 1 ? 'character' : 'characters'}`;
  return `be at ${side} ${bound}`;
}

function show(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  return typeof value === 'object' && value !== null ? 'a map' : JSON.stringify(value);
}
