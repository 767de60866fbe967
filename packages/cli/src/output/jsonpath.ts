/** Values of a document by a template of kubectl's JSONPath. Only fields of the document itself are reached. */
import type { Condition, Operand, Operator, Part, Path, Step } from './jsonpath-reader.js';

export function renderTemplate(parts: readonly Part[], document: unknown): string {
  return renderParts(parts, document, document);
}

function renderParts(parts: readonly Part[], current: unknown, root: unknown): string {
  const texts = parts.map((part) => {
    if (part.kind === 'text') return part.text;
    const values = findValues(part.path, current, root);
    if (part.kind === 'values') return values.map(formatValue).join(' ');
    return values.map((value) => renderParts(part.body, value, root)).join('');
  });
  return texts.join('');
}

/** Text as it is, everything else as JSON. */
function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function findValues({ from, steps }: Path, current: unknown, root: unknown): unknown[] {
  const start = from === 'root' ? root : current;
  return steps.reduce<unknown[]>(
    (values, step) => takeStepOfAll(step, values, root),
    start === undefined ? [] : [start],
  );
}

/** One member of the union after the other, each of all values, as kubectl does. */
function takeStepOfAll(step: Step, values: readonly unknown[], root: unknown): unknown[] {
  if (step.kind === 'union') return step.steps.flatMap((each) => takeStepOfAll(each, values, root));
  return values.flatMap((value) => takeStep(step, value, root));
}

function takeStep(step: Exclude<Step, { kind: 'union' }>, value: unknown, root: unknown): unknown[] {
  switch (step.kind) {
    case 'field':
      return takeField(value, step.name);
    case 'index':
      return Array.isArray(value) ? value.slice(step.index).slice(0, 1) : [];
    case 'slice':
      return Array.isArray(value) ? takeSlice(value, step) : [];
    case 'all':
      return membersOf(value);
    case 'within':
      return collectWithin(value);
    case 'filter':
      return membersOf(value).filter((member) => holds(step.condition, member, root));
  }
}

/** Not what objects inherit: `constructor` is no field of a document. */
function takeField(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  if (Object.hasOwn(value, name)) return [(value as Record<string, unknown>)[name]];
  // `['metadata.name']` is a path for kubectl.
  const [first = '', ...rest] = name.split('.');
  return rest.length === 0
    ? []
    : takeField(value, first).flatMap((member) => takeField(member, rest.join('.')));
}

function takeSlice(
  values: readonly unknown[],
  { start, end, step }: { readonly start?: number; readonly end?: number; readonly step: number },
): unknown[] {
  return values.slice(start, end).filter((_, index) => index % step === 0);
}

function membersOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

function collectWithin(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...membersOf(value).flatMap(collectWithin)];
}

function holds({ left, operator, right }: Condition, member: unknown, root: unknown): boolean {
  const valuesOf = (operand: Operand): unknown[] =>
    'value' in operand ? [operand.value] : findValues(operand, member, root);
  const [a] = valuesOf(left);
  if (operator === undefined || right === undefined) return valuesOf(left).length > 0;
  const [b] = valuesOf(right);
  return a !== undefined && b !== undefined && comparisons[operator](a, b);
}

/** Numbers with numbers, text with text; others are never less or more. */
function compare(a: unknown, b: unknown): number {
  const comparable =
    (typeof a === 'number' && typeof b === 'number') || (typeof a === 'string' && typeof b === 'string');
  if (!comparable) return NaN;
  return a < b ? -1 : a > b ? 1 : 0;
}

const comparisons: Readonly<Record<Operator, (a: unknown, b: unknown) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => compare(a, b) < 0,
  '<=': (a, b) => compare(a, b) <= 0,
  '>': (a, b) => compare(a, b) > 0,
  '>=': (a, b) => compare(a, b) >= 0,
};
