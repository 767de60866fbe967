import {
  type AgentTrace,
  assembleTree,
  flattenTree,
  joinAgentTraces,
  type Span,
  spansFromAgentTrace,
} from '@podwire/tracing';
import { expect, test } from 'vitest';

const parent = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const trace: AgentTrace = {
  id: 12,
  command: 'ADD',
  endpoint: 'default,c1,eth0',
  pod: 'shop/web',
  parent: `00-${parent.traceId}-${parent.spanId}-01`,
  startedAt: 1_700_000_000_000,
  duration: 4,
  result: 'ok',
  stages: [
    { name: 'parse', start: 0, duration: 0.5 },
    { name: 'apply', start: 0.5, duration: 3 },
    { name: 'answer', start: 3.5, duration: 0.5 },
  ],
  resources: [
    resource({ kind: 'veth', host: { name: 'pw1' } }, 0.6, 1),
    resource({ kind: 'address', address: '10.0.0.2/32', link: 'eth0' }, 1.6, 2),
    resource({ kind: 'route', destination: '0.0.0.0/0' }, 1.8, 2),
  ],
};

function resource(what: { kind: string; [key: string]: unknown }, start: number, batch: number) {
  return { resource: what, action: 'apply', start, duration: 0.2, batch };
}

test('one trace shows the request, its stages, and every resource within its stage', () => {
  const [root, ...others] = assembleTree(spansFromAgentTrace(trace));
  expect(others).toEqual([]);
  const lines = flattenTree([root!]).map(({ span, depth }) => `${'  '.repeat(depth)}${span.name}`);
  expect(lines).toEqual([
    'agent ADD',
    '  parse',
    '  apply',
    '    apply veth',
    '    apply address 10.0.0.2/32',
    '    apply route 0.0.0.0/0',
    '  answer',
  ]);
  expect(root!.span).toMatchObject({
    traceId: parent.traceId,
    parentId: parent.spanId,
    startedAt: trace.startedAt,
    duration: 4,
    attributes: {
      'podwire.agent.trace': 12,
      'podwire.result': 'ok',
      'podwire.endpoint': 'default,c1,eth0',
      'podwire.pod': 'shop/web',
    },
  });
  expect(root!.children[1]!.children[1]!.span).toMatchObject({
    startedAt: trace.startedAt + 1.6,
    duration: 0.2,
    attributes: { 'podwire.resource': 'address', 'podwire.batch': 2 },
  });
});

test('the same trace gives the same ids, another request others', () => {
  const ids = (of: AgentTrace) => spansFromAgentTrace(of).map(({ spanId }) => spanId);
  expect(ids(trace)).toEqual(ids({ ...trace }));
  expect(new Set([...ids(trace), ...ids({ ...trace, id: 13 })]).size).toBe(14);
  for (const id of ids(trace)) expect(id).toMatch(/^[0-9a-f]{16}$/);
});

test('the caller may say whose child it is, and how resources are called', () => {
  const other = { traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8) };
  const spans = spansFromAgentTrace(trace, other, ({ kind }) => kind.toUpperCase());
  expect(spans[0]).toMatchObject({ traceId: other.traceId, parentId: other.spanId });
  expect(spans.at(-1)?.name).toBe('apply ROUTE');
});

test('without a usable parent there is nothing to be part of', () => {
  expect(spansFromAgentTrace({ ...trace, parent: '00-aa-bb-01' })).toEqual([]);
});

test('a resource before any stage belongs to the request; an error is one of the span', () => {
  const spans = spansFromAgentTrace({ ...trace, stages: [], result: 'PORT_IN_USE', error: 'taken' });
  expect(spans[0]).toMatchObject({ error: 'taken', attributes: { 'podwire.result': 'PORT_IN_USE' } });
  for (const span of spans.slice(1)) expect(span.parentId).toBe(spans[0]!.spanId);
});

const call: Span = {
  ...parent,
  name: 'cni ADD podwire-cni',
  startedAt: trace.startedAt + 0.7,
  duration: 5,
  attributes: {},
};

test.each([
  ['begins before the call by a coarser clock', 0.7, 5, 0.7],
  ['ends after the call by a coarser clock', -2.5, 5, -1.5],
  ['lies within', -0.5, 5, 0],
  ['does not fit', 0.3, 2, 0.3],
])('an account that %s', (_name, begin, duration, expected) => {
  const within = { ...call, startedAt: trace.startedAt + begin, duration };
  const [request, stage] = spansFromAgentTrace(trace, within);
  expect(request!.startedAt).toBeCloseTo(trace.startedAt + expected, 3);
  expect(stage!.startedAt).toBe(request!.startedAt);
});

test('accounts are joined to the calls they belong to, others are left out', () => {
  const stranger = { ...trace, parent: `00-${'ab'.repeat(16)}-${parent.spanId}-01` };
  const { parent: _none, ...orphan } = trace;
  const joined = joinAgentTraces([call], [trace, stranger, orphan], ({ kind }) => kind);
  expect(joined).toHaveLength(1 + 7);
  const [root, ...others] = assembleTree(joined);
  expect(others).toEqual([]);
  expect(flattenTree([root!]).map(({ span }) => span.name)).toContain('apply veth');
  expect(root!.children[0]!.offset).toBe(0);
});
