/** Lists of resources for people. */
import type { Resource } from '@podwire/engine';
import type { ExplainedResource } from '../api/shapes.js';
import { type Colors, printable } from '../io.js';
import { type ResourceWords, resourceWords } from './resource-words.js';
import { type Column, renderTable } from './table.js';

/** The place has a column of its own. */
const describe = (resource: Resource, words: ResourceWords): string =>
  printable(words.describe(resource).replace(/ in pod$/, ''));

export function renderResources(
  resources: readonly Resource[],
  paint: Colors,
  width = Infinity,
  words = resourceWords,
): string[] {
  const rows = resources.map((resource) => [words.placeOf(resource), describe(resource, words)]);
  return renderTable({ head: ['WHERE', { title: 'WHAT', importance: Infinity }], rows }, paint, width);
}

export function renderExplained(
  explained: readonly ExplainedResource[],
  paint: Colors,
  width = Infinity,
  words = resourceWords,
): string[] {
  const rows = explained.map(({ resource, state, detail, gap }) => [
    state === 'ok' ? paint.green('✓') : paint.red('✗'),
    words.placeOf(resource),
    describe(resource, words),
    state === 'ok'
      ? paint.dim('as planned')
      : paint.red(
          printable(`${state}: ${detail ?? ''}${gap === true ? ' (its repair interrupts traffic)' : ''}`),
        ),
  ]);
  const head: Column[] = [
    { title: '', cut: 'never' },
    { title: 'WHERE', cut: 'never', importance: 1 },
    // The difference is printed in full before the plan.
    { title: 'PLANNED', least: 24, importance: 1_000 },
    { title: 'IN THE KERNEL', least: 24, importance: Infinity },
  ];
  return renderTable({ head, rows }, paint, width);
}
