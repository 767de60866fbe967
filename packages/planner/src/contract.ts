/** Types that planners, plans and their callers agree on. */

/** `node`, `peer/NAME`, `endpoint/ID`, or one that a model adds. */
export type Scope = string;

/**
 * The kinds of facts in a program, with the type of their value. A package adds its own beside their declaration:
 * `declare module '@podwire/planner' { interface FactKinds { peer: PeerView | undefined } }`.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- extended by packages that have facts
export interface FactKinds {}

export type FactKind = Extract<keyof FactKinds, string>;

/** `KIND`, or `KIND/ID` where there are many of a kind: `peer/node1`. */
// eslint-disable-next-line @typescript-eslint/no-redundant-type-constituents, @typescript-eslint/no-duplicate-type-constituents -- here there is no kind yet
export type FactName = FactKind | `${FactKind}/${string}`;

export type FactValue<N extends FactName> = N extends FactKind
  ? FactKinds[N]
  : N extends `${infer K extends FactKind}/${string}`
    ? FactKinds[K]
    : never;

/**
 * Returns a fact, and makes the plan run again when it changes.
 * @throws Error when the fact is derived and could not be, or is derived from itself; its message names the circle
 */
export type Read = <N extends FactName>(fact: N) => FactValue<N>;

/** Where facts come from, by kind. Read whenever a plan asks. `id` is empty where the name is the kind alone. */
export type FactSources = { readonly [K in FactKind]?: (id: string) => FactKinds[K] };

/**
 * Facts that are pure functions of other facts, by kind. The value is kept, and computed again only when something changes that
 * it was computed from; who reads it is planned again only if the value has changed. Plain data is compared by content,
 * an object of a class by identity.
 */
export type Derivations = { readonly [K in FactKind]?: (id: string, read: Read) => FactKinds[K] };

/** A set or map of names, as far as the planner looks at it. */
export interface Names {
  keys(): Iterable<string>;
  has(name: string): boolean;
}

/** Made by `collect`: everything that the members of a shared thing need, where each member costs only its own part. */
export interface Collection<R> {
  /** A fact that is {@link Names}, or undefined for no members. */
  readonly of: string;
  /** A pure function of one member. */
  readonly resources: (name: string, names: Names) => readonly R[];
}

export interface Planned<R> {
  readonly resources?: readonly R[];
  readonly collections?: readonly Collection<R>[];
  /** Where scopes want different things at one key, the highest has it, and the first by name of those. 0 when absent. */
  readonly priority?: number;
}

/** A pure function of the scope and of the facts it reads. `undefined`: the scope does not exist (any more). */
export type Plan<R> = (scope: Scope, read: Read) => readonly R[] | Planned<R> | undefined;

/**
 * - `add`: nothing else is at the key.
 * - `remove`: nothing is wanted there.
 * - `replace`: other content for the same scope, which an engine may exchange in place.
 * - `move`: the key goes to another scope. What is there must go before the new one comes.
 */
export type Action = 'add' | 'remove' | 'replace' | 'move';

/** An update of one key. */
export interface Change<R> {
  readonly key: string;
  readonly action: Action;
  /** The scope whose resource is added; for a removal alone that of `from`. */
  readonly scope: Scope;
  /** The scope that the removed resource was applied for. */
  readonly from: Scope;
  /** Resources that are there, or may be there, and are not wanted. */
  readonly remove: readonly R[];
  readonly add: R | undefined;
}

/** Scopes that want different things at one key. */
export interface Conflict {
  readonly key: string;
  readonly winner: Scope;
  /** Sorted. */
  readonly losers: readonly Scope[];
  /** The priority of the winner. */
  readonly priority: number;
  /** In words, without a code: `route 10.0.0.0/26: peer/a has it; peer/b wants it differently`. */
  readonly message: string;
}
