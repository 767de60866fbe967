import type { ResourceSpan, Tracer } from './engine.js';
import type { Resource } from './resource.js';

/** Measures steps one after the other and tells the tracer what each resource cost. */
export interface StepTimer {
  lap(batch: number, resources: readonly Resource[]): void;
}

export function startTimer(
  now: () => number,
  action: ResourceSpan['action'],
  trace: Tracer | undefined,
): StepTimer {
  if (trace === undefined) return { lap: () => undefined };
  const origin = now();
  let last = origin;
  return {
    lap(batch, resources) {
      const time = now();
      const duration = (time - last) / Math.max(1, resources.length);
      for (const [index, resource] of resources.entries()) {
        trace({ resource, action, start: last - origin + index * duration, duration, batch });
      }
      last = time;
    },
  };
}
