import type { Family } from './protocol.js';
import { formatValues, type Value } from './values.js';

/** Verdict of a verdict map for a key. */
export type Verdict =
  | { readonly verdict: 'accept' | 'drop' | 'continue' | 'return' }
  | { readonly verdict: 'jump' | 'goto'; readonly chain: string };

/** Element of a set (key alone) or a map (key with value or verdict). With `flags interval` keys are intervals. */
export interface Element {
  readonly key: readonly Value[];
  /** Data of a map. */
  readonly value?: readonly Value[];
  /** Data of a verdict map. */
  readonly verdict?: Verdict;
  /** At most 128 bytes, which is nft's own limit. Kept beside the element, of no meaning to the kernel. */
  readonly comment?: string;
}

/** A named set or map. */
export interface SetReference {
  readonly family: Family;
  readonly table: string;
  readonly set: string;
}

export type ElementOperation =
  /** It is there afterwards. `EEXIST` when the key is there with other data. */
  | 'add'
  /** It was not there before: `EEXIST` when the key is there, whatever its data. */
  | 'create'
  /** It is there afterwards, whatever the key's data was; an interval takes the place of all that it overlaps. */
  | 'replace'
  /** It was there before, by its key: `ENOENT` when it was not. */
  | 'delete'
  /** It is not there afterwards; no error when key, set or table were not there. */
  | 'destroy';

/** One change of one element. For `delete` and `destroy` the key counts alone. */
export interface ElementChange extends SetReference, Element {
  readonly op: ElementOperation;
}

/** One element by its key. */
export interface ElementReference extends SetReference {
  readonly key: readonly Value[];
}

/** `inet podwire hostports4` */
export function describeSet({ family, table, set }: SetReference): string {
  return `${family} ${table} ${set}`;
}

/** `{ tcp . 8080 : 10.244.0.2 . 80 }`, as nft writes it. */
export function describeElement({ key, value, verdict, comment }: Element): string {
  const note = comment === undefined ? '' : ` comment ${JSON.stringify(comment)}`;
  const data = verdict !== undefined ? describeVerdict(verdict) : value && formatValues(value);
  return `{ ${formatValues(key)}${note}${data === undefined ? '' : ` : ${data}`} }`;
}

function describeVerdict(verdict: Verdict): string {
  return 'chain' in verdict ? `${verdict.verdict} ${verdict.chain}` : verdict.verdict;
}

/** `add element inet podwire hostports4 { tcp . 8080 : 10.244.0.2 . 80 }` */
export function describeChange(change: ElementChange): string {
  const { key } = change;
  const element = change.op === 'delete' || change.op === 'destroy' ? { key } : change;
  return `${change.op} element ${describeSet(change)} ${describeElement(element)}`;
}

export function sameSet(a: SetReference, b: SetReference): boolean {
  return a.set === b.set && a.table === b.table && a.family === b.family;
}
