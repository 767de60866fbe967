import {
  emptyState,
  type ImportPlan,
  type ImportState,
  planImport,
  readCalicoDump,
} from '@podwire/calico-import';
import { keysBelow } from '@podwire/cluster-state';
import type { Json } from './calico.js';

export const keys = keysBelow('/podwire');

/** A plan for texts, or for objects as one JSON list. */
export function plan(input: readonly Json[] | string, state: ImportState = emptyState(keys)): ImportPlan {
  const text =
    typeof input === 'string' ? input : JSON.stringify({ apiVersion: 'v1', kind: 'List', items: input });
  return planImport(readCalicoDump([{ name: 'dump', text }]), state, { network: 'default' });
}

/** Diagnostics as lines: `error IPPool a: spec.cidr: …`. */
export const diagnosticsOf = ({ diagnostics }: Pick<ImportPlan, 'diagnostics'>, level: string): string[] =>
  diagnostics
    .filter((each) => each.level === level)
    .map(({ object, field, message }) =>
      [object, field, message].filter((part) => part !== undefined && part !== '').join(': '),
    );
