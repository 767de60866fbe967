/** Walks zod schemas: which fields are there, what they mean. For `explain`, and for "did you mean". */
import type { Path } from '@podwire/apimachinery';
import type { z } from 'zod';

/** As much of a zod schema as is read here. */
interface Definition {
  readonly type: string;
  readonly innerType?: Schema;
  readonly in?: Schema;
  readonly element?: Schema;
  readonly valueType?: Schema;
  readonly options?: readonly Schema[];
  readonly entries?: Readonly<Record<string, string | number>>;
  readonly values?: readonly unknown[];
  readonly defaultValue?: unknown;
  readonly getter?: () => Schema;
}

interface Schema {
  readonly def: Definition;
  readonly description?: string;
  readonly shape?: Readonly<Record<string, Schema>>;
}

export interface FieldInfo {
  readonly name: string;
  /** In words: `list of maps`, `number or text`, `TCP, UDP or SCTP`. */
  readonly type: string;
  readonly meaning: string;
  readonly required: boolean;
  readonly fallback?: unknown;
}

const erase = (schema: z.ZodType): Schema => schema;

/** Through optional, default, transformations: what the value itself is. */
function unwrap({ def }: Schema): Schema | undefined {
  return def.innerType ?? def.in ?? def.getter?.();
}

function strip(schema: Schema): Schema {
  const inner = unwrap(schema);
  return inner === undefined ? schema : strip(inner);
}

function descend(schema: Schema, step: string | number): Schema | undefined {
  const { def, shape } = strip(schema);
  if (def.type === 'union')
    return def.options?.map((option) => descend(option, step)).find((found) => found !== undefined);
  if (shape !== undefined) return Object.hasOwn(shape, step) ? shape[step] : undefined;
  return def.element ?? def.valueType;
}

function find(schema: z.ZodType, path: Path): Schema | undefined {
  return path.reduce<Schema | undefined>(
    (at, step) => (at === undefined ? undefined : descend(at, step)),
    erase(schema),
  );
}

/** Names of the fields at a path; none where it is no map with known fields. */
export function fieldNames(schema: z.ZodType, path: Path): readonly string[] {
  const found = find(schema, path);
  return found === undefined ? [] : Object.keys(shapeOf(found));
}

function shapeOf(schema: Schema): Readonly<Record<string, Schema>> {
  const { def, shape } = strip(schema);
  if (shape !== undefined) return shape;
  const inner = def.element ?? def.valueType;
  if (inner !== undefined) return shapeOf(inner);
  return Object.assign({}, ...(def.options ?? []).map(shapeOf)) as Record<string, Schema>;
}

/** The field for `explain KIND.a.b`; lists are passed through, so no index is needed. Undefined: no such field. */
export function explainField(
  schema: z.ZodType,
  path: readonly string[],
): { readonly field: FieldInfo; readonly fields: readonly FieldInfo[] } | undefined {
  let at = erase(schema);
  for (const step of path) {
    const next = shapeOf(at)[step];
    if (next === undefined) return undefined;
    at = next;
  }
  const fields = Object.entries(shapeOf(at)).map(([name, each]) => describeField(name, each));
  return { field: describeField(path.at(-1) ?? '', at), fields };
}

function describeField(name: string, schema: Schema): FieldInfo {
  const wrappers = wrappersOf(schema);
  const fallback = wrappers.find(({ def }) => def.type === 'default')?.def.defaultValue;
  const isOptional = wrappers.some(({ def }) => def.type === 'optional' || def.type === 'default');
  return {
    name,
    type: typeWords(schema),
    meaning: wrappers.find(({ description }) => description !== undefined)?.description ?? '',
    required: !isOptional,
    ...(fallback !== undefined && { fallback }),
  };
}

function wrappersOf(schema: Schema): Schema[] {
  const inner = unwrap(schema);
  return inner === undefined ? [schema] : [schema, ...wrappersOf(inner)];
}

const plain: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'number',
  int: 'number',
  boolean: 'true or false',
  object: 'map',
  record: 'map',
};

function typeWords(schema: Schema): string {
  const { def } = strip(schema);
  if (def.type === 'array' && def.element !== undefined) return `list of ${plural(typeWords(def.element))}`;
  if (def.type === 'union') return joinOr([...new Set((def.options ?? []).map(typeWords))]);
  if (def.type === 'enum') return joinOr(Object.values(def.entries ?? {}).map(String));
  if (def.type === 'literal') return joinOr((def.values ?? []).map(wordOfLiteral));
  return plain[def.type] ?? def.type;
}

const wordOfLiteral = (value: unknown): string => (value === '' ? 'empty' : String(value));

const plural = (words: string): string => (words === 'map' || words === 'number' ? `${words}s` : words);

/** `a`, `a or b`, `a, b or c`. */
export const joinOr = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)!}`;
