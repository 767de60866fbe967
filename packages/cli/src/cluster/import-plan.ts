/** The writes of an import, planned or done, for people and for programs. */
import { describeDiagnostic, type ImportPlan, type Level } from '@podwire/calico-import';
import { compact } from '@podwire/platform';
import { type Colors, colorsFor, type Io, printable, widthOf } from '../io.js';
import { formatPlural } from '../render/counts.js';
import { type Column, renderTable } from '../render/table.js';

/** @param written undefined: nothing, it was only looked */
export function importJson(plan: ImportPlan, written: number | undefined): object {
  const { objects, pools, blocks, allocationRecords, creations, present, diagnostics } = plan;
  const of = (level: Level) =>
    diagnostics.filter((each) => each.level === level).map(({ level: _, ...rest }) => rest);
  return {
    objects,
    pools,
    blocks,
    ledgers: allocationRecords,
    create: creations.map(({ kind, object, key }) => ({ kind, object, key })),
    present,
    ...compact({ written }),
    warnings: of('warning'),
    notes: of('note'),
  };
}

export function importLines(plan: ImportPlan, written: number | undefined, io: Io): string[] {
  const paint = colorsFor(io, io.stdout);
  const width = widthOf(io);
  return [
    ...objectLines(plan, paint, width),
    ...poolLines(plan, paint, width),
    ...nodeLines(plan, paint, width),
    ...diagnosticLines(plan, 'warning', paint.yellow),
    ...diagnosticLines(plan, 'note', paint.dim),
    describeEnd(plan, written),
  ];
}

/** Limits the text output; programs use -o json. */
const mostObjects = 200;

/** Policies and what they speak of, in the order they are written. */
function objectLines({ objects }: ImportPlan, paint: Colors, width: number): string[] {
  if (objects.length === 0) return [];
  const rows = objects
    .slice(0, mostObjects)
    .map(({ apiVersion, kind, metadata: { namespace = '', name } }) => [kind, namespace, name, apiVersion]);
  const head: Column[] = [
    { title: 'KIND', cut: 'never', importance: 9 },
    { title: 'NAMESPACE', importance: 5 },
    { title: 'NAME', least: 18, importance: 8 },
    { title: 'VERSION', importance: 1 },
  ];
  const more = objects.length > mostObjects ? [`and ${objects.length - mostObjects} more objects`] : [];
  return [...renderTable({ head, rows }, paint, width), ...more, ''];
}

function poolLines({ pools }: ImportPlan, paint: Colors, width: number): string[] {
  if (pools.length === 0) return ['no pools'];
  const rows = pools.map((pool) => [
    pool.name,
    pool.cidr,
    `/${pool.blockSize}`,
    pool.encapsulation,
    pool.natOutgoing ? 'nat' : '',
    [pool.disabled ? 'disabled' : '', pool.assignment === 'manual' ? 'manual' : ''].filter(Boolean).join(','),
    pool.reserved.length === 0 ? '' : String(pool.reserved.length),
    pool.nodeSelector,
  ]);
  const head: Column[] = [
    { title: 'POOL' },
    { title: 'CIDR', cut: 'middle', least: 18, importance: 9 },
    { title: 'BLOCKS', cut: 'never', importance: 4 },
    { title: 'ENCAPSULATION', importance: 5 },
    { title: 'OUT', cut: 'never', importance: 1 },
    { title: 'STATE', cut: 'never', importance: 6 },
    { title: 'RESERVED', right: true, importance: 2 },
    { title: 'NODES', importance: 3 },
  ];
  return [...renderTable({ head, rows }, paint, width), ''];
}

/** Limits the text output; programs use -o json. */
const mostNodes = 40;

function nodeLines({ blocks, allocationRecords }: ImportPlan, paint: Colors, width: number): string[] {
  const counts = new Map<string, { blocks: number; addresses: number; borrowed: number }>();
  const of = (node: string) => {
    const count = counts.get(node) ?? { blocks: 0, addresses: 0, borrowed: 0 };
    counts.set(node, count);
    return count;
  };
  for (const { node, loans } of blocks) {
    if (node !== undefined) of(node).blocks++;
    for (const loan of loans) of(loan.node).borrowed++;
  }
  for (const { node, entries } of allocationRecords) of(node).addresses += entries.length;
  if (counts.size === 0) return [];
  const rows = [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([node, count]) => [
      printable(node),
      String(count.blocks),
      String(count.addresses),
      String(count.borrowed),
    ]);
  const head = ['NODE', 'BLOCKS', 'IN USE', 'BORROWED'];
  const more = rows.length > mostNodes ? [`and ${rows.length - mostNodes} more nodes`] : [];
  return [
    ...renderTable({ head, rows: rows.slice(0, mostNodes), right: [1, 2, 3] }, paint, width),
    ...more,
    '',
  ];
}

function diagnosticLines(
  { diagnostics }: ImportPlan,
  level: Level,
  color: (text: string) => string,
): string[] {
  const lines = diagnostics.filter((each) => each.level === level).map(describeDiagnostic);
  if (lines.length === 0) return [];
  return [...lines.map((line) => `${color(`${level}:`)} ${printable(line)}`), ''];
}

function describeEnd({ creations, present }: ImportPlan, written: number | undefined): string {
  const there = present === 0 ? '' : `, ${present} ${present === 1 ? 'is' : 'are'} there already`;
  if (written === undefined) return `${formatPlural(creations.length, 'object')} would be written${there}`;
  return `${formatPlural(written, 'object')} ${written === 1 ? 'was' : 'were'} written${there}`;
}
