/** The controller's counters and their Prometheus text. */

export interface Counters {
  /** Nodes that became unreachable (the metric is called `absences`), came back, were released. */
  unreachable: number;
  returns: number;
  released: number;
  releasedBlocks: number;
  /** Rounds of garbage collection, repairs, and repairs whose conditions did not hold any more. */
  collections: number;
  collected: number;
  spared: number;
  /** Calls that the store refused or did not answer. */
  failures: number;
  /** Plans of NetNamespaces and HostSubnets, and the changes of those that were carried out. */
  sdnPlans: number;
  sdnChanges: number;
  /** How often this candidate became the leader. */
  terms: number;
}

export interface ControllerMetrics extends Readonly<Counters> {
  readonly leading: boolean;
  readonly absentNodes: number;
  /** Problems that garbage collection repairs when they persist. */
  readonly candidates: number;
  /** Milliseconds of the last garbage collection. */
  readonly lastCollection: number;
  /** Of the last plan of NetNamespaces and HostSubnets. */
  readonly sdnProblems: number;
}

export function createCounters(): Counters {
  return {
    unreachable: 0,
    returns: 0,
    released: 0,
    releasedBlocks: 0,
    collections: 0,
    collected: 0,
    spared: 0,
    failures: 0,
    sdnPlans: 0,
    sdnChanges: 0,
    terms: 0,
  };
}

type Row = readonly [name: string, type: 'counter' | 'gauge', help: string, value: number];

/** Prometheus' text format. */
export function renderMetrics(metrics: ControllerMetrics): string {
  const rows: Row[] = [
    ['leading', 'gauge', 'Whether this candidate leads.', metrics.leading ? 1 : 0],
    ['terms_total', 'counter', 'How often this candidate became the leader.', metrics.terms],
    ['absent_nodes', 'gauge', 'Nodes that are unreachable.', metrics.absentNodes],
    ['absences_total', 'counter', 'How often a node became unreachable.', metrics.unreachable],
    ['returns_total', 'counter', 'How often an unreachable node came back.', metrics.returns],
    [
      'released_nodes_total',
      'counter',
      'Nodes that were released after the eviction timeout.',
      metrics.released,
    ],
    ['released_blocks_total', 'counter', 'Blocks that were released with them.', metrics.releasedBlocks],
    ['collections_total', 'counter', 'Rounds of garbage collection.', metrics.collections],
    ['collection_seconds', 'gauge', 'Time of the last round.', metrics.lastCollection / 1000],
    ['candidates', 'gauge', 'Problems that are repaired when they persist.', metrics.candidates],
    ['collected_total', 'counter', 'Problems that were repaired.', metrics.collected],
    [
      'spared_total',
      'counter',
      'Repairs that were dropped because their conditions did not hold any more.',
      metrics.spared,
    ],
    ['sdn_plans_total', 'counter', 'Plans of NetNamespaces and HostSubnets.', metrics.sdnPlans],
    [
      'sdn_changes_total',
      'counter',
      'NetNamespaces and HostSubnets that were created, changed or deleted.',
      metrics.sdnChanges,
    ],
    [
      'sdn_problems',
      'gauge',
      'Problems with VNIDs and subnets of OpenShift SDN that an administrator has to solve.',
      metrics.sdnProblems,
    ],
    ['failures_total', 'counter', 'Calls that the store refused or did not answer.', metrics.failures],
  ];
  return rows
    .map(([name, type, help, value]) => renderRow(`podwire_controller_${name}`, type, help, value))
    .join('');
}

const renderRow = (name: string, type: string, help: string, value: number): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}\n`;
