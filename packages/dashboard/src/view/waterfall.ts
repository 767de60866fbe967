/** A trace as rows of a waterfall: the parts below their whole, in the order of their start. Pure. */
import { assembleTree, type Span, spansFromAgentTrace, type SpanNode } from '@podwire/tracing';
import type { Trace } from '../answers.js';
import type { WaterfallRow, WaterfallView } from '../shapes.js';
import type { Wording } from '../sources.js';

export const mostRows = 400;

export function viewWaterfall(spans: readonly Span[]): WaterfallView | null {
  if (spans.length === 0) return null;
  const rows = assembleTree(spans).flatMap((node) => rowsOf(node));
  const total = Math.max(...rows.map(({ start, duration }) => start + duration), 0);
  return { total, rows: rows.slice(0, mostRows), more: Math.max(0, rows.length - mostRows) };
}

/** The node agent's own account of a request, where there is no pod agent that has the rest. */
export function spansOfRequest(
  trace: Trace,
  { describeResource }: Pick<Wording, 'describeResource'>,
): readonly Span[] {
  const root = { traceId: '0'.repeat(32), spanId: '0'.repeat(16) };
  return spansFromAgentTrace(trace, root, describeResource);
}

function rowsOf(node: SpanNode): WaterfallRow[] {
  const { span, depth, offset, children } = node;
  const { name, duration, error = '' } = span;
  return [
    { name, depth, start: offset, duration, failed: error },
    ...groupCalls(children).flatMap(rowsOfGroup),
  ];
}

const batchOf = ({ span }: SpanNode): unknown => span.attributes['podwire.batch'];

/** Resources that travelled in one call to the kernel are one row. Numbers begin anew with each call of the engine: neighbours only. */
function groupCalls(children: readonly SpanNode[]): SpanNode[][] {
  const groups: SpanNode[][] = [];
  for (const child of children) {
    const last = groups.at(-1);
    const batch = batchOf(child);
    if (batch !== undefined && last !== undefined && batchOf(last[0]!) === batch) last.push(child);
    else groups.push([child]);
  }
  return groups;
}

function rowsOfGroup(group: readonly SpanNode[]): WaterfallRow[] {
  const [first] = group;
  if (first === undefined) return [];
  if (group.length === 1) return rowsOf(first);
  const kinds = new Map<string, number>();
  for (const { span } of group) {
    const kind = String(span.attributes['podwire.resource']);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const name = [...kinds].map(([kind, count]) => (count === 1 ? kind : `${count} ${kind}`)).join(', ');
  const duration = group.reduce((sum, { span }) => sum + span.duration, 0);
  const failed = group.map(({ span }) => span.error ?? '').find((error) => error !== '') ?? '';
  return [{ name, depth: first.depth, start: first.offset, duration, failed }];
}
