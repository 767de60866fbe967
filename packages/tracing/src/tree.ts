import { groupBy } from '@podwire/platform';
import type { Span } from './span.js';

/** A span with its children. */
export interface SpanNode {
  readonly span: Span;
  /** 0 for a root. */
  readonly depth: number;
  /** Milliseconds since the beginning of the earliest span of all. */
  readonly offset: number;
  /** Milliseconds during which no child was running. */
  readonly selfTime: number;
  /** It names a parent that is not there (not ended yet, in another process, or dropped). */
  readonly orphan: boolean;
  readonly children: readonly SpanNode[];
}

/**
 * Puts spans together, siblings by their start. Nothing is lost: a span without its parent is a root that says so, and so is one
 * out of a circle. Of two spans with one id the first counts. Linear but for the sorting.
 */
export function assembleTree(spans: readonly Span[]): readonly SpanNode[] {
  const byId = new Map<string, Span>();
  for (const span of spans) if (!byId.has(span.spanId)) byId.set(span.spanId, span);
  const sorted = [...byId.values()].toSorted(byStart);
  const children = groupBy(sorted, ({ parentId }) => parentId);
  const origin = sorted[0]?.startedAt ?? 0;
  const seen = new Set<string>();

  const build = (span: Span, depth: number): SpanNode => {
    seen.add(span.spanId);
    const own = (children.get(span.spanId) ?? []).filter(({ spanId }) => !seen.has(spanId));
    return {
      span,
      depth,
      offset: span.startedAt - origin,
      selfTime: measureSelfTime(span, own),
      orphan: span.parentId !== undefined && depth === 0,
      children: own.map((child) => build(child, depth + 1)),
    };
  };
  const roots = sorted.filter(({ parentId }) => parentId === undefined || !byId.has(parentId));
  const nodes = roots.map((span) => build(span, 0));
  // Spans that no root reaches are in a circle, or below one.
  for (const span of sorted) if (!seen.has(span.spanId)) nodes.push(build(span, 0));
  return nodes.toSorted((a, b) => byStart(a.span, b.span));
}

/** Longer first where they begin together: that is the one which has the other in it. */
function byStart(a: Span, b: Span): number {
  return a.startedAt - b.startedAt || b.duration - a.duration;
}

/** Children may overlap, and outlive their parent: what counts is the part of the span that none of them covers. */
function measureSelfTime(span: Span, sortedChildren: readonly Span[]): number {
  const end = span.startedAt + span.duration;
  let covered = 0;
  let reached = span.startedAt;
  for (const child of sortedChildren) {
    const from = Math.max(reached, child.startedAt);
    const to = Math.min(end, child.startedAt + child.duration);
    if (to > from) covered += to - from;
    reached = Math.max(reached, to);
  }
  return Math.max(0, span.duration - covered);
}

/** Every node, parents before their children. */
export function flattenTree(nodes: readonly SpanNode[]): readonly SpanNode[] {
  return nodes.flatMap((node) => [node, ...flattenTree(node.children)]);
}
