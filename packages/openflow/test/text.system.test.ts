/** ovs-ofctl is the oracle of the texts: it reads what we write, and we read what it writes. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import fc from 'fast-check';
import {
  addFlow,
  addGroup,
  deleteAllGroups,
  deleteFlows,
  type Flow,
  formatFlow,
  formatGroup,
  type Group,
  parseFlow,
  parseGroup,
} from '@podwire/openflow';
import { flows, groups } from './arbitraries.js';
import { useSwitch } from './private-switch.js';

const count = process.env['PODWIRE_TEST_LONG'] === '1' ? 20_000 : 1_000;

const used = useSwitch();
beforeEach(() => used.connection.applyBundle([deleteFlows(), deleteAllGroups()]));

/** Each flow or group has a key of its own, so that none replaces another. */
const sampleFlows = (): Flow[] =>
  fc
    .sample(flows, count)
    .map((flow, index) => ({ ...flow, match: { ...flow.match, reg14: index }, priority: index % 0xffff }));
const sampleGroups = (): Group[] =>
  fc.sample(groups, 300).map((group, index) => ({ ...group, id: index + 1 }));

const byIndex = (list: readonly Flow[]): Flow[] =>
  [...list].sort((a, b) => Number(a.match!.reg14) - Number(b.match!.reg14));
const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.startsWith(' '));

const dumpFlows = async (): Promise<Flow[]> =>
  byIndex((await used.connection.dump('flow')).map(({ flow }) => flow));
const theirFlows = async (): Promise<Flow[]> => {
  const text = await used.real.ofctl(['dump-flows', '--no-names', '--no-stats', 'BRIDGE']);
  return byIndex(linesOf(text).map(parseFlow));
};

test('flows that we add are those that ovs-ofctl and we dump', async () => {
  const sample = sampleFlows();
  await used.connection.applyBundle(sample.map(addFlow));
  const expected = byIndex(sample.map((flow) => parseFlow(formatFlow(flow))));
  assert.deepEqual(await dumpFlows(), expected);
  assert.deepEqual(await theirFlows(), expected);
});

test('flows that ovs-ofctl adds from our texts are those that we dump', async () => {
  const sample = sampleFlows();
  await used.real.ofctl(['--bundle', 'add-flows', 'BRIDGE', '-'], sample.map(formatFlow).join('\n'));
  assert.deepEqual(await dumpFlows(), byIndex(sample));
});

test('groups that we add are those that ovs-ofctl and we dump', async () => {
  const sample = sampleGroups();
  await used.connection.applyBundle(sample.map(addGroup));
  const byId = (list: readonly Group[]): Group[] => [...list].sort((a, b) => a.id - b.id);
  assert.deepEqual(byId(await used.connection.dump('groupDescription')), sample);
  const text = await used.real.ofctl(['dump-groups', '--no-names', 'BRIDGE']);
  assert.deepEqual(byId(linesOf(text).map((line) => parseGroup(line.trim()))), sample);
});

test('groups that ovs-ofctl adds from our texts are those that we dump', async () => {
  const sample = sampleGroups();
  await used.real.ofctl(['add-groups', 'BRIDGE', '-'], sample.map(formatGroup).join('\n'));
  const dumped = await used.connection.dump('groupDescription');
  assert.deepEqual(
    [...dumped].sort((a, b) => a.id - b.id),
    sample,
  );
});
