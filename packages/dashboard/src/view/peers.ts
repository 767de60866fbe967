/** Paths to other nodes, and BGP sessions. Pure. */
import type { NodeAnswers } from '../answers.js';
import type { PeerRow, SessionRow } from '../shapes.js';
import { compareNames } from './nodes.js';

/** A cluster of n nodes has n² paths. */
export const mostPeers = 2_000;

export function viewPeers(answers: readonly NodeAnswers[]): PeerRow[] {
  const rows = answers.flatMap(({ name: node, peers }) =>
    peers.map((peer): PeerRow => {
      const { name, ipv4, ipv6, tunnel, blocks, resources, problems, reachable } = peer;
      return {
        node,
        peer: name,
        level: problems.length > 0 || reachable === false ? 'bad' : 'good',
        addresses: [ipv4, ipv6].filter((each) => each !== undefined),
        path: tunnel === undefined ? 'direct' : 'tunnel',
        blocks: blocks.length,
        resources,
        problems:
          reachable === false ? ['unreachable: it holds no lease in the store', ...problems] : problems,
      };
    }),
  );
  return rows
    .toSorted((a, b) => compareNames(a.node, b.node) || compareNames(a.peer, b.peer))
    .slice(0, mostPeers);
}

export function viewSessions(answers: readonly NodeAnswers[]): SessionRow[] {
  return answers.flatMap(({ name: node, sessions }) =>
    sessions.map(({ neighbour, state, since, lastError = '' }): SessionRow => {
      const level = state === 'Established' ? 'good' : 'bad';
      return { node, router: neighbour, state, level, since, lastError };
    }),
  );
}
