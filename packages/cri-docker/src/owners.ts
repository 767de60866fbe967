/**
 * Which containers of the engine are this service's. Dockershim, cri-dockerd and another Podwire use the same names and labels, so
 * each container that this service makes has one more: the directory of the service. All others are none of its business.
 */
import path from 'node:path';
import { labelKeys, ownerKey, sandboxType } from './labels.js';

type Labels = Readonly<Record<string, string>>;

export interface Owners {
  /** For all that this service makes. */
  readonly label: Labels;
  owns(id: string, labels: Labels | null | undefined): boolean;
  /** Not adopted: all of its steps are known. */
  made(labels: Labels | null | undefined): boolean;
  /** A sandbox without the label, with all of its containers: of an earlier version of Podwire, or taken over. */
  adopt(sandboxId: string): void;
}

/** @param adopted sandboxes that have a checkpoint of this service */
export function createOwners(root: string, adopted: readonly string[] = []): Owners {
  const value = path.resolve(root);
  const sandboxes = new Set(adopted);
  const made: Owners['made'] = (labels) => labels?.[ownerKey] === value;
  return {
    label: { [ownerKey]: value },
    made,
    owns: (id, labels) => made(labels) || sandboxes.has(sandboxOf(id, labels)),
    adopt: (sandboxId) => void sandboxes.add(sandboxId),
  };
}

function sandboxOf(id: string, labels: Labels | null | undefined): string {
  return labels?.[labelKeys.type] === sandboxType ? id : (labels?.[labelKeys.sandboxId] ?? '');
}
