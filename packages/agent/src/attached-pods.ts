/** Which pods are attached to this node, by the records on disk: also while no agent runs. */
import fs from 'node:fs';
import path from 'node:path';
import { resourceKinds } from './resource-kinds.js';
import type { AgentConfig } from './config/index.js';
import { podName } from './endpoints/registry.js';
import { openRecordDirectory } from './records/directory.js';

/** `NAMESPACE/NAME`, or the container of what is no pod. */
export function listAttachedPods({ stateDir }: Pick<AgentConfig, 'stateDir'>): string[] {
  const directory = path.join(stateDir, 'endpoints');
  if (!fs.existsSync(directory)) return [];
  const { records } = openRecordDirectory(directory, resourceKinds).readAll();
  const attached = records.filter(({ phase }) => phase === 'ready');
  return [...new Set(attached.map((record) => podName(record) ?? record.id.containerId))].sort();
}
