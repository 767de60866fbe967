/** Conditions on who a packet is from or for, as matches against sets. */
import { familyOf } from '@podwire/addresses';
import type { Peer, PeerCondition } from '../model/policy.js';
import { simplifySelector } from '../selectors/simplify.js';
import type { Family, SetMatch, SetType } from './contract.js';
import { isEverything, mergeNets, subtractNets } from './nets.js';
import { describeSelection, describeSet, type SetDescription, type SetPart } from './parts.js';

export type Side = 'source' | 'destination';

/** Notes the set as needed and gives its id. */
export type UseSet = (set: SetDescription) => string;

/** Alternatives: in each, all matches hold. No alternative: never. */
export type Alternatives = readonly (readonly SetMatch[])[];

export const always: Alternatives = [[]];

/** All conditions hold. */
export function matchConditions(
  conditions: readonly PeerCondition[],
  family: Family,
  side: Side,
  use: UseSet,
): Alternatives {
  return conditions
    .map((condition) => matchCondition(condition, family, side, use))
    .reduce((all, next) => all.flatMap((left) => next.map((right) => [...left, ...right])), always);
}

function matchCondition(condition: PeerCondition, family: Family, side: Side, use: UseSet): Alternatives {
  const parts = condition.peers.flatMap((peer) => partsOf(peer, family, side));
  const negate = condition.negate === true;
  const byType = types.map((type) => {
    const own = parts.filter((each) => each.type === type).map(({ part }) => part);
    return { type, own: mergeStatic(own, family) };
  });
  if (byType.some(({ own }) => own.some((part) => part.from === 'nets' && isEverything(part.nets))))
    return negate ? [] : always;
  const matches = byType.flatMap(({ type, own }) =>
    own.length === 0 ? [] : [{ set: use(describeSet(type, family, own)) }],
  );
  return negate ? [matches.map((match) => ({ ...match, negate }))] : matches.map((match) => [match]);
}

const types: readonly SetType[] = ['addresses', 'nets', 'ports'];

interface TypedPart {
  readonly type: SetType;
  readonly part: SetPart;
}

/** A peer that is never a member of the family's sets gives no part. */
function partsOf(peer: Peer, family: Family, side: Side): TypedPart[] {
  switch (peer.is) {
    case 'pods': {
      const isEmpty = [peer.namespaces, peer.pods].some((each) => simplifySelector(each).is === 'none');
      return isEmpty
        ? []
        : [{ type: 'addresses', part: { from: 'pods', selection: describeSelection(peer) } }];
    }
    case 'net':
      return netParts(peer.cidr, peer.except, family);
    case 'nodes':
    case 'host-endpoints':
      return [{ type: 'addresses', part: { from: peer.is, labels: peer.labels } }];
    case 'network-sets': {
      const { labels, namespaces } = peer;
      return [{ type: 'nets', part: { from: 'network-sets', labels, namespaces } }];
    }
    case 'domains':
      return peer.names.map((name) => ({ type: 'addresses', part: { from: 'domain', name } }));
    case 'service': {
      const withPorts = peer.withPorts && side === 'destination';
      const part: SetPart = { from: 'service', key: `${peer.namespace}/${peer.name}`, withPorts };
      return [{ type: withPorts ? 'ports' : 'addresses', part }];
    }
  }
}

function netParts(cidr: string, except: readonly string[], family: Family): TypedPart[] {
  if (familyOf(cidr) !== family) return [];
  const nets = except.length === 0 ? [cidr] : subtractNets(cidr, except);
  return nets.length === 0 ? [] : [{ type: 'nets', part: { from: 'nets', nets } }];
}

/** Prefixes that are written down become one part: merged, two ways to write them are one set. */
function mergeStatic(parts: readonly SetPart[], family: Family): SetPart[] {
  const nets = parts.flatMap((part) => (part.from === 'nets' ? part.nets : []));
  const others = parts.filter(({ from }) => from !== 'nets');
  return nets.length === 0 ? others : [{ from: 'nets', nets: mergeNets(nets, family) }, ...others];
}
