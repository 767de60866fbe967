import type { ObservedContainer } from '../lifecycle/observed.js';
import type { Step } from './step.js';

/** Reads once what each ended container wanted its status to say. What cannot be read is no reason to stop. */
export async function readLastWords(step: Step): Promise<void> {
  const { worker, view } = step;
  const unread = view
    .observed(worker.uid)
    .containers.filter((one) => one.state === 'exited' && !worker.lastWords.has(one.id));
  if (unread.length === 0) return;
  const known = new Set(view.observed(worker.uid).containers.map(({ id }) => id));
  for (const id of [...worker.lastWords.keys()]) if (!known.has(id)) worker.lastWords.delete(id);
  for (const one of unread) worker.lastWords.set(one.id, await read(step, one).catch(() => ''));
}

async function read(step: Step, instance: ObservedContainer): Promise<string> {
  const { pod, uid } = step.worker;
  const text = await step.preparation.readTerminationLog(uid, instance.name, instance.attempt);
  if (text !== '') return text;
  const container = [...pod.spec.containers, ...pod.spec.initContainers].find(
    ({ name }) => name === instance.name,
  );
  const falls = container?.terminationMessagePolicy === 'FallbackToLogsOnError' && instance.exitCode !== 0;
  return falls ? ((await step.readLogTail?.(instance.logPath)) ?? '') : '';
}
