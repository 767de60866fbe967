/** One value: which kind it is of, and whether it is an object of it. */
import { show, suggest } from '@podwire/apimachinery';
import type { AnyObject, KindDefinition, KindName, ObjectReference } from '../contract.js';
import { kinds } from '../kinds/index.js';
import { findKind } from '../registry.js';
import { cleanObject, isFields } from './clean.js';
import { describeIssues, type FieldProblem } from './issues.js';
import { fieldNames } from './schema-tree.js';

export interface CheckOptions {
  /** Of objects whose kind lies in namespaces, and that name none; `default` by default. */
  readonly namespace?: string | undefined;
  /**
   * Reads `status`, of kinds that have one. Without it `status` is taken away, and the object is read as people write it: only a
   * controller knows what it says.
   */
  readonly keepStatus?: boolean | undefined;
}

export type CheckedObject =
  | { readonly ok: true; readonly object: AnyObject; readonly kind: KindDefinition }
  | {
      readonly ok: false;
      readonly problems: readonly FieldProblem[];
      /** As far as it says which object it is. */
      readonly reference?: ObjectReference | undefined;
    };

const withStatus = new Set(kinds.filter(({ schema }) => fieldNames(schema, []).includes('status')));

/** Reads a value as an object of a registered kind: defaults filled in, everything unknown refused. Never throws. */
export function checkObject(value: unknown, options: CheckOptions = {}): CheckedObject {
  const kind = isFields(value) ? findKind(value as unknown as KindName) : undefined;
  const clean = cleanObject(value, options.keepStatus === true && kind !== undefined && withStatus.has(kind));
  if (kind === undefined)
    return { ok: false, problems: findKindProblems(clean), reference: guessReference(clean) };
  const complete = kind.namespaced ? fillNamespace(clean, options.namespace) : clean;
  const result = kind.schema.safeParse(complete);
  if (result.success) return { ok: true, object: result.data, kind };
  return {
    ok: false,
    problems: describeIssues(kind.schema, complete, result.error.issues),
    reference: guessReference(complete),
  };
}

function fillNamespace(value: unknown, namespace = 'default'): unknown {
  if (!isFields(value) || !isFields(value['metadata'])) return value;
  return { ...value, metadata: { namespace, ...value['metadata'] } };
}

function findKindProblems(value: unknown): FieldProblem[] {
  if (!isFields(value)) return [{ path: [], message: `must be a map, is ${show(value)}` }];
  const missing = ['apiVersion', 'kind'].filter((field) => typeof value[field] !== 'string');
  if (missing.length > 0)
    return missing.map((field) => ({
      path: [field],
      message: value[field] === undefined ? 'is missing' : `must be text, is ${show(value[field])}`,
    }));
  return [describeWrongKind(value as unknown as KindName)];
}

function describeWrongKind({ apiVersion, kind }: KindName): FieldProblem {
  const versions = kinds.filter((each) => each.kind === kind).map((each) => each.apiVersion);
  if (versions.length > 0)
    return { path: ['apiVersion'], message: `must be ${versions.join(' or ')}, is ${show(apiVersion)}` };
  const near = suggest(
    kind,
    kinds.map((each) => each.kind),
  );
  return { path: ['kind'], message: `${show(kind)} of ${show(apiVersion)} is not supported${near}` };
}

/** Enough to say which object it would have been. */
export function guessReference(value: unknown): ObjectReference | undefined {
  if (!isFields(value)) return undefined;
  const { apiVersion, kind, metadata } = value;
  const isNamed = typeof apiVersion === 'string' && typeof kind === 'string' && isFields(metadata);
  if (!isNamed || typeof metadata['name'] !== 'string') return undefined;
  const { name, namespace } = metadata;
  const isNamespaced = findKind({ apiVersion, kind })?.namespaced ?? namespace !== undefined;
  return {
    apiVersion,
    kind,
    name,
    ...(isNamespaced && { namespace: typeof namespace === 'string' ? namespace : 'default' }),
  };
}
