import { PodwireError } from '@podwire/errors';
import type { EngineContext } from './context.js';
import type { CallOptions, Change, Drift } from './engine.js';
import type { Failure } from './failure.js';
import { describeResource } from './providers/index.js';
import type { OwnerId } from './record.js';
import type { Resource } from './resource.js';
import { runStep } from './run-step.js';
import type { Session } from './session.js';
import { planSteps } from './steps.js';

/** Makes good what drifted, as far as it can be and is ours to change: one thing that cannot be mended keeps nothing else from it. */
export async function mend(
  context: EngineContext,
  drifts: readonly Drift[],
  session: Session,
  { signal }: CallOptions,
): Promise<Failure[]> {
  const foreign = drifts.filter(({ isForeign }) => isForeign === true);
  const ours = drifts.filter((drift) => !foreign.includes(drift));
  const changed = new Set(ours.filter(({ state }) => state === 'changed').map(({ resource }) => resource));
  const failures: Failure[] = foreign.map(({ resource, detail }) => ({
    resource,
    error: new PodwireError('POD_ROUTE_TAKEN', detail),
  }));
  const steps = planSteps(
    ours.map(({ resource }) => resource),
    context.single,
  );
  for (const step of steps) {
    for (const mode of ['replace', 'add'] as const) {
      const resources = step.resources.filter((resource) => changed.has(resource) === (mode === 'replace'));
      if (resources.length === 0) continue;
      context.faults.reach(`mend:${mode}:${resources[0]!.kind}`);
      failures.push(...(await runStep({ ...step, resources }, session, signal, mode)));
    }
  }
  return failures;
}

export function report(owner: OwnerId, resource: Resource, failed: ReadonlyMap<Resource, unknown>): Change {
  const change = { owner, what: describeResource(resource) };
  if (!failed.has(resource)) return { ...change, action: 'repaired' };
  return { ...change, action: 'failed', error: failed.get(resource) };
}
