/** Lists of resources for people. */
import { describeResource } from '@podwire/backend-linux';
import type { Resource } from '@podwire/engine';
import type { ExplainedResource } from '../api/shapes.js';
import { type Colors, printable } from '../io.js';
import { type Column, renderTable } from './table.js';

/** Where a resource lives: the node, the pod, or both (a veth pair). */
export function placeOf(resource: Resource): string {
  if (resource.kind === 'veth') return 'node+pod';
  return 'in' in resource && resource.in === 'pod' ? 'pod' : 'node';
}

/** The place has a column of its own. */
function describe(resource: Resource): string {
  return printable(describeResource(resource).replace(/ in pod$/, ''));
}

export function renderResources(resources: readonly Resource[], paint: Colors, width = Infinity): string[] {
  const rows = resources.map((resource) => [placeOf(resource), describe(resource)]);
  return renderTable({ head: ['WHERE', { title: 'WHAT', importance: Infinity }], rows }, paint, width);
}

export function renderExplained(
  explained: readonly ExplainedResource[],
  paint: Colors,
  width = Infinity,
): string[] {
  const rows = explained.map(({ resource, state, detail }) => [
    state === 'ok' ? paint.green('✓') : paint.red('✗'),
    placeOf(resource),
    describe(resource),
    state === 'ok' ? paint.dim('as planned') : paint.red(printable(`${state}: ${detail ?? ''}`)),
  ]);
  const head: Column[] = [
    { title: '', cut: 'never' },
    { title: 'WHERE', cut: 'never', importance: 1 },
    // What differs is said in full before what was planned.
    { title: 'PLANNED', least: 24, importance: 1_000 },
    { title: 'IN THE KERNEL', least: 24, importance: Infinity },
  ];
  return renderTable({ head, rows }, paint, width);
}
