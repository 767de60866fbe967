import type { Clock } from '../contract.js';

/** Calls at given times, with one timer for all of them and none while there is nothing to call. */
export interface Alarms {
  /** @param time milliseconds, of `clock.elapsed()`. @returns takes it back */
  at(time: number, call: () => void): () => void;
  close(): void;
}

interface Alarm {
  readonly time: number;
  readonly call: () => void;
  cancelled: boolean;
}

export function createAlarms(clock: Pick<Clock, 'elapsed' | 'sleep'>): Alarms {
  const heap = createHeap<Alarm>((a, b) => a.time < b.time);
  let sleeping: { readonly until: number; readonly controller: AbortController } | undefined;

  const dropCancelled = () => {
    while (heap.first()?.cancelled === true) heap.take();
    return heap.first();
  };
  const wake = () => {
    sleeping = undefined;
    const now = clock.elapsed();
    for (let next = dropCancelled(); next !== undefined && next.time <= now; next = dropCancelled()) {
      heap.take();
      next.call();
    }
    sleepUntilNext();
  };
  const sleepUntilNext = () => {
    const next = dropCancelled();
    if (next === undefined || (sleeping !== undefined && sleeping.until <= next.time)) return;
    sleeping?.controller.abort();
    const controller = new AbortController();
    sleeping = { until: next.time, controller };
    clock.sleep(Math.max(0, next.time - clock.elapsed()), controller.signal).then(wake, () => undefined);
  };
  return {
    at(time, call) {
      const alarm = { time, call, cancelled: false };
      heap.add(alarm);
      sleepUntilNext();
      return () => {
        alarm.cancelled = true;
      };
    },
    close() {
      while (heap.take() !== undefined);
      sleeping?.controller.abort();
      sleeping = undefined;
    },
  };
}

interface Heap<T> {
  add(item: T): void;
  first(): T | undefined;
  take(): T | undefined;
}

/** A binary heap: the first of thousands is found, and the next one, without looking at all. */
function createHeap<T>(isBefore: (a: T, b: T) => boolean): Heap<T> {
  const items: T[] = [];
  const swap = (a: number, b: number) => ([items[a], items[b]] = [items[b]!, items[a]!]);
  const rise = (index: number) => {
    const parent = (index - 1) >> 1;
    if (index === 0 || !isBefore(items[index]!, items[parent]!)) return;
    swap(index, parent);
    rise(parent);
  };
  const sink = (index: number) => {
    const children = [2 * index + 1, 2 * index + 2].filter((child) => child < items.length);
    const least = children.reduce(
      (best, child) => (isBefore(items[child]!, items[best]!) ? child : best),
      index,
    );
    if (least === index) return;
    swap(index, least);
    sink(least);
  };
  return {
    add(item) {
      items.push(item);
      rise(items.length - 1);
    },
    first: () => items[0],
    take() {
      const [first] = items;
      const last = items.pop();
      if (items.length > 0) {
        items[0] = last!;
        sink(0);
      }
      return first;
    },
  };
}
