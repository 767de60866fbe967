/** Waiting for pods to be as a test wants them, by what the pod agent tells. */
import { openLocalApi } from '@podwire/local-api';
import type { PodChange, PodView, SourceProblem } from '@podwire/podlet';
import { deadlineSignal } from '@podwire/platform';

export interface Board {
  readonly pods: readonly PodView[];
  readonly problems: readonly SourceProblem[];
}

/** Milliseconds; a busy machine needs long for what takes a second otherwise. */
const patience = 60_000;

/**
 * Follows the pod agent until `isSo` says so of its pods.
 * @throws Error that shows the pods as they were at the end of the patience
 */
export async function watchUntil(
  socket: string,
  what: string,
  isSo: (board: Board) => boolean,
): Promise<Board> {
  const api = openLocalApi({ socket, peer: { name: 'pod agent', unreachable: 'PODLET_UNREACHABLE' } });
  const stop = new AbortController();
  const signal = deadlineSignal(patience, stop.signal);
  let board: Board = { pods: [], problems: [] };
  try {
    for await (const change of api.lines<PodChange>('/v1/watch', signal)) {
      board = applyChange(board, change);
      if (isSo(board)) return board;
    }
    throw new Error('the pod agent tells no more');
  } catch (error) {
    throw new Error(`no sign of: ${what}\n${JSON.stringify(board, undefined, 1)}`, { cause: error });
  } finally {
    stop.abort();
  }
}

function applyChange({ pods, problems }: Board, change: PodChange): Board {
  switch (change.kind) {
    case 'all':
      return { pods: change.pods, problems: change.problems };
    case 'pod':
      return { pods: [...pods.filter(({ uid }) => uid !== change.pod.uid), change.pod], problems };
    case 'gone':
      return { pods: pods.filter(({ uid }) => uid !== change.uid), problems };
    case 'problems':
      return { pods, problems: change.problems };
  }
}

export const isReady = ({ status }: PodView): boolean =>
  status.conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True');

export const addressOf = ({ status }: PodView): string => status.podIPs[0]?.ip ?? '';
