/** What a controller has done, for a scrape. */

export interface Counters {
  /** Times that a node became unreachable, came back, was released. */
  unreachable: number;
  returns: number;
  released: number;
  releasedBlocks: number;
  /** Rounds of garbage collection, what they mended, and what turned out to live. */
  collections: number;
  collected: number;
  spared: number;
  /** Attempts that the store refused or did not answer. */
  failures: number;
  /** Times that this candidate became the leader. */
  terms: number;
}

export interface ControllerMetrics extends Readonly<Counters> {
  readonly leading: boolean;
  readonly absentNodes: number;
  /** What garbage collection has found, and waits for. */
  readonly candidates: number;
  /** Milliseconds that the last look at everything took. */
  readonly lastCollection: number;
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
    terms: 0,
  };
}

type Row = readonly [name: string, type: 'counter' | 'gauge', help: string, value: number];

/** Prometheus' text format. */
export function renderMetrics(metrics: ControllerMetrics): string {
  const rows: Row[] = [
    ['leading', 'gauge', 'Whether this candidate leads.', metrics.leading ? 1 : 0],
    ['terms_total', 'counter', 'Times that this candidate became the leader.', metrics.terms],
    ['absent_nodes', 'gauge', 'Nodes that are unreachable.', metrics.absentNodes],
    ['absences_total', 'counter', 'Times that a node became unreachable.', metrics.unreachable],
    ['returns_total', 'counter', 'Times that one came back.', metrics.returns],
    ['released_nodes_total', 'counter', 'Nodes that vanished and were released.', metrics.released],
    ['released_blocks_total', 'counter', 'Blocks that were given back with them.', metrics.releasedBlocks],
    ['collections_total', 'counter', 'Looks of the garbage collection at everything.', metrics.collections],
    ['collection_seconds', 'gauge', 'Time of the last one.', metrics.lastCollection / 1000],
    ['candidates', 'gauge', 'What it has found and waits for.', metrics.candidates],
    ['collected_total', 'counter', 'What it has mended.', metrics.collected],
    ['spared_total', 'counter', 'What turned out to be alive at the last moment.', metrics.spared],
    ['failures_total', 'counter', 'Attempts that the store refused or did not answer.', metrics.failures],
  ];
  return rows
    .map(([name, type, help, value]) => renderRow(`podwire_controller_${name}`, type, help, value))
    .join('');
}

const renderRow = (name: string, type: string, help: string, value: number): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}\n`;
