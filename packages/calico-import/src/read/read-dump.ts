/** Files, of whatever form, as a dump. */
import { describeError } from '@podwire/errors';
import { type Diagnostic, diagnosticsFor } from '../diagnostics.js';
import { collectObjects, type RawObject } from './collect.js';
import { readDocuments } from './documents.js';
import type { Dump, DumpFile } from './dump.js';
import { isPage, isPlain, type Pair, type PairPage, readPage, readPlain } from './etcd.js';

/**
 * Reads what `etcdctl get --prefix /calico/` has printed (plain, or JSON, in pages too) and custom resources as YAML or JSON, in
 * as many files as there are. What is wrong is in the dump's diagnostics, all of it.
 */
export function readCalicoDump(files: readonly DumpFile[]): Dump {
  const diagnostics: Diagnostic[] = [];
  const pages: PairPage[] = [];
  const objects = files.flatMap((file) => readFile(file, pages, diagnostics));
  if (pages.length > 0 && pages.every(({ more }) => more))
    diagnosticsFor('dump', diagnostics).error(
      'more',
      'is true: etcdctl was given a limit, and the last page is missing',
    );
  if (objects.length === 0 && diagnostics.length === 0)
    diagnosticsFor('dump', diagnostics).error('', 'has nothing of Calico');
  return collectObjects(objects, diagnostics);
}

function readFile({ name, text }: DumpFile, allPages: PairPage[], diagnostics: Diagnostic[]): RawObject[] {
  const about = diagnosticsFor(name, diagnostics);
  try {
    if (isPlain(text)) return fromPairs(readPlain(text), name, diagnostics);
    const documents = readDocuments(text);
    const pages = documents.filter(isPage).map(readPage);
    allPages.push(...pages);
    const resources = documents
      .filter((each) => !isPage(each))
      .flatMap((each) => fromDocument(each, name, diagnostics));
    return [
      ...fromPairs(
        pages.flatMap(({ pairs }) => pairs),
        name,
        diagnostics,
      ),
      ...resources,
    ];
  } catch (error) {
    about.error('', `cannot be read: ${describeError(error)}`);
    return [];
  }
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A resource, or a list of them; what is empty between two `---` is nothing. */
function fromDocument(
  document: unknown,
  file: string,
  diagnostics: Diagnostic[],
  listed?: string,
): RawObject[] {
  if (document === null || document === undefined) return [];
  const kind = isFields(document) ? (document['kind'] ?? listed) : undefined;
  if (!isFields(document) || typeof kind !== 'string') {
    diagnosticsFor(file, diagnostics).error('kind', 'is missing: this is no object of Kubernetes or Calico');
    return [];
  }
  const items = document['items'];
  if (!Array.isArray(items)) return [toRaw(document, kind, file)];
  const inner = kind === 'List' ? undefined : kind.replace(/List$/, '');
  return items.flatMap((item) => fromDocument(item, file, diagnostics, inner));
}

/** Kinds of other groups with the same name are named with their group, and so ignored. */
function toRaw(document: Fields, kind: string, file: string): RawObject {
  const version = typeof document['apiVersion'] === 'string' ? document['apiVersion'] : undefined;
  const metadata = isFields(document['metadata']) ? document['metadata'] : {};
  const name = [metadata['namespace'], metadata['name']].filter((part) => typeof part === 'string').join('/');
  return { kind: kindOf(kind, version), name, file, value: document };
}

function kindOf(kind: string, version: string | undefined): string {
  if (version === undefined || /^(crd\.)?projectcalico\.org\//.test(version)) return kind;
  return version === 'v1' ? `Kubernetes ${kind}` : `${kind} (${version})`;
}

const ipam = '^/?calico/ipam/v2';
const shapes: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`${ipam}/assignment/ipv[46]/block/([^/]+)$`), 'etcd:block'],
  [new RegExp(`${ipam}/(host|virtual)/([^/]+)/ipv[46]/block/([^/]+)$`), 'etcd:affinity'],
  [new RegExp(`${ipam}/handle/(.+)$`), 'etcd:handle'],
  [new RegExp(`${ipam}/(config)$`), 'etcd:config'],
];
const resource = /^\/?calico\/resources\/v3\/[^/]+\//;

function fromPairs(pairs: readonly Pair[], file: string, diagnostics: Diagnostic[]): RawObject[] {
  return pairs.flatMap((pair) => fromPair(pair, file, diagnostics));
}

function fromPair({ key, value }: Pair, file: string, diagnostics: Diagnostic[]): RawObject[] {
  const shape = shapes.find(([pattern]) => pattern.test(key));
  if (shape === undefined && !resource.test(key)) return [{ kind: ignoredKind(key), name: key, file, value }];
  // Affinities of early versions have no value.
  const parsed = parseJson(key, value === '' ? '{}' : value, diagnostics);
  if (parsed === undefined) return [];
  if (shape === undefined) return fromDocument(parsed, file, diagnostics);
  const [pattern, kind] = shape;
  return [{ kind, name: nameFrom(pattern, key, kind), file, value: parsed }];
}

/** `10.0.0.0-26` is the way prefixes are written in keys; names of handles may have dashes. */
function nameFrom(pattern: RegExp, key: string, kind: string): string {
  const parts = pattern.exec(key)?.slice(1) ?? [];
  if (kind === 'etcd:handle' || kind === 'etcd:config') return parts.join(' ');
  const cidr = (parts.pop() ?? '').replace(/-(\d+)$/, '/$1');
  return [...parts, cidr].join(' ');
}

function parseJson(key: string, text: string, diagnostics: Diagnostic[]): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    diagnosticsFor(key, diagnostics).error('', `is no JSON: ${describeError(error)}`);
    return undefined;
  }
}

const ignoredKind = (key: string): string => `keys below /calico/${key.split('/').filter(Boolean)[1] ?? ''}`;
