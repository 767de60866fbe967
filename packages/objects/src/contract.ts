/**
 * Objects: what people write in YAML and what all nodes read. A kind says everything about the objects of one apiVersion and
 * kind; a source is where objects are kept. Sources: a directory of YAML files, the cluster's store; a Kubernetes API server
 * fits the same interface.
 */
import type { z } from 'zod';

/** `networking.k8s.io/v1` and `NetworkPolicy`. */
export interface KindName {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface ObjectMetadata {
  readonly name: string;
  /** Absent for kinds of the whole cluster. Always there otherwise: `default` where none was written. */
  readonly namespace?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** An object as its schema has read it: defaults are filled in, nothing is unknown. */
export interface AnyObject extends KindName {
  readonly metadata: ObjectMetadata;
}

/** One object of a kind, by name. */
export interface ObjectReference extends KindName {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** Where the object stands that was read; kept with the object, so that any node can name file and line. */
export interface Origin {
  readonly file: string;
  /** Line of the document, from 1. */
  readonly line: number;
  /** Lines of parts, by path: `spec.ingress.0` → 12. Only lists of rules: what `policy explain` names. */
  readonly lines?: Readonly<Record<string, number>> | undefined;
}

/** One thing wrong with a document. `field` is a path as people write it: `spec.ingress[0].ports[1].port`. */
export interface ObjectProblem {
  readonly file: string;
  readonly line: number;
  readonly field?: string | undefined;
  readonly message: string;
}

export interface Column<T extends AnyObject = AnyObject> {
  readonly title: string;
  /** Shown with `-o wide` only. */
  readonly wide?: boolean;
  readonly show: (object: T) => string;
}

/** Everything about one kind. */
export interface KindDefinition<T extends AnyObject = AnyObject> extends KindName {
  /** `networkpolicies` */
  readonly plural: string;
  /** `netpol` */
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  /** One sentence for `explain`. */
  readonly summary: string;
  /** Strict at every level; each field has its meaning (`.describe`), each default is filled in. */
  readonly schema: z.ZodType<T>;
  /** Columns beside name, namespace and age. */
  readonly columns: readonly Column<T>[];
  /**
   * Objects of the same group that it needs, by their kind: the name of each, or `` for none. They have no namespace, and are not
   * deleted while it is there.
   */
  readonly needs?: Readonly<Record<string, (object: T) => string>>;
  /** Why it cannot be beside another one of its kind, in words; undefined where it can. */
  readonly refuse?: (object: T, other: T) => string | undefined;
}

/** Grows with every change in one source; comparable within one source only. */
export type Revision = number;

/** An object in a source. */
export interface StoredObject<T extends AnyObject = AnyObject> {
  readonly object: T;
  /** The revision of its last change: what {@link SaveOptions.expect} is compared with. */
  readonly revision: Revision;
  readonly origin?: Origin | undefined;
  /** Milliseconds since 1970. */
  readonly created?: number | undefined;
}

/** An entry of a source that stands in an object's place, and cannot be read as one. */
export interface UnreadableObject {
  readonly reference: ObjectReference;
  readonly revision: Revision;
  readonly problems: readonly ObjectProblem[];
  /** As far as it could be parsed: enough to see what it would have selected. */
  readonly content?: unknown;
}

export interface SourceCallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface SaveOptions extends SourceCallOptions {
  /** `absent`, or the revision that the writer has read. Without it the last writer wins. */
  readonly expect?: 'absent' | Revision | undefined;
  /** Everything is checked, nothing is written. */
  readonly dryRun?: boolean | undefined;
}

export interface Saved {
  readonly outcome: 'created' | 'configured' | 'unchanged';
  readonly revision: Revision;
}

export type ObjectChange =
  | { readonly type: 'put'; readonly stored: StoredObject }
  /** It is there and cannot be read. Readers keep the last content that they could read, and say so. */
  | { readonly type: 'unreadable'; readonly unreadable: UnreadableObject }
  | { readonly type: 'delete'; readonly reference: ObjectReference; readonly revision: Revision };

/** A watch begins with a snapshot, and gives one again whenever it may have missed something. */
export type ObjectBatch =
  | {
      readonly type: 'snapshot';
      readonly objects: readonly StoredObject[];
      readonly unreadable: readonly UnreadableObject[];
      readonly revision: Revision;
    }
  | { readonly type: 'changes'; readonly changes: readonly ObjectChange[]; readonly revision: Revision };

export interface ObjectWatchOptions {
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** It is cut off and tries again by itself; `undefined`: it is back. */
  readonly onInterruption?: ((error: unknown) => void) | undefined;
}

export interface ListOptions extends SourceCallOptions {
  readonly kinds?: readonly KindName[] | undefined;
  readonly namespace?: string | undefined;
}

export interface ObjectListing {
  readonly objects: readonly StoredObject[];
  readonly unreadable: readonly UnreadableObject[];
  readonly revision: Revision;
}

/**
 * Where objects are kept. All implementations pass the suite in `@podwire/objects/compliance`.
 * @throws PodwireError OBJECT_CONFLICT (an expectation does not hold), OBJECT_INVALID, STORE_… where there is a store
 */
export interface ObjectSource {
  /** In words, for messages: `directory /etc/podwire/objects`, `store etcd …`. */
  readonly name: string;
  get(reference: ObjectReference, options?: SourceCallOptions): Promise<StoredObject | undefined>;
  list(options?: ListOptions): Promise<ObjectListing>;
  /** Of a kind with a `status`, that of what was there stays where the object has none. */
  save(object: AnyObject, origin: Origin | undefined, options?: SaveOptions): Promise<Saved>;
  /** @returns whether it was there, and the revision after it has gone */
  delete(
    reference: ObjectReference,
    options?: Omit<SaveOptions, 'expect'> & { readonly expect?: Revision },
  ): Promise<{ readonly deleted: boolean; readonly revision: Revision }>;
  watch(options: ObjectWatchOptions): AsyncIterable<ObjectBatch>;
}

/** `networking.k8s.io/v1 NetworkPolicy shop/web`: the key of an object in maps and in messages. */
export const referenceKey = ({ apiVersion, kind, namespace, name }: ObjectReference): string =>
  `${apiVersion} ${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;

export const referenceOf = ({ apiVersion, kind, metadata }: AnyObject): ObjectReference => ({
  apiVersion,
  kind,
  name: metadata.name,
  ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
});
