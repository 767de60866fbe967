/** The objects of a text, with the lines that they stand on. */
import { formatPath, type Path } from '@podwire/apimachinery';
import { type ManifestDocument, openText } from '@podwire/apimachinery/documents';
import {
  type AnyObject,
  type ObjectProblem,
  type ObjectReference,
  type Origin,
  referenceKey,
  referenceOf,
} from '../contract.js';
import { type CheckedObject, checkObject, type CheckOptions } from './check-object.js';
import { isFields } from './clean.js';
import type { FieldProblem } from './issues.js';

/** Documents and list items of one text. */
export const mostObjects = 20_000;

export interface ReadObject {
  readonly object: AnyObject;
  readonly origin: Origin;
}

/** An object of a text that was refused: it, or another of the text, is wrong. */
export interface RefusedObject {
  readonly reference: ObjectReference;
  readonly content: unknown;
}

export interface ObjectText {
  /** Empty where there are problems: a text is taken as a whole, or not at all. */
  readonly objects: readonly ReadObject[];
  readonly problems: readonly ObjectProblem[];
  /** Empty where there are none. */
  readonly refused: readonly RefusedObject[];
}

interface Part {
  readonly value: unknown;
  readonly document: ManifestDocument;
  /** Where the object stands in the document: `items`, 3. */
  readonly path: Path;
}

/**
 * Reads YAML (several documents) or JSON with objects of all registered kinds, and lists of them (`kind: List`).
 * @param file named in messages and origins
 */
export function readObjects(text: string, file: string, options: CheckOptions = {}): ObjectText {
  const { documents, problems: broken } = openText(text);
  const problems = broken.map(({ message, place }) => ({ file, line: place?.line ?? 1, message }));
  const parts = documents.flatMap((document) => (document === undefined ? [] : splitList(document)));
  if (parts.length > mostObjects)
    return refuse(`has more than ${mostObjects} objects; write them as several files`, file);
  const results = parts.map((part) => ({ part, result: checkObject(part.value, options) }));
  const found = [
    ...problems,
    ...results.flatMap(({ part, result }) =>
      result.ok ? [] : result.problems.map((problem) => place(problem, part, file)),
    ),
    ...findDoubles(results, file),
  ];
  if (found.length > 0)
    return {
      objects: [],
      problems: found.toSorted((a, b) => a.line - b.line),
      refused: results.flatMap(({ result, part }) => toRefused(result, part)),
    };
  const objects = results.flatMap(({ result, part }) =>
    result.ok ? [{ object: result.object, origin: originOf(result.object, part, file) }] : [],
  );
  return { objects, problems: [], refused: [] };
}

const refuse = (message: string, file: string): ObjectText => ({
  objects: [],
  problems: [{ file, line: 1, message }],
  refused: [],
});

function splitList(document: ManifestDocument): Part[] {
  const { value } = document;
  const isList = isFields(value) && value['kind'] === 'List' && value['apiVersion'] === 'v1';
  if (!isList || !Array.isArray(value['items'])) return [{ value, document, path: [] }];
  return value['items'].map((item: unknown, index) => ({ value: item, document, path: ['items', index] }));
}

function place(
  { path, message }: FieldProblem,
  { document, path: above }: Part,
  file: string,
): ObjectProblem {
  const whole = [...above, ...path];
  const field = formatPath(whole);
  return {
    file,
    line: document.locate(whole)?.line ?? 1,
    ...(field !== '' && { field }),
    message,
  };
}

interface Checked {
  readonly part: Part;
  readonly result: CheckedObject;
}

function findDoubles(results: readonly Checked[], file: string): ObjectProblem[] {
  const first = new Map<string, Part>();
  return results.flatMap(({ part, result }) => {
    if (!result.ok) return [];
    const key = referenceKey(referenceOf(result.object));
    const earlier = first.get(key);
    if (earlier === undefined) {
      first.set(key, part);
      return [];
    }
    const line = earlier.document.locate(earlier.path)?.line ?? 1;
    return [place({ path: [], message: `${key} stands in this file already, in line ${line}` }, part, file)];
  });
}

function toRefused(result: CheckedObject, { value: content }: Part): RefusedObject[] {
  const reference = result.ok ? referenceOf(result.object) : result.reference;
  return reference === undefined ? [] : [{ reference, content }];
}

/** Lists whose entries `policy explain` names. */
const lists = ['ingress', 'egress'] as const;

function originOf(object: AnyObject, { document, path }: Part, file: string): Origin {
  const line = document.locate(path)?.line ?? 1;
  const spec = (object as { readonly spec?: unknown }).spec;
  const lines: Record<string, number> = {};
  for (const list of lists) {
    const rules = isFields(spec) ? spec[list] : undefined;
    if (!Array.isArray(rules)) continue;
    for (const index of rules.keys()) {
      const found = document.locate([...path, 'spec', list, index])?.line;
      if (found !== undefined) lines[`spec.${list}.${index}`] = found;
    }
  }
  return Object.keys(lines).length === 0 ? { file, line } : { file, line, lines };
}

/** `web.yaml:14: spec.ingress[0].from: must be …`, as compilers write it. */
export const formatObjectProblem = ({ file, line, field, message }: ObjectProblem): string =>
  [`${file}:${line}`, field, message].filter((part) => part !== undefined).join(': ');
