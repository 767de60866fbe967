/** One trace from the manifest to a running pod, down to each resource of the engine. */
import { assembleTree, type Span, type SpanNode } from '@podwire/tracing';
import { type Colors, printable } from '../io.js';
import { renderTimeline, type TimelineRow } from './timeline.js';
import { formatMilliseconds } from './times.js';

export interface PodTraceOptions {
  readonly name: string;
  /** Characters for a line. */
  readonly width: number;
  /** Every resource by itself, instead of one line for each call to the kernel. */
  readonly full: boolean;
}

export function renderPodTrace(
  spans: readonly Span[],
  { name, width, full }: PodTraceOptions,
  paint: Colors,
): string[] {
  const nodes = assembleTree(spans);
  const rows = nodes.flatMap((node) => rowsOf(node, full));
  const total = Math.max(...rows.map(({ start, duration }) => start + duration), 0);
  const errors = spans.filter(({ error }) => error !== undefined);
  const far = spans.some(goesOn) ? 'so far, it is not ready yet' : 'from its manifest';
  const heading = `${paint.bold(`pod/${printable(name)}`)}: ${formatMilliseconds(total)} ${far}`;
  const id = spans[0] === undefined ? '' : paint.dim(` (trace ${spans[0].traceId})`);
  return [
    heading + id,
    '',
    ...renderTimeline(rows, total, width, paint),
    ...errors.map(({ name: what, error }) => paint.red(`${printable(what)}: ${printable(error ?? '')}`)),
  ];
}

/** Reports if the pod agent has not seen the end of the span. */
const goesOn = ({ attributes }: Span): boolean => attributes['podwire.open'] === true;

function rowsOf(node: SpanNode, full: boolean): TimelineRow[] {
  const { span, depth, offset, children } = node;
  const row = {
    label: printable(goesOn(span) ? `${span.name} …` : span.name),
    depth,
    start: offset,
    duration: span.duration,
    ...(span.error === undefined ? {} : { failed: true }),
  };
  return [row, ...(full ? children.flatMap((child) => rowsOf(child, full)) : groupCalls(children).flat())];
}

const batchKey = 'podwire.batch';

/** Resources that travelled in one call to the kernel are one line; numbers begin anew with each call of the engine, so neighbours only. */
function groupCalls(children: readonly SpanNode[]): TimelineRow[][] {
  const groups: { readonly batch: unknown; readonly members: SpanNode[] }[] = [];
  for (const child of children) {
    const batch = child.span.attributes[batchKey];
    const last = groups.at(-1);
    if (batch !== undefined && last?.batch === batch) last.members.push(child);
    else groups.push({ batch, members: [child] });
  }
  return groups.map(({ batch, members }) =>
    batch === undefined ? rowsOf(members[0]!, false) : [summarize(members)],
  );
}

function summarize(members: readonly SpanNode[]): TimelineRow {
  const kinds = new Map<string, number>();
  for (const { span } of members) {
    const kind = String(span.attributes['podwire.resource']);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const label = [...kinds].map(([kind, count]) => (count === 1 ? kind : `${count} ${kind}`)).join(', ');
  const duration = members.reduce((sum, { span }) => sum + span.duration, 0);
  return { label, depth: members[0]!.depth, start: members[0]!.offset, duration };
}
