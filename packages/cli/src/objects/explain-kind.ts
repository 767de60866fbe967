/** `explain KIND[.field.path]`: what fields mean, from the same schemas that check them. */
import { PodwireError } from '@podwire/errors';
import { suggest } from '@podwire/apimachinery';
import { explainField, type FieldInfo, type KindDefinition } from '@podwire/objects';
import { type Colors, colorsFor, type Io, writeJson, writeLines } from '../io.js';
import { tryKind } from './names.js';

export interface ExplainTarget {
  readonly kind: KindDefinition;
  readonly path: readonly string[];
}

/** Undefined: the word means no kind. A group's dots come before those of the path. */
export function readExplainTarget(text: string): ExplainTarget | undefined {
  if (text.includes('/')) return undefined;
  const parts = text.split('.');
  for (let length = parts.length; length > 0; length--) {
    const kind = tryKind(parts.slice(0, length).join('.'));
    if (kind !== undefined) return { kind, path: parts.slice(length) };
  }
  return undefined;
}

/** @throws PodwireError REQUEST_INVALID for a field that is not there, with the one that was probably meant */
export function explainKind(io: Io, format: string, { kind, path }: ExplainTarget): void {
  const found = explainField(kind.schema, path);
  if (found === undefined) throw describeUnknown(kind, path);
  const { field, fields } = found;
  const { apiVersion, kind: name, summary } = kind;
  if (format === 'json')
    return writeJson(io, { apiVersion, kind: name, path: path.join('.'), field, fields });
  const paint = colorsFor(io, io.stdout);
  const head = [
    `${paint.bold(name)}, ${apiVersion}${path.length === 0 ? '' : `: ${paint.bold(path.join('.'))}, ${describeType(field)}`}`,
    path.length === 0 ? summary : field.meaning,
  ];
  return writeLines(io, [...head, ...(fields.length === 0 ? [] : ['']), ...renderFields(fields, paint)]);
}

function describeUnknown(kind: KindDefinition, path: readonly string[]): PodwireError {
  const depth = path.findIndex(
    (_, index) => explainField(kind.schema, path.slice(0, index + 1)) === undefined,
  );
  const known = explainField(kind.schema, path.slice(0, depth))?.fields.map(({ name }) => name) ?? [];
  const word = path[depth] ?? '';
  const place = [kind.kind, ...path.slice(0, depth)].join('.');
  const action = known.length === 0 ? null : `Its fields are: ${known.join(', ')}.`;
  return new PodwireError(
    'REQUEST_INVALID',
    `${place} has no field ${JSON.stringify(word)}${suggest(word, known)}`,
    {
      action,
    },
  );
}

function describeType({ type, required, fallback }: FieldInfo): string {
  if (required) return `${type}, required`;
  const isPlain =
    typeof fallback === 'string' || typeof fallback === 'number' || typeof fallback === 'boolean';
  return isPlain ? `${type}, ${fallback} by default` : type;
}

const renderFields = (fields: readonly FieldInfo[], paint: Colors): string[] =>
  fields.flatMap((field) => [
    `${paint.bold(field.name)} (${describeType(field)})`,
    ...(field.meaning === '' ? [] : [`  ${field.meaning}`]),
  ]);
