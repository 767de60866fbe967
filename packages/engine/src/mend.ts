import { PodwireError } from '@podwire/errors';
import type { EngineContext } from './context.js';
import type { CallOptions, Change, Drift, OwnerId } from './engine.js';
import type { Failure } from './failure.js';
import { describeResource } from './providers/index.js';
import type { Resource } from './resource.js';
import { runStep } from './run-step.js';
import type { Session } from './session.js';
import { channelOf, planSteps } from './steps.js';

/**
 * Makes good what drifted, as far as it can be and is ours to change: one thing that cannot be mended keeps nothing else from it. Only
 * parameters wait for the packet filter and the parameters before them, since a node must not forward before it knows for whom.
 */
export async function mend(
  context: EngineContext,
  drifts: readonly Drift[],
  session: Session,
  { signal }: CallOptions,
): Promise<Failure[]> {
  const foreign = drifts.filter(({ isForeign }) => isForeign === true);
  const ours = drifts.filter((drift) => !foreign.includes(drift));
  const changed = new Set(ours.filter(isReplaced).map(({ resource }) => resource));
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
      const obstacle = step.channel === 'parameter' ? failures.find(isGate) : undefined;
      if (obstacle !== undefined) {
        failures.push(...resources.map((resource) => ({ resource, error: obstacle.error })));
        continue;
      }
      context.faults.reach(`mend:${mode}:${resources[0]!.kind}`);
      failures.push(...(await runStep({ ...step, resources }, session, signal, mode)));
    }
  }
  return failures;
}

/** Parameters are written all alike, in their order. */
const isReplaced = ({ resource, state }: Drift): boolean =>
  state === 'changed' || channelOf(resource) === 'parameter';

const isGate = ({ resource }: Failure): boolean =>
  channelOf(resource) === 'ruleset' || channelOf(resource) === 'parameter';

export function report(owner: OwnerId, resource: Resource, failed: ReadonlyMap<Resource, unknown>): Change {
  const change = { owner, what: describeResource(resource) };
  if (!failed.has(resource)) return { ...change, action: 'repaired' };
  return { ...change, action: 'failed', error: failed.get(resource) };
}
