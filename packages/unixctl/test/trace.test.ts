import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findOutputs,
  readFields,
  readTrace,
  type Trace,
  type TracePass,
  type TraceStep,
} from '@podwire/unixctl';
import { names, readRecorded } from './recorded.js';

const read = (name: string): Trace => readTrace(readRecorded(name));
const wayOf = ({ passes }: Trace): string[][] =>
  passes.map(({ steps }) => steps.map(({ table, priority, depth }) => `${depth}:${table}/${priority}`));
const withoutOthers = ({ others: _, ...pass }: TracePass) => pass;
const leavesOf = (trace: Trace): unknown[] =>
  findOutputs(trace).map(({ port, step, ...others }) => ({ port, table: step.table, ...others }));

test.each(names)('understands every line of a trace of ovs-vswitchd (%s)', (name) => {
  const known = /^(Replacing src|This flow is handled| Initial flow: | Modified flow: )/;
  const others = read(name).passes.flatMap((pass) => pass.others);
  expect(others.filter((line) => !known.test(line))).toEqual([]);
});

test('reads a flow with its match, priority, cookie and actions', () => {
  const step = read('tunnel').passes[1]!.steps.at(-1);
  expect(step).toEqual({
    ...{ bridge: 'br0', table: 90, depth: 0 },
    ...{ match: 'ip,nw_dst=10.128.4.0/23', priority: 100, cookie: '0xeae5c1a8' },
    actions: [
      {
        text: 'move:NXM_NX_REG0[]->NXM_NX_TUN_ID[0..31]',
        notes: [{ level: 'detail', text: 'NXM_NX_TUN_ID[0..31] is now 0x2a' }],
      },
      { text: 'set_field:192.0.2.2->tun_dst', notes: [] },
      { text: 'output:1', notes: [] },
    ],
  } satisfies TraceStep);
});

test('reads a flow that takes every packet, and the lack of one', () => {
  const [first] = read('too-deep').passes[0]!.steps;
  const missing = read('no-match').passes[0]!.steps[3];
  expect(first).toMatchObject({ match: 'in_port=4', priority: 65000 });
  expect(read('forged').passes[1]!.steps.at(-1)).toMatchObject({ match: '', priority: 0 });
  expect(missing).toEqual({
    ...{ bridge: 'br0', table: 3, depth: 2, miss: 'No match.' },
    actions: [{ text: 'drop', notes: [] }],
  });
});

test('follows a packet through connection tracking', () => {
  const { passes } = read('answer-of-service');
  expect(passes.map(({ resumed }) => resumed)).toEqual([
    undefined,
    {
      recirculation: '0x8',
      text: 'resume conntrack with ct_state=est|rpl|trk',
      ctState: 'est|rpl|trk',
      table: 0,
    },
    {
      recirculation: '0x9',
      text: 'resume conntrack with default ct_state=trk|new (use --ct-next to customize)',
      ...{ ctState: 'trk|new', table: 70 },
    },
  ]);
  expect(passes.map(({ datapathActions }) => datapathActions)).toEqual([
    'ct,recirc(0x8)',
    'ct(nat),recirc(0x9)',
    '4',
  ]);
  expect(passes[2]!.megaflow).toBe(
    'recirc_id=0x9,eth,ip,in_port=3,nw_src=10.128.2.2/31,nw_dst=10.128.2.3,nw_frag=no',
  );
});

test('takes a packet that is unchanged at the end for what it was at the beginning', () => {
  const [first, second] = read('tunnel').passes;
  expect(first!.finalFlow).toBe(first!.flow);
  expect(readFields(second!.finalFlow).get('reg0')).toBe('0x2a');
});

test('gives actions behind a resubmit to the flow that has them', () => {
  const { passes } = read('nested');
  expect(wayOf({ passes })).toEqual([['0:0/65000', '1:1/5', '2:2/5', '2:3/5'], ['0:4/65000']]);
  expect(passes[0]!.steps.map(({ actions }) => actions.map(({ text }) => text))).toEqual([
    ['resubmit(,1)', 'output:8'],
    [
      ...['resubmit(,2)', 'resubmit(,3)', 'CONTROLLER:65535', 'group:1'],
      ...['bucket 0', 'output:4', 'bucket 1', 'output:5'],
    ],
    ['output:3'],
    [
      ...['set_field:0x1->reg5', 'dec_ttl'],
      'ct(commit,table=4,zone=4,nat(dst=1.2.3.4),exec(set_field:0x1->ct_mark))',
      ...['nat(dst=1.2.3.4)', 'set_field:0x1->ct_mark', 'learn(table=9,eth_type=0x800)', 'NORMAL'],
    ],
  ]);
});

test('gives the actions of an action set to the flow before it', () => {
  const actions = read('action-set').passes[0]!.steps.filter(({ depth }) => depth === 0)[0]!.actions;
  expect(actions.slice(-2).map(({ text }) => text)).toEqual(['--. Executing action set:', 'output:3']);
});

test('says in which bridge a flow is', () => {
  expect(read('two-bridges').passes[0]!.steps.map(({ bridge }) => bridge)).toEqual(['br0', 'br1']);
});

test('reads why ovs-vswitchd has given up', () => {
  const { failure, steps } = read('too-deep').passes[0]!;
  expect(failure).toBe('Recursion too deep');
  expect(steps.at(-1)!.actions.at(-1)!.notes).toEqual([
    { level: 'error', text: 'over max translation depth 64' },
  ]);
});

describe('a packet leaves the bridge', () => {
  test.each([
    ['answer-of-service', [{ port: 4, table: 80 }]],
    ['tunnel', [{ port: 1, table: 90, tunnelDestination: '192.0.2.2', tunnelId: 42 }]],
    ['multicast', [{ port: 1, table: 111, tunnelDestination: '192.0.2.2', tunnelId: 42 }]],
    [
      'native-tunnel',
      [
        { port: 1, table: 90, tunnelDestination: '192.0.2.2', tunnelId: 42 },
        { port: 'NORMAL', table: 0, tunnelDestination: '192.0.2.2', tunnelId: 42 },
      ],
    ],
    ['no-neighbor', []],
    ['no-route', []],
    ['other-project', []],
    ['forged', []],
    ['no-port', []],
    ['too-deep', []],
  ])('where an output was carried out (%s)', (name, expected) => {
    expect(leavesOf(read(name))).toEqual(expected);
  });

  test.each([
    ['load:0x7->NXM_NX_TUN_ID[0..31]', '', 7],
    ['set_field:0x7->tun_id', '', 7],
    ['move:NXM_NX_REG0[]->NXM_NX_TUN_ID[0..31]', '     -> NXM_NX_TUN_ID[0..31] is now 0\n', 0],
  ])('into a tunnel with the key of %s', (action, note, tunnelId) => {
    const set = /move:.*\n.*is now 0x2a\n/;
    const text = readRecorded('tunnel').replace(set, `${action}\n${note}`);
    expect(findOutputs(readTrace(text))).toMatchObject([{ port: 1, tunnelId }]);
  });

  test('also at reserved ports', () => {
    const ports = findOutputs(read('nested')).map(({ port }) => port);
    expect(ports).toEqual([8, 'CONTROLLER', 4, 5, 3, 'NORMAL', 7]);
  });
});

test('takes nothing behind the end of a pass for an action', () => {
  const reason = '    - Needs a packet.';
  const { passes } = readTrace(`${readRecorded('forged')}This flow is slow because it:\n${reason}\n`);
  expect(passes.at(-1)).toEqual({
    ...read('forged').passes.at(-1),
    others: ['This flow is slow because it:', reason],
  });
});

test('reads any text', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(readTrace(text).passes.length).toBeGreaterThan(0);
    }),
  );
});

test('keeps what it does not understand, and reads everything else as before', () => {
  const strange = fc.stringMatching(/^[A-Z][a-z]{2,9} [a-z]{1,9}[.:]$/);
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.nat(), strange, (name, place, line) => {
      const lines = readRecorded(name).split('\n');
      lines.splice(place % lines.length, 0, line);
      const [found, expected] = [readTrace(lines.join('\n')), read(name)];
      expect(found.passes.map(withoutOthers)).toEqual(expected.passes.map(withoutOthers));
      expect(found.passes.flatMap(({ others }) => others)).toContain(line);
    }),
  );
});
