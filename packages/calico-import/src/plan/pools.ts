/** Calico's pools as ours. */
import { containsPrefix, parsePrefix } from '@podwire/addresses';
import type { Pool } from '@podwire/cluster-state';
import type { Dump, DumpedPool } from '../read/dump.js';
import { canonical } from '../read/collect.js';
import { type Diagnostic, type Diagnostics, diagnosticsFor } from '../diagnostics.js';
import { translateSelector } from '../selector.js';

export interface PlannedPools {
  readonly pools: readonly Pool[];
  /** Prefixes of pools that pods have no addresses of: what lies in them is left out without a word. */
  readonly skipped: readonly string[];
}

export function planPools(dump: Dump, network: string, diagnostics: Diagnostic[]): PlannedPools {
  const skipped: string[] = [];
  const pools = dump.pools.flatMap((pool) => {
    const about = diagnosticsFor(pool.object, diagnostics);
    if (!isForPods(pool, about)) {
      skipped.push(canonical(pool.spec.cidr));
      return [];
    }
    return [planPool(pool, network, dump, about)];
  });
  reportReservations(dump, pools, diagnostics);
  reportConfig(dump, diagnostics);
  return { pools, skipped };
}

/** An empty list means workloads and tunnels. */
function isForPods({ spec: { allowedUses } }: DumpedPool, about: Diagnostics): boolean {
  if (allowedUses.length === 0 || allowedUses.includes('Workload')) return true;
  about.note(`is for ${allowedUses.join(' and ')} alone and left out: pods have no addresses of it`);
  return false;
}

function planPool(pool: DumpedPool, network: string, dump: Dump, about: Diagnostics): Pool {
  const { name, spec } = pool;
  const cidr = canonical(spec.cidr);
  const nodes = planNodes(pool, dump, about);
  reportLosses(pool, about);
  return {
    name,
    network,
    cidr,
    blockSize: spec.blockSize || (cidr.includes(':') ? 122 : 26),
    encapsulation: planEncapsulation(pool, about),
    natOutgoing: spec.natOutgoing,
    disabled: spec.disabled || pool.deleting,
    reserved: reservedIn(cidr, dump),
    nodeSelector: nodes.selector,
    assignment: spec.assignmentMode === 'Manual' || nodes.none ? 'manual' : 'automatic',
    allocation: 'blocks',
    borrowing: dump.config?.strictAffinity !== true,
    ...maxBlocks(dump),
    deleting: false,
  };
}

/** Zero means no limit that was set. */
function maxBlocks({ config }: Dump): Pick<Pool, 'maxBlocksPerNode'> {
  const limit = config?.maxBlocksPerHost ?? 0;
  return limit === 0 ? {} : { maxBlocksPerNode: Math.min(limit, 65_536) };
}

function planEncapsulation({ spec }: DumpedPool, about: Diagnostics): Pool['encapsulation'] {
  const { ipipMode, vxlanMode } = spec;
  if (ipipMode !== 'Never' && vxlanMode !== 'Never')
    about.error('spec.ipipMode', `is ${ipipMode}, and vxlanMode is ${vxlanMode}: only one of them can be`);
  if (ipipMode !== 'Never')
    about.warn(
      'spec.ipipMode',
      `is ${ipipMode}; it becomes VXLAN of the same kind, with 30 bytes less of MTU, on UDP port 4789`,
    );
  const mode = vxlanMode === 'Never' ? ipipMode : vxlanMode;
  return ({ Never: 'direct', Always: 'vxlan', CrossSubnet: 'vxlan-cross-subnet' } as const)[mode];
}

interface Selection {
  readonly selector: string;
  /** No node may take from it by itself. */
  readonly none: boolean;
}

function planNodes({ spec: { nodeSelector } }: DumpedPool, dump: Dump, about: Diagnostics): Selection {
  try {
    const translation = translateSelector(nodeSelector);
    if (translation.selects === 'some') {
      reportLabels(translation.keys, dump, about);
      return { selector: translation.text, none: false };
    }
    if (translation.selects === 'none')
      about.warn(
        'spec.nodeSelector',
        'selects no node: the pool becomes one that must be asked for (manual)',
      );
    return { selector: '', none: translation.selects === 'none' };
  } catch (error) {
    about.error('spec.nodeSelector', `${JSON.stringify(nodeSelector)}: ${(error as Error).message}`);
    return { selector: '', none: false };
  }
}

/** Nodes had their labels from Kubernetes; ours have them from the agents' configuration. */
function reportLabels(keys: readonly string[], { nodes }: Dump, about: Diagnostics): void {
  const wanted = keys.map((key) => {
    const values = [...nodes].flatMap(([node, labels]) =>
      labels[key] === undefined ? [] : `${node}: ${labels[key]}`,
    );
    return values.length === 0
      ? key
      : `${key} (${values.slice(0, 3).join(', ')}${values.length > 3 ? ', …' : ''})`;
  });
  about.warn(
    'spec.nodeSelector',
    `agents must have these labels in their configuration (cluster.labels): ${wanted.join(', ')}`,
  );
}

function reportLosses({ spec, deleting }: DumpedPool, about: Diagnostics): void {
  if (deleting) about.warn('metadata.deletionTimestamp', 'it is being deleted; it becomes a disabled pool');
  if (!['', 'all()'].includes(spec.namespaceSelector.replaceAll(' ', '')))
    about.warn(
      'spec.namespaceSelector',
      `${JSON.stringify(spec.namespaceSelector)} cannot be taken over: pods of all namespaces get addresses of it. Make the pool manual, and a workload for those that may`,
    );
  if (spec.disableBGPExport)
    about.warn(
      'spec.disableBGPExport',
      'is not a setting of pools: BGP peers are told of its blocks too; filter them there',
    );
  if (spec.allowedUses.length > 0 && !spec.allowedUses.includes('Tunnel'))
    about.warn('spec.allowedUses', 'nodes take the addresses of their tunnels from it as well');
}

/** Reservations are of no pool; a pool has those that lie in it, or is reserved whole. */
function reservedIn(cidr: string, { reservations }: Dump): string[] {
  const pool = parsePrefix(cidr);
  const all = reservations.flatMap(({ cidrs }) => cidrs);
  if (all.some((each) => containsPrefix(parsePrefix(each), pool))) return [cidr];
  return [...new Set(all.filter((each) => containsPrefix(pool, parsePrefix(each))))].sort();
}

function reportReservations(dump: Dump, pools: readonly Pool[], diagnostics: Diagnostic[]): void {
  const all = pools.map(({ cidr }) => parsePrefix(cidr));
  for (const { object, cidrs } of dump.reservations)
    for (const each of cidrs) {
      const prefix = parsePrefix(each);
      if (!all.some((pool) => containsPrefix(pool, prefix) || containsPrefix(prefix, pool)))
        diagnosticsFor(object, diagnostics).note(`${each} lies in no pool and is left out`);
    }
}

function reportConfig({ config }: Dump, diagnostics: Diagnostic[]): void {
  if (config === undefined) return;
  const about = diagnosticsFor('IPAMConfig', diagnostics);
  // Absent in etcd means false.
  if (!config.autoAllocateBlocks && config.strictAffinity)
    about.warn(
      'autoAllocateBlocks',
      'is false; here nodes claim blocks by themselves. Disable pools that they shall not take from',
    );
  if ((config.ipCooldownSeconds ?? 0) > 0)
    about.note(`ipCooldownSeconds is ${config.ipCooldownSeconds}: set coolDown in the agents' configuration`);
}
