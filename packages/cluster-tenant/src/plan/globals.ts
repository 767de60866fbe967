/** The settings of the whole cluster. */
import type { Change, ClusterView, Global, NetworkEntry, Plan } from '../contract.js';
import { networkKey } from '../keys.js';
import { hasTag, parseTagRange, vlanLimits, vxlanLimits } from '../objects/tag-range.js';
import { conflict } from '../problems.js';
import { objectPlan } from './shared.js';

/** Fields that are not given stay as they are. */
export type GlobalRequest = { readonly [F in keyof Global]?: Global[F] | undefined };

/** As the original has them, and the forwarding mode that its vlan and vxlan modes share. */
export const globalDefaults: Global = {
  name: 'global',
  networkInfraType: 'default',
  vlans: '1-4094',
  vxlans: '1-10000',
  fwdMode: 'bridge',
  arpMode: 'proxy',
  pvtSubnet: '172.19.0.0/16',
};

const object = 'global global';

export function putGlobal(cluster: ClusterView, request: GlobalRequest): Plan {
  const before = cluster.global ?? globalDefaults;
  const given = Object.entries(request).filter(([, value]) => value !== undefined);
  const after: Global = { ...before, ...Object.fromEntries(given) };
  const networks = [...cluster.table('network').values()];
  requireFrozen(before, after, networks);
  for (const network of networks) requireTags(after, network);
  return objectPlan('global', 'global', [{ type: 'global', key: 'global', value: after }]);
}

/** Endpoints are made by these settings, so they stay while a network has a tag. */
function requireFrozen(before: Global, after: Global, networks: readonly NetworkEntry[]): void {
  const [first] = networks;
  if (first === undefined) return;
  for (const field of ['fwdMode', 'pvtSubnet'] as const)
    if (before[field] !== after[field])
      throw conflict(
        object,
        field,
        `cannot change while ${networks.length} networks have tags, network ${networkKey(first.config)} for one`,
      );
}

function requireTags({ vlans, vxlans }: Global, { config, tags }: NetworkEntry): void {
  const isVlan = config.encap === 'vlan';
  const [field, text, tag] = isVlan
    ? (['vlans', vlans, tags.pktTag] as const)
    : (['vxlans', vxlans, tags.extPktTag] as const);
  if (hasTag(parseTagRange(text, isVlan ? vlanLimits : vxlanLimits), tag)) return;
  throw conflict(object, field, `must keep ${tag}, which network ${networkKey(config)} has`);
}

/**
 * Makes what is missing: the settings, and the tenant that everything belongs to by default. Of settings
 * that are there those that are given change, and no others: the original writes its defaults again at each start.
 * @throws PodwireError TENANT_CONFLICT for settings that cannot change any more
 */
export function planStart(cluster: ClusterView, settings: GlobalRequest): Plan<void> {
  const changes: Change[] = [];
  const isMissing = cluster.global === undefined;
  if (isMissing || Object.keys(settings).length > 0) changes.push(...putGlobal(cluster, settings).changes);
  if (!cluster.table('tenant').has('default'))
    changes.push({ type: 'tenant', key: 'default', value: { tenantName: 'default' } });
  return { changes, answer: () => undefined };
}
