/**
 * Knows who has read which fact, and keeps the values of derived facts. A change marks what was derived from it, directly or not;
 * values are computed when they are asked for, and their readers hear of it only where a value is another one.
 */
import { isSame } from './content.js';
import type { Derivations, FactSources, Read } from './contract.js';

/** A plan of a scope, or a derived fact. */
export interface Reader {
  reads: ReadonlySet<string>;
  /** The fact has changed: all of it, or only these of its members. */
  note(fact: string, members?: readonly string[]): void;
  /** Something that a fact was derived from has changed, and perhaps the fact. Plans need not know: they run after `settle`. */
  suspect?(): void;
}

type Source = (id: string) => unknown;
type Derivation = (id: string, read: Read) => unknown;

interface Derived extends Reader {
  readonly fact: string;
  readonly compute: Derivation;
  value: unknown;
  failure: { readonly error: unknown } | undefined;
  /** `suspect`: something that it was computed from may be another value. `checking`: that is being found out. */
  state: 'fresh' | 'suspect' | 'checking' | 'stale';
}

const nothing: ReadonlySet<string> = new Set();

export class Facts {
  readonly #sources: Readonly<Record<string, Source>>;
  readonly #derivations: Readonly<Record<string, Derivation>>;
  readonly #readers = new Map<string, Set<Reader>>();
  readonly #derived = new Map<string, Derived>();
  /** Not known to be fresh. */
  readonly #suspects = new Set<Derived>();
  /** From the outermost to the innermost. */
  readonly #computing: string[] = [];

  constructor(sources: FactSources, derivations: Derivations) {
    this.#sources = sources;
    this.#derivations = derivations;
  }

  /** Returns a function that reads, and adds to `reads`. */
  follow(reads: Set<string>): Read {
    const read = (fact: string): unknown => {
      reads.add(fact);
      return this.read(fact);
    };
    return read as Read;
  }

  /** @throws Error of the derivation, RangeError for a fact without source or with a circle */
  read(fact: string): unknown {
    const [kind, id] = splitName(fact);
    const source = this.#sources[kind];
    if (source !== undefined) return source(id);
    const derived = this.#derived.get(fact) ?? this.#create(fact, kind);
    if (this.#computing.includes(fact)) throw this.#noteCircle(fact);
    this.#update(derived);
    if (derived.failure !== undefined) throw derived.failure.error;
    return derived.value;
  }

  /** The reader has read these, and hears of them from now on instead of those before. */
  setReads(reader: Reader, reads: ReadonlySet<string>): void {
    const before = reader.reads;
    reader.reads = reads;
    for (const fact of reads) {
      const readers = this.#readers.get(fact);
      if (readers === undefined) this.#readers.set(fact, new Set([reader]));
      else readers.add(reader);
    }
    for (const fact of before) if (!reads.has(fact)) this.#stopReading(fact, reader);
  }

  /** @param members only these of the fact's names have come, gone or changed */
  note(fact: string, members?: readonly string[]): void {
    for (const reader of [...(this.#readers.get(fact) ?? [])]) reader.note(fact, members);
  }

  /** Computes what may have changed, so that all readers of another value have heard of it. */
  settle(): void {
    for (const derived of this.#suspects) {
      this.#suspects.delete(derived);
      this.#update(derived);
    }
  }

  #create(fact: string, kind: string): Derived {
    const compute = this.#derivations[kind];
    if (compute === undefined) throw new RangeError(`no source has facts of kind ${kind}`);
    const derived: Derived = {
      fact,
      compute,
      reads: nothing,
      value: undefined,
      failure: undefined,
      state: 'stale',
      note: () => this.#makeStale(derived),
      suspect: () => this.#suspect(derived),
    };
    this.#derived.set(fact, derived);
    return derived;
  }

  #stopReading(fact: string, reader: Reader): void {
    const readers = this.#readers.get(fact);
    readers?.delete(reader);
    if (readers?.size !== 0) return;
    this.#readers.delete(fact);
    const derived = this.#derived.get(fact);
    if (derived === undefined || this.#computing.includes(fact)) return;
    this.#derived.delete(fact);
    this.#suspects.delete(derived);
    this.setReads(derived, nothing);
  }

  #makeStale(derived: Derived): void {
    const wasFresh = derived.state === 'fresh';
    derived.state = 'stale';
    this.#suspects.add(derived);
    if (wasFresh) this.#suspectReaders(derived.fact);
  }

  #suspect(derived: Derived): void {
    if (derived.state !== 'fresh') return;
    // A fact of a circle may not wait for another one of it.
    derived.state = derived.failure === undefined ? 'suspect' : 'stale';
    this.#suspects.add(derived);
    this.#suspectReaders(derived.fact);
  }

  #suspectReaders(fact: string): void {
    for (const reader of this.#readers.get(fact) ?? []) reader.suspect?.();
  }

  #update(derived: Derived): void {
    if (derived.state === 'suspect') this.#check(derived);
    if (derived.state !== 'fresh') this.#compute(derived);
  }

  /** In the order in which they were read: what was read later may not be asked for any more. */
  #check(derived: Derived): void {
    derived.state = 'checking';
    for (const fact of derived.reads) {
      const source = this.#derived.get(fact);
      if (source === undefined) continue;
      // It may come round to this one, which computing finds out.
      if (source.state === 'checking' || this.#computing.includes(fact)) derived.state = 'stale';
      else this.#update(source);
      if (derived.state !== 'checking') return;
    }
    derived.state = 'fresh';
  }

  #compute(derived: Derived): void {
    const reads = new Set<string>();
    const { failure: before, fact } = derived;
    derived.failure = undefined;
    this.#computing.push(fact);
    let value: unknown;
    try {
      value = derived.compute(splitName(fact)[1], this.follow(reads));
    } catch (error) {
      derived.failure ??= { error };
    }
    this.#computing.pop();
    this.setReads(derived, reads);
    derived.state = 'fresh';
    this.#suspects.delete(derived);
    // One failure after another is no other value: facts of a circle would notify each other for ever.
    const isSameFailure = before !== undefined && derived.failure !== undefined;
    const isSameValue = before === undefined && derived.failure === undefined && isSame(value, derived.value);
    if (isSameFailure || isSameValue) return;
    derived.value = value;
    this.note(fact);
  }

  /** All facts of a circle fail, also where one of them catches the error. */
  #noteCircle(fact: string): RangeError {
    const circle = this.#computing.slice(this.#computing.indexOf(fact));
    const error = new RangeError(`facts are derived from each other: ${[...circle, fact].join(' → ')}`);
    for (const each of circle) this.#derived.get(each)!.failure ??= { error };
    return error;
  }
}

function splitName(fact: string): [kind: string, id: string] {
  const slash = fact.indexOf('/');
  return slash < 0 ? [fact, ''] : [fact.slice(0, slash), fact.slice(slash + 1)];
}
