/** A request as a bar chart in text: its stages, and within them the calls to the kernel. */
import type { StageSpan, Trace } from '../api/shapes.js';
import { type Colors, printable } from '../io.js';
import { type ResourceWords, resourceWords } from './resource-words.js';
import { renderTimeline, type TimelineRow } from './timeline.js';
import { formatMilliseconds } from './times.js';

export interface TraceOptions {
  /** Characters for the whole line. */
  readonly width: number;
  /** Every resource with its share, instead of one line for each call to the kernel. */
  readonly full: boolean;
  /** Those of this program's backends when absent. */
  readonly words?: ResourceWords;
}

export function renderTrace(trace: Trace, options: TraceOptions, paint: Colors): string[] {
  const { width } = options;
  const rows = trace.stages.flatMap((stage) => [stageRow(stage), ...resourceRows(trace, stage, options)]);
  return [renderHeading(trace, paint), '', ...renderTimeline(rows, trace.duration, width, paint)];
}

/** `ADD shop/web: ok, 3.41 ms in the agent (#12, 18:54:41.123)` */
export function renderHeading(trace: Trace, paint: Colors): string {
  const { id, command, result, error, duration, startedAt } = trace;
  const outcome = result === 'ok' ? paint.green('ok') : paint.red(result);
  const time = new Date(startedAt).toISOString().replace('T', ' ').replace('Z', ' UTC');
  const why = error === undefined ? '' : `\n${printable(error)}`;
  const heading = `${paint.bold(`${command} ${subjectOf(trace)}`)}: ${outcome}, ${formatMilliseconds(duration)} in the agent`;
  return `${heading} ${paint.dim(`(#${id}, ${time})`)}${why}`;
}

/** Whom a request was about. */
export function subjectOf({ pod, endpoint }: Pick<Trace, 'pod' | 'endpoint'>): string {
  return printable(pod ?? endpoint?.split(',')[1] ?? 'the network');
}

function stageRow({ name, start, duration }: StageSpan): TimelineRow {
  return { label: name, depth: 0, start, duration };
}

/** Work on resources within the stage, in order; members of one call together. */
function resourceRows(
  { resources }: Trace,
  stage: StageSpan,
  { full, words = resourceWords }: TraceOptions,
): TimelineRow[] {
  const end = stage.start + stage.duration;
  const within = resources.filter(({ start }) => start >= stage.start && start < end);
  if (full) {
    return within.map(({ resource, start, duration }) => ({
      label: words.describe(resource),
      depth: 1,
      start,
      duration,
    }));
  }
  return groupByCall(within).map((members) => ({
    label: summarize(members.map(({ resource }) => resource.kind)),
    depth: 1,
    start: Math.min(...members.map(({ start }) => start)),
    duration: members.reduce((sum, { duration }) => sum + duration, 0),
  }));
}

type ResourceSpan = Trace['resources'][number];

/** Spans of one batch travelled in one call. Batch numbers begin anew with each call of the engine, so neighbours only. */
function groupByCall(spans: readonly ResourceSpan[]): ResourceSpan[][] {
  const groups: ResourceSpan[][] = [];
  for (const span of spans) {
    const last = groups.at(-1);
    if (last?.[0]?.batch === span.batch) last.push(span);
    else groups.push([span]);
  }
  return groups;
}

/** `veth, 2 link-up, 4 address` */
function summarize(kinds: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => (count === 1 ? kind : `${count} ${kind}`)).join(', ');
}
