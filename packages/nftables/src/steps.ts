import type { NetlinkRequest } from '@podwire/netlink';
import { describeChange, describeSet, type ElementChange, sameSet } from './element.js';
import { encodeElements, type KernelOperation } from './element-request.js';
import { formatValues } from './values.js';

/** One thing for the kernel to do, and the index of the change it comes from. */
export interface Step {
  readonly op: KernelOperation;
  readonly index: number;
  readonly change: ElementChange;
}

/** Steps that share one message. */
export interface StepMessage {
  readonly request: NetlinkRequest;
  readonly steps: readonly Step[];
  readonly offsets: readonly number[];
}

const STEPS_PER_MESSAGE = 100;

/** The steps of changes, in their order: a `replace` is two. Of several that replace one key the last counts. */
export function planSteps(changes: readonly ElementChange[]): Step[] {
  const replacing = (change: ElementChange) => change.op === 'replace';
  const indexed = changes.map((change, index) => ({ index, change }));
  return runsOf(indexed, (a, b) => replacing(a.change) === replacing(b.change)).flatMap((run) => {
    if (!replacing(run[0]!.change)) {
      return run.map((item) => ({ ...item, op: item.change.op as KernelOperation }));
    }
    const last = lastOfEachKey(run);
    return (['destroy', 'create'] as const).flatMap((op) => last.map((item) => ({ ...item, op })));
  });
}

function lastOfEachKey<T extends { readonly change: ElementChange }>(run: readonly T[]): T[] {
  return [
    ...new Map(
      run.map((item) => [`${describeSet(item.change)} ${formatValues(item.change.key)}`, item]),
    ).values(),
  ];
}

/**
 * The messages for steps. Neighbours with the same operation on the same set share one, because each message costs
 * the kernel a walk through the tables and sets.
 * @throws RangeError for a value that does not fit its type.
 */
export function encodeSteps(steps: readonly Step[]): StepMessage[] {
  return runsOf(steps, (a, b) => a.op === b.op && sameSet(a.change, b.change))
    .flatMap(chunksOf)
    .map((together) => {
      const { op, change } = together[0]!;
      const elements = together.map((step) => step.change);
      return { ...encodeElements(op, change, elements), steps: together };
    });
}

/** Step that a failure is about, from the attribute that the kernel found bad. */
export function locateStep(
  message: StepMessage,
  attributeOffset: number | undefined,
): { readonly label: string; readonly index?: number } {
  const { steps, offsets } = message;
  const at = steps.length === 1 ? 0 : offsets.findLastIndex((offset) => offset <= (attributeOffset ?? 0));
  const step = steps[at];
  if (step !== undefined) return { label: describeChange(step.change), index: step.index };
  return { label: `${steps[0]!.op} ${steps.length} elements of ${describeSet(steps[0]!.change)}` };
}

function runsOf<T>(items: readonly T[], alike: (a: T, b: T) => boolean): T[][] {
  const runs: T[][] = [];
  for (const item of items) {
    const run = runs.at(-1);
    if (run !== undefined && alike(run[0]!, item)) run.push(item);
    else runs.push([item]);
  }
  return runs;
}

function chunksOf<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / STEPS_PER_MESSAGE);
  return Array.from({ length: count }, (_, n) =>
    items.slice(n * STEPS_PER_MESSAGE, (n + 1) * STEPS_PER_MESSAGE),
  );
}
