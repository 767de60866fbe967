import { hasStarted } from '../lifecycle/container-plan.js';
import { newestInstance, type ObservedContainer } from '../lifecycle/observed.js';
import type { ProbeKind } from '../parts.js';
import type { Container, Probe } from '@podwire/pod-spec';
import type { Step } from './step.js';

/** Begins the probes of what runs, and ends those of what does not run any more. */
export function watchProbes(step: Step): void {
  const { pod, uid } = step.worker;
  const observed = step.view.observed(uid);
  for (const container of [...pod.spec.initContainers, ...pod.spec.containers]) {
    const instance = newestInstance(observed, container.name);
    if (instance?.state === 'running') watchOne(step, container, instance);
    else forgetOne(step, container.name);
  }
}

function forgetOne({ worker, prober }: Step, name: string): void {
  if (worker.watched.delete(name)) prober.forget(worker.uid, name);
}

function watchOne(step: Step, container: Container, instance: ObservedContainer): void {
  const { worker, prober } = step;
  const probes = probesOf(step, container, instance);
  if (probes.length === 0) return;
  if (worker.watched.get(container.name) !== instance.id) forgetOne(step, container.name);
  worker.watched.set(container.name, instance.id);
  const sandbox = step.view.observed(worker.uid).sandboxes.find(({ id }) => id === instance.sandboxId);
  const address = sandbox?.addresses[0] ?? step.node.addresses[0] ?? '';
  const { id: containerId, startedAt } = instance;
  for (const [kind, probe] of probes) {
    prober.watch({ pod: worker.pod, container, kind, probe, containerId, startedAt, address });
  }
}

/** The others begin when the startup probe has succeeded. */
function probesOf(step: Step, container: Container, instance: ObservedContainer): [ProbeKind, Probe][] {
  const { worker, prober } = step;
  const verdict = (name: string, kind: ProbeKind) => prober.verdict(worker.uid, name, kind);
  const { startupProbe, livenessProbe, readinessProbe } = container;
  const probes: [ProbeKind, Probe | undefined][] = hasStarted(container, instance, { verdict })
    ? [
        ['liveness', livenessProbe],
        ['readiness', readinessProbe],
      ]
    : [['startup', startupProbe]];
  return probes.flatMap(([kind, probe]) =>
    probe === undefined ? [] : [[kind, probe] as [ProbeKind, Probe]],
  );
}
