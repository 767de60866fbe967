import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { listAgentMetrics, listControllerMetrics, renderMetricsPage } from '../src/metrics-page.js';

const root = path.resolve(import.meta.dirname, '../../..');
const readText = (file: string): string => fs.readFileSync(path.join(root, file), 'utf8');

const { alone, cluster } = listAgentMetrics();
const metrics = [...alone, ...cluster, ...listControllerMetrics()];
const byName = new Map(metrics.map((metric) => [metric.name, metric]));
/** Given by Prometheus itself. */
const everywhere = new Set(['instance', 'job', 'le']);

test('docs/metrics.md lists what the programs register', () => {
  const isFresh = readText('docs/metrics.md') === renderMetricsPage();
  expect(isFresh, 'docs/metrics.md is stale; run: npm run docs').toBe(true);
});

test('every metric has a meaning, a name of its own, and the suffix of its type', () => {
  expect(byName.size).toBe(metrics.length);
  for (const { name, type, meaning } of metrics) {
    expect(meaning, name).toMatch(/\.$/);
    expect(name.endsWith('_total'), name).toBe(type === 'counter');
  }
});

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

interface Board {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

const rules = (parse(readText('contrib/prometheus/alerts.yaml')) as Rules).groups.flatMap(
  (group) => group.rules,
);
const board = JSON.parse(readText('contrib/grafana/podwire.json')) as Board;
const expressions = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...board.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
];

/** A histogram is asked by its parts. */
const baseOf = (name: string): string =>
  byName.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, '');

const namesIn = (expression: string): string[] => expression.match(/\b(?:podwire|process)_\w+/g) ?? [];

describe.each(expressions)('%s', (_, expression) => {
  test('asks for metrics that exist', () => {
    expect(namesIn(expression).filter((name) => !byName.has(baseOf(name)))).toEqual([]);
  });

  test('asks for labels that these metrics have', () => {
    const labels = new Set(namesIn(expression).flatMap((name) => byName.get(baseOf(name))?.labels ?? []));
    const selected = [...expression.matchAll(/(\w+)\s*(?:=~|!=|=(?!=)|!~)\s*"/g)].map(([, label]) => label!);
    const grouped = [...expression.matchAll(/\b(?:by|on|ignoring)\s*\(([^)]*)\)/g)].flatMap(([, list]) =>
      list!.split(',').map((label) => label.trim()),
    );
    const unknown = [...selected, ...grouped].filter((label) => !labels.has(label) && !everywhere.has(label));
    expect(unknown).toEqual([]);
  });
});

test('agents, drift, pools and leases have an alert each', () => {
  expect(rules.map(({ alert }) => alert)).toEqual(
    expect.arrayContaining([
      'PodwireAgentNotReady',
      'PodwireDriftRepeats',
      'PodwirePoolAlmostFull',
      'PodwireNodeLeaseLost',
    ]),
  );
});
