import { type Flow, parseFlow } from '@podwire/openflow';
import { createColors } from 'picocolors';
import { expect, test } from 'vitest';
import { renderFlows } from '../../src/flows/render.js';
import { viewBridge } from '../../src/flows/view.js';

function render(flows: readonly Flow[], options: { stats?: boolean; colors?: boolean } = {}): string[] {
  const { stats = false, colors = false } = options;
  const entries = flows.map((flow) => ({ flow, packets: 12, bytes: 840, duration: 200 }));
  const tables = [{ table: 0, active: 1, lookups: 15, matches: 12 }];
  const view = viewBridge('br0', { flows: entries, ports: [], tables });
  return renderFlows(view, undefined, { width: Infinity, stats, paint: createColors(colors) });
}

test('statistics are those of a table, and the age of a flow', () => {
  expect(render([parseFlow('priority=1,ip,actions=2')], { stats: true }).slice(3)).toEqual([
    'PACKETS   BYTES     AGE   OWNER    FLOW',
    '',
    'table 0 (15 lookups, 12 matched)',
    '     12     840   3m20s   others   priority=1,ip actions=output:2',
  ]);
});

test.each<[string, Flow]>([
  ['at once', { table: 0, priority: 1, match: {}, actions: [{ type: 'raw', bytes: 'ffff0018' }] }],
  ['at the end', { table: 0, priority: 1, match: {}, write: [{ type: 'raw', bytes: 'ffff0018' }], goto: 4 }],
])('a flow with an action that has no text is shown all the same (%s)', (_, flow) => {
  expect(render([flow]).at(-1)).toBe(
    '     12     840   others   priority=1 actions=(unknown: -o json has the bytes)',
  );
});

test('counters that the switch does not keep are dashes', () => {
  const view = viewBridge('br0', {
    flows: [{ flow: parseFlow('priority=1,actions=drop'), duration: 0 }],
    ...{ ports: [], tables: [] },
  });
  const style = { width: Infinity, stats: true, paint: createColors(false) };
  expect(renderFlows(view, undefined, style).slice(-2)).toEqual([
    'table 0',
    '      -       -    0s   others   priority=1 actions=drop',
  ]);
});

test('colours move no column', () => {
  const flows = ['cookie=0x706f647700000007,priority=2,actions=drop', 'priority=1,actions=drop'].map(
    parseFlow,
  );
  // eslint-disable-next-line no-control-regex
  const plain = render(flows, { colors: true }).map((line) => line.replaceAll(/\u001b\[\d+m/g, ''));
  expect(plain).toEqual(render(flows));
});
