/** Remains of a testbed that was taken away. */
import { type Inventory, isNothing } from '@podwire/testbed';
import { formatPlural } from '../render/counts.js';
import type { Colors } from '../io.js';

export interface Ending {
  readonly before: Inventory;
  readonly left: Inventory;
}

/** @param of whose, where there may be several: ` of NAME` */
export function renderEnding({ before, left }: Ending, paint: Colors, of = ''): string {
  if (isNothing(left)) return paint.green(`Nothing is left of ${describe(before)}.`);
  return paint.red(`Left behind${of}: ${describe(left)}.`);
}

const describe = ({ namespaces, processes, files }: Inventory): string =>
  [
    formatPlural(namespaces, 'namespace'),
    formatPlural(processes, 'process'),
    formatPlural(files, 'file'),
  ].join(', ');
