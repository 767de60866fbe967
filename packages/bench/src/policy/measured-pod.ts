import { asPod, podwireCandidate } from '../candidates.js';
import type { Member } from '../cluster/members.js';
import { launch, type Step } from '../launcher.js';

const labels = { cni: { labels: [{ key: 'app', value: 'web' }] } };

/** The step as for a pod of Kubernetes that all policies of its namespace select. */
export const asWebPod = (step: Step, namespace: string, name: string): Step => ({
  ...asPod(step, namespace, name),
  input: JSON.stringify({ ...(JSON.parse(step.input) as object), args: labels }),
});

export interface WebPods {
  readonly binDir: string;
  readonly count: number;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/** Adds pods that stay, one after the other. @throws Error when one cannot be added */
export async function addWebPods(
  { host, agent }: Member,
  { binDir, count, namespace, signal }: WebPods,
): Promise<void> {
  const candidate = podwireCandidate(host, false, binDir, agent);
  const jobs = Array.from({ length: count }, (_, index) => {
    const containerId = `${host.name}-${index}`;
    const job = candidate.add({ index, containerId, netns: host.addPod().path });
    return job.map((step) => asWebPod(step, namespace, containerId));
  });
  const failed = (await launch(host.namespace, 1, jobs, signal)).find(({ status }) => status !== 0);
  if (failed !== undefined) throw new Error(`the plugin failed: ${failed.output}${failed.error}`);
}
