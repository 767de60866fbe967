/** The filters of lists; every runtime that keeps its own lists needs the same. Absent filters let all pass. */
import type { Container, ContainerFilter, PodSandbox, PodSandboxFilter } from './messages.js';

type Labels = Readonly<Record<string, string>>;

export function hasLabels(labels: Labels, selector: Labels): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

export function matchesSandboxFilter(
  sandbox: Pick<PodSandbox, 'id' | 'state' | 'labels'>,
  filter: PodSandboxFilter | undefined,
): boolean {
  if (filter === undefined) return true;
  return (
    sandbox.id.startsWith(filter.id) &&
    (filter.state === undefined || filter.state.state === sandbox.state) &&
    hasLabels(sandbox.labels, filter.labelSelector)
  );
}

export function matchesContainerFilter(
  container: Pick<Container, 'id' | 'state' | 'labels' | 'podSandboxId'>,
  filter: ContainerFilter | undefined,
): boolean {
  if (filter === undefined) return true;
  return (
    container.id.startsWith(filter.id) &&
    container.podSandboxId.startsWith(filter.podSandboxId) &&
    (filter.state === undefined || filter.state.state === container.state) &&
    hasLabels(container.labels, filter.labelSelector)
  );
}
