import { hasStarted } from '../lifecycle/container-plan.js';
import { newestInstance, type ObservedContainer } from '../lifecycle/observed.js';
import type { ProbeKind } from '../parts.js';
import type { Container, Probe } from '@podwire/pod-spec';
import { probeResultsOf } from './probe-results.js';
import type { ProbeWatchContext } from './sync-context.js';

/** Begins the probes of what runs, and ends those of what does not run any more. */
export function watchProbes(context: ProbeWatchContext): void {
  const { pod, uid } = context.worker;
  const observed = context.view.observed(uid);
  for (const container of [...pod.spec.initContainers, ...pod.spec.containers]) {
    const instance = newestInstance(observed, container.name);
    if (instance?.state === 'running') watchOne(context, container, instance);
    else forgetOne(context, container.name);
  }
}

function forgetOne({ worker, prober }: ProbeWatchContext, name: string): void {
  if (worker.watched.delete(name)) prober.forget(worker.uid, name);
}

function watchOne(context: ProbeWatchContext, container: Container, instance: ObservedContainer): void {
  const { worker, prober } = context;
  const probes = probesOf(context, container, instance);
  if (probes.length === 0) return;
  if (worker.watched.get(container.name) !== instance.id) forgetOne(context, container.name);
  worker.watched.set(container.name, instance.id);
  const sandbox = context.view.observed(worker.uid).sandboxes.find(({ id }) => id === instance.sandboxId);
  const address = sandbox?.addresses[0] ?? context.node.addresses[0] ?? '';
  const { id: containerId, startedAt } = instance;
  for (const [kind, probe] of probes) {
    const hasStarted = kind !== 'startup';
    prober.watch({ pod: worker.pod, container, kind, probe, containerId, startedAt, hasStarted, address });
  }
}

/** The others begin when the startup probe has succeeded. */
function probesOf(
  context: ProbeWatchContext,
  container: Container,
  instance: ObservedContainer,
): [ProbeKind, Probe][] {
  const probeResult = probeResultsOf(context);
  const { startupProbe, livenessProbe, readinessProbe } = container;
  const probes: [ProbeKind, Probe | undefined][] = hasStarted(container, instance, { probeResult })
    ? [
        ['liveness', livenessProbe],
        ['readiness', readinessProbe],
      ]
    : [['startup', startupProbe]];
  return probes.flatMap(([kind, probe]) =>
    probe === undefined ? [] : [[kind, probe] as [ProbeKind, Probe]],
  );
}
