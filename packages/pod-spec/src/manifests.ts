/** Reads manifests: a text with pods, lists of pods and ConfigMaps, in YAML or JSON, in one document or several. */
import type { SourceProblem } from './problem.js';
import { checkPod } from './check-pod.js';
import { type ConfigMap, readConfigMap } from './config-map.js';
import { Field } from './field.js';
import { manifestKinds, mustBe, refuseKind } from './kinds.js';
import { type LocalPlace, settlePod } from './local-defaults.js';
import { formatPath, type Path, show, subdomainRule } from '@podwire/apimachinery';
import { type ManifestDocument, openText, type TextProblem } from '@podwire/apimachinery/documents';
import type { Pod } from './pod.js';
import { readPod } from './pod-shape.js';

export interface ManifestContent {
  /** Complete and valid, with uid, name and node. Empty when there are problems: it is all or nothing. */
  readonly pods: readonly Pod[];
  readonly configMaps: readonly ConfigMap[];
  /** Everything that is wrong, at once. */
  readonly problems: readonly SourceProblem[];
}

/**
 * The objects of one text. Kinds: Pod, PodList, List, ConfigMap. Never throws.
 * @param place where it comes from; `origin` also names it in problems
 */
export function readManifests(text: string, place: LocalPlace): ManifestContent {
  const { documents, problems } = openText(text);
  const collector = collectProblems(place, documents.length > 1);
  const objects: ReadObjects = { pods: [], configMaps: [] };
  untilEnough(() => {
    for (const problem of problems) collector.addText(problem);
    for (const [index, document] of documents.entries()) {
      if (document !== undefined) readRoot(document, collector.of(document, index + 1), place, objects);
    }
  });
  if (documents.every((document) => document === undefined) && problems.length === 0) {
    collector.addText({ message: 'there is no pod in it' });
  }
  const found = collector.list();
  return found.length > 0 ? { pods: [], configMaps: [], problems: found } : { ...objects, problems: [] };
}

/** Thrown when there are more problems than are told: looking for further ones, and for what was meant, could take hours. */
class EnoughProblems extends Error {}

function untilEnough(read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof EnoughProblems)) throw error;
  }
}

interface ReadObjects {
  readonly pods: Pod[];
  readonly configMaps: ConfigMap[];
}

function readRoot(
  document: ManifestDocument,
  report: (path: Path, message: string) => void,
  place: LocalPlace,
  objects: ReadObjects,
): void {
  readObject(new Field(document.value, { strict: true, report }), undefined, place, objects);
}

/** @param implied what an item of a typed list is that does not say so itself */
function readObject(
  field: Field,
  implied: string | undefined,
  place: LocalPlace,
  objects: ReadObjects,
): void {
  if (typeof field.value !== 'object' || Array.isArray(field.value)) {
    field.complain(`must be a map, is ${show(field.value)}`);
    return;
  }
  const kind = field.at('kind').value ?? implied;
  const version = field.at('apiVersion').value ?? (implied === undefined ? undefined : 'v1');
  if (!manifestKinds.includes(kind as string)) refuseKind(field.at('kind'));
  else if (version !== 'v1') field.at('apiVersion').complain(mustBe(field.at('apiVersion'), ['v1']));
  if (kind === 'List' || kind === 'PodList') readItems(field, kind, place, objects);
  if (kind === 'ConfigMap') objects.configMaps.push(readConfigMap(field));
  if (kind === 'Pod') objects.pods.push(readWholePod(field, place));
}

function readItems(field: Field, kind: 'List' | 'PodList', place: LocalPlace, objects: ReadObjects): void {
  if (field.at('items').absent) field.at('items').complain('is missing');
  for (const item of field.at('items').items()) {
    readObject(item, kind === 'PodList' ? 'Pod' : undefined, place, objects);
  }
}

function readWholePod(field: Field, place: LocalPlace): Pod {
  const pod = readPod(field);
  const start = field.path;
  checkPod(pod, (path, message) => field.context.report([...start, ...path], message));
  const settled = settlePod(pod, identityOf(field), place);
  if (settled.metadata.name.length > subdomainRule.longest && pod.metadata.name !== settled.metadata.name) {
    field
      .at('metadata')
      .at('name')
      .complain(`is longer than ${subdomainRule.longest} with the name of the node behind it`);
  }
  return settled;
}

/**
 * A pod as an API server gives it. It has been defaulted and validated there, perhaps by a newer version: fields that are
 * unknown here are kept, and what Podwire does not support is for those to say who meet it.
 */
export function readApiPod(value: unknown): { readonly pod: Pod; readonly complaints: readonly string[] } {
  const complaints: string[] = [];
  const report = (path: Path, message: string): void =>
    void complaints.push(`${formatPath(path)}: ${message}`);
  const field = new Field(value, { strict: false, report });
  const pod = readPod(field);
  return {
    pod: { ...pod, status: { ...pod.status, ...(field.at('status').value as object | undefined) } },
    complaints,
  };
}

/** The identity of a pod: without a status that was left in the manifest. */
function identityOf(pod: Field): unknown {
  return { metadata: pod.at('metadata').value, spec: pod.at('spec').value };
}

interface ProblemCollector {
  /** In the order of the file. */
  list(): SourceProblem[];
  addText(problem: TextProblem): void;
  /** A report for the values of one document. */
  of(document: ManifestDocument, number: number): (path: Path, message: string) => void;
}

/** Says the same thing once, and not more things than a reader reads. */
function collectProblems({ source, origin }: LocalPlace, several: boolean): ProblemCollector {
  const most = 100;
  const list: SourceProblem[] = [];
  const said = new Set<string>();
  const add = (problem: SourceProblem): void => {
    const key = `${problem.document} ${problem.field} ${problem.message}`;
    if (said.has(key)) return;
    if (list.length >= most) throw new EnoughProblems();
    said.add(key);
    list.push(problem);
  };
  return {
    list: () => list.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)),
    addText: ({ message, place }) => add({ source, origin, ...place, message }),
    of: (document, number) => (path, message) => {
      const field = formatPath(path);
      const numbered = several ? { document: number } : {};
      add({
        source,
        origin,
        ...document.locate(path),
        ...numbered,
        ...(field === '' ? {} : { field }),
        message,
      });
    },
  };
}
