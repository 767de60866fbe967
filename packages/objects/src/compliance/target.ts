/** The source that the suite tests, and the cases of the suite. */
import type { ObjectSource } from '../contract.js';

export interface SourceTarget {
  readonly source: ObjectSource;
  /** Another client of the same objects. */
  readonly another: () => Promise<ObjectSource>;
  /** Puts a NetworkPolicy of the namespace `default` there that has an unknown field. */
  readonly spoil: (name: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface SourceCase {
  readonly title: string;
  readonly run: (target: SourceTarget, prefix: string) => Promise<void>;
}
