/** The part of the demo with many nodes: a testbed, packets between all of its pods, and nothing left. */
import { isAlive } from '@podwire/linux';
import {
  type ConnectivityReport,
  countTestbed,
  createTestbed,
  hasEtcd,
  isNothing,
  listTestbeds,
  pathsOf,
  readRecord,
  waitUntilConnected,
  tearDownTestbed,
} from '@podwire/testbed';
import type { Colors, Progress } from '@podwire/cli/command';
import { type Ending, renderEnding, renderFailures, renderMatrix, renderSummary } from '@podwire/cli/pods';

export interface ManyNodesReport extends Ending {
  readonly nodes: number;
  /** Milliseconds until all pods were attached. */
  readonly up: number;
  readonly connectivity: ConnectivityReport;
}

const prefix = 'demo-';

/** @throws PodwireError; the signal's reason. Nothing of it is left in any case */
export async function showManyNodes(
  nodes: number,
  progress: Progress,
  signal: AbortSignal,
): Promise<ManyNodesReport> {
  const name = `${prefix}${process.pid}`;
  const begin = performance.now();
  const testbed = await createTestbed({
    ...{ name, nodes, signal, store: hasEtcd() ? 'etcd' : 'embedded' },
    observer: (what, work) => progress.step(what, () => work(() => undefined)),
  });
  const up = performance.now() - begin;
  try {
    const before = countTestbed(name);
    await waitUntilConnected(testbed, signal);
    const connectivity = await progress.step('packets between all of their pods', () =>
      testbed.matrix({ signal }),
    );
    await progress.step('all nodes taken away', () => testbed.close());
    return { nodes, up, connectivity, before, left: countTestbed(name) };
  } catch (error) {
    await testbed.close();
    throw error;
  }
}

export const isManyNodesWell = ({ connectivity, left }: ManyNodesReport): boolean =>
  connectivity.ok && isNothing(left);

export function renderManyNodes(
  { nodes, connectivity, ...ending }: ManyNodesReport,
  width: number,
  paint: Colors,
): string[] {
  return [
    '',
    paint.bold(`${nodes} nodes, each with an agent of its own`),
    ...renderMatrix(connectivity, width, paint),
    ...renderFailures(connectivity, paint),
    ...renderSummary(connectivity, paint),
    renderEnding(ending, paint),
  ];
}

/** Those of demos that were killed. @returns their names */
export async function endManyNodes(): Promise<string[]> {
  const dead = listTestbeds().filter((name) => {
    const record = readRecord(pathsOf(name));
    return name.startsWith(prefix) && (record === undefined || !isAlive(record.owner));
  });
  for (const name of dead) await tearDownTestbed(name);
  return dead;
}
