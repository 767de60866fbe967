/** Reading a YAML file value by value, so that every complaint names file, line and path. */
import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, parseAllDocuments } from 'yaml';

/** Collects what is wrong with one file: `FILE:LINE:COLUMN: PATH: MESSAGE`. */
export interface Complaints {
  readonly list: string[];
  add(message: string, path?: string, offset?: number): void;
}

/** A value in its document. */
export interface Field {
  /** As JavaScript has it; undefined when it is absent or null. */
  readonly value: unknown;
  readonly path: string;
  complain(message: string): void;
  /** A key of a map; its value is undefined when this is no map. */
  at(key: string): Field;
  /** The items of a list; complains about anything else that is there. */
  items(): Field[];
  /** The keys of a map; complains about anything else that is there. */
  keys(): string[];
}

/** Aliases may refer to each other: a short file must not unfold into gigabytes. */
const yamlLimits = { maxAliasCount: 100 };

/** The documents of a YAML text, empty ones left out; what is no YAML is complained about. */
export function openYaml(text: string, file: string): { documents: Field[]; complaints: Complaints } {
  const lines = new LineCounter();
  const list: string[] = [];
  const complaints: Complaints = {
    list,
    add(message, path = '', offset) {
      const { line, col } = offset === undefined ? { line: 0, col: 0 } : lines.linePos(offset);
      const place = offset === undefined ? file : `${file}:${line}:${col}`;
      list.push(path === '' ? `${place}: ${message}` : `${place}: ${path}: ${message}`);
    },
  };
  const parsed = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const documents = (Array.isArray(parsed) ? [...parsed] : []).flatMap((document) =>
    readDocument(document, complaints),
  );
  return { documents, complaints };
}

function readDocument(document: Document.Parsed, complaints: Complaints): Field[] {
  for (const { message, pos } of document.errors) complaints.add(message, '', pos[0]);
  if (document.errors.length > 0) return [];
  try {
    const value = document.toJS(yamlLimits) as unknown;
    return value === null || value === undefined ? [] : [fieldOf(value, [], document, complaints)];
  } catch (error) {
    complaints.add((error as Error).message);
    return [];
  }
}

type Path = readonly (string | number)[];

function fieldOf(value: unknown, path: Path, document: Document, complaints: Complaints): Field {
  const text = formatPath(path);
  const complain = (message: string): void => complaints.add(message, text, offsetOf(path, document));
  const present = value ?? undefined;
  return {
    value: present,
    path: text,
    complain,
    at: (key) => fieldOf(asMap(present)?.[key], [...path, key], document, complaints),
    items() {
      if (present !== undefined && !Array.isArray(present)) complain('must be a list');
      const list: unknown[] = Array.isArray(present) ? present : [];
      return list.map((item, index) => fieldOf(item, [...path, index], document, complaints));
    },
    keys() {
      if (present !== undefined && asMap(present) === undefined) complain('must be a map');
      return Object.keys(asMap(present) ?? {});
    },
  };
}

function asMap(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isOne = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isOne ? (value as Record<string, unknown>) : undefined;
}

function formatPath(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    const key = /^[\w-]+$/.test(step) ? step : JSON.stringify(step);
    return text === '' ? key : `${text}.${key}`;
  }, '');
}

/** Where the value begins, or the nearest thing around it that stands in the file. */
function offsetOf(path: Path, document: Document): number | undefined {
  for (let length = path.length; length >= 0; length--) {
    const offset = ownOffset(path.slice(0, length), document);
    if (offset !== undefined) return offset;
  }
  return undefined;
}

/** Of a map's entry the key, since that is where people look. */
function ownOffset(path: Path, document: Document): number | undefined {
  const key = path.at(-1);
  const parent: unknown = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents;
  if (key !== undefined && isMap(parent)) {
    const pair = parent.items.find((item) => isScalar(item.key) && item.key.value === key);
    return isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
  }
  const node: unknown =
    key === undefined ? document.contents : isSeq(parent) ? parent.get(key, true) : undefined;
  return isNode(node) ? node.range?.[0] : undefined;
}
