/**
 * `ofproto/trace` of a real switch is the oracle of the evaluation: random flows, groups and packets. The same flows show
 * that the fake switch refuses what the real one refuses.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  addFlow,
  addGroup,
  connectSwitch,
  deleteAllGroups,
  deleteFlows,
  type FieldName,
  type FieldValue,
  formatFlow,
  formatMatch,
  type Match,
  parseMatch,
  parseFieldValue,
  type SwitchConnection,
} from '@podwire/openflow';
import { type Evaluation, FakeSwitch, type PacketFields } from '@podwire/openflow/fake';
import { outcome, type Request } from './compliance/environment.js';
import { type Pipeline, pipelines } from './pipelines.js';
import { packets } from './packets.js';
import { nine } from './ports.js';
import { useSwitch } from './private-switch.js';
import { compared, summarizeTrace, type TraceSummary } from './trace.js';

const runs = process.env['PODWIRE_TEST_LONG'] === '1' ? 1_500 : 60;

const used = useSwitch();

const local = { ...nine[0]!, port: 'LOCAL', name: 'br0' } as const;

/** Sends all requests to both switches; each answers as the other. */
async function fill(fake: SwitchConnection, { flows, groups }: Pipeline): Promise<void> {
  const requests: Request[] = [...groups.map(addGroup), ...flows.map(addFlow)];
  const ask = (of: SwitchConnection): Promise<string[]> =>
    Promise.all([
      of.send([deleteFlows(), deleteAllGroups()]).then(() => 'empty'),
      ...requests.map((each) => outcome(of, each)),
    ]);
  const [ours, theirs] = [await ask(fake), await ask(used.connection)];
  const named = (answers: readonly string[]): string[] =>
    answers.slice(1).map((answer, index) => `${JSON.stringify(requests[index])}: ${answer}`);
  assert.deepEqual(named(ours), named(theirs));
}

/** The flow of a packet as `ofproto/trace` reads it: without a tag it says so. */
const traceText = (packet: PacketFields): string =>
  formatMatch({ vlan_vid: 0, ...packet }).replace(/vlan_vid=(\w+)/, (_, tag: string) => `vlan_tci=${tag}`);

async function trace(packet: PacketFields, states: readonly string[]): Promise<TraceSummary> {
  const next = states.flatMap((state) => ['--ct-next', state.replaceAll('|', ',')]);
  return summarizeTrace(await used.real.appctl('ofproto/trace', 'br0', traceText(packet), ...next));
}

/** Values of the compared fields; those that are absent are zero. */
const valuesOf = (packet: Match): Record<string, bigint> =>
  Object.fromEntries(compared.map((name) => [name, valueOf(name, packet[name])]));
const valueOf = (name: FieldName, value: FieldValue | undefined): bigint =>
  value === undefined ? 0n : parseFieldValue(name, value).value;

const toTrace = ({ steps, outputs, packets, failures }: Evaluation): TraceSummary => ({
  steps: steps.map(({ table, flow }) => [table, flow?.priority]),
  // Packets for a controller are left out: none is connected.
  outputs: outputs.map(({ port }) => port).filter((port) => port !== 'CONTROLLER'),
  packets,
  hasFailed: failures.length > 0,
});

/** Ports that a packet is flooded to have no order. A pass that is given up ends somewhere. */
const comparable = ({ hasFailed, outputs, steps, packets }: TraceSummary): object => ({
  hasFailed,
  outputs: outputs.map(String).sort(),
  ...(hasFailed ? {} : { steps, packets: packets.map(valuesOf) }),
});

async function compare(pipeline: Pipeline): Promise<void> {
  const fake = new FakeSwitch({ ports: [...nine, local] });
  const near = await connectSwitch(fake.connect());
  await fill(near, pipeline);
  for (const packet of pipeline.packets) {
    const expected = await trace(packet, pipeline.states);
    const found = toTrace(fake.evaluate(packet, { states: pipeline.states }));
    const about = `${traceText(packet)}\n${fake.flows().map(formatFlow).join('\n')}\n${JSON.stringify(fake.groups())}`;
    try {
      assert.deepEqual(comparable(found), comparable(expected));
    } catch (error) {
      throw new Error(`${about}\n${(error as Error).message}`, { cause: error });
    }
  }
  near.close();
}

test('packets take the way through tables that Open vSwitch traces', async () => {
  await fc.assert(fc.asyncProperty(pipelines, compare), { numRuns: runs, includeErrorInReport: true });
});

for (const [name, hex, fields] of packets) {
  test(`Open vSwitch reads the same fields of ${name}`, async () => {
    const text = await used.real.appctl('ofproto/trace', 'br0', 'in_port=1', hex);
    const [, flow = ''] = /^Flow: (.*)$/m.exec(text) ?? [];
    const found = parseMatch(flow.replace(/vlan_tci1=\w+,/, ''));
    for (const [field, value] of Object.entries(fields) as [FieldName, FieldValue][])
      assert.equal(valueOf(field, found[field]), valueOf(field, value), `${field} of ${flow}`);
  });
}
