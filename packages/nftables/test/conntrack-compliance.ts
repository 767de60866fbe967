import assert from 'node:assert/strict';
import type { Conntrack, ConntrackEntry, ConntrackFilter } from '@podwire/nftables';

/** A connection to a host port: asked for at `to`, answered by `pod`. */
export interface Connection {
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  readonly from: string;
  readonly to: string;
  readonly port: number;
  readonly pod: string;
  readonly podPort: number;
}

export interface ConntrackRequirement {
  readonly name: string;
  readonly check: (
    conntrack: Conntrack,
    connect: (connections: readonly Connection[]) => Promise<void>,
  ) => Promise<void>;
}

const SOURCE_PORT = 40_000;

/** Entry that the kernel would keep of a connection. */
export function entry({ protocol, from, to, port, pod, podPort }: Connection): ConntrackEntry {
  return {
    family: from.includes(':') ? 6 : 4,
    original: { source: from, destination: to, protocol, sourcePort: SOURCE_PORT, destinationPort: port },
    reply: { source: pod, destination: from, protocol, sourcePort: podPort, destinationPort: SOURCE_PORT },
    zone: 0,
    id: 0,
    status: 0,
  };
}

const base = {
  protocol: 'udp',
  from: '192.0.2.1',
  to: '198.51.100.1',
  port: 53,
  pod: '10.0.0.1',
  podPort: 5300,
} as const;
const base6 = { ...base, from: '2001:db8::1', to: '2001:db8:1::1', pod: 'fd00::1' } as const;

const connections: Record<string, Connection> = {
  udp: base,
  'udp of another client': { ...base, from: '192.0.2.2' },
  'udp to another port': { ...base, port: 54, pod: '10.0.0.2' },
  'udp to another address': { ...base, to: '198.51.100.2', pod: '10.0.0.2', podPort: 5301 },
  tcp: { ...base, protocol: 'tcp' },
  sctp: { ...base, protocol: 'sctp', pod: '10.0.0.2' },
  'sctp to another port': { ...base, protocol: 'sctp', port: 54 },
  udp6: base6,
  'udp6 to another address': { ...base6, to: '2001:db8:1::2', pod: 'fd00::2' },
  'udp6 to another port': { ...base6, port: 54, pod: 'fd00::2', podPort: 5301 },
  tcp6: { ...base6, protocol: 'tcp' },
};

const cases: readonly { readonly filter: ConntrackFilter; readonly gone: readonly string[] }[] = [
  {
    filter: { family: 4, protocol: 'udp', port: 53 },
    gone: ['udp', 'udp of another client', 'udp to another address'],
  },
  {
    filter: { family: 4, protocol: 'udp', address: base.to, port: 53 },
    gone: ['udp', 'udp of another client'],
  },
  {
    filter: { family: 4, protocol: 'udp', address: base.to },
    gone: ['udp', 'udp of another client', 'udp to another port'],
  },
  { filter: { family: 4, protocol: 'tcp', port: 53 }, gone: ['tcp'] },
  { filter: { family: 4, protocol: 'tcp', port: 54 }, gone: [] },
  { filter: { family: 4, protocol: 'sctp', port: 53 }, gone: ['sctp'] },
  { filter: { family: 4, protocol: 'sctp' }, gone: ['sctp', 'sctp to another port'] },
  { filter: { family: 6, protocol: 'udp', port: 53 }, gone: ['udp6', 'udp6 to another address'] },
  { filter: { family: 6, protocol: 'udp', address: base6.to, port: 53 }, gone: ['udp6'] },
  { filter: { family: 6, protocol: 'udp', address: '2001:0db8:1:0::2' }, gone: ['udp6 to another address'] },
  { filter: { family: 6, address: base6.to }, gone: ['udp6', 'udp6 to another port', 'tcp6'] },
  { filter: { family: 6, protocol: 'udp', address: '2001:db8:1::9' }, gone: [] },
  {
    filter: { family: 4, match: 'reply-source', address: base.pod },
    gone: ['udp', 'udp of another client', 'tcp', 'sctp to another port'],
  },
  {
    filter: { family: 4, match: 'reply-source', protocol: 'udp', address: base.pod, port: base.podPort },
    gone: ['udp', 'udp of another client'],
  },
  { filter: { family: 4, match: 'reply-source', protocol: 'udp', port: 53 }, gone: [] },
  { filter: { family: 6, match: 'reply-source', address: base6.pod }, gone: ['udp6', 'tcp6'] },
];

const names = new Map(
  Object.entries(connections).map(([name, connection]) => [keyOf(entry(connection)), name]),
);

function keyOf({ original }: ConntrackEntry): string {
  return JSON.stringify([original.protocol, original.source, original.destination, original.destinationPort]);
}

const namesOf = (entries: readonly ConntrackEntry[]): string[] =>
  entries.map((one) => names.get(keyOf(one)) ?? JSON.stringify(one)).sort();

export const conntrackRequirements: readonly ConntrackRequirement[] = [
  ...cases.map(({ filter, gone }) => ({
    name: `lists and deletes ${JSON.stringify(filter)}`,
    check: async (conntrack: Conntrack, connect: (added: readonly Connection[]) => Promise<void>) => {
      await connect(Object.values(connections));
      const signal = AbortSignal.timeout(60_000);
      assert.deepEqual(namesOf(conntrack.listConntrack()), Object.keys(connections).sort());
      assert.deepEqual(namesOf(conntrack.listConntrack(filter)), [...gone].sort());
      await conntrack.deleteConntrack([filter], { signal });
      const left = Object.keys(connections).filter((name) => !gone.includes(name));
      assert.deepEqual(namesOf(conntrack.listConntrack()), left.sort());
      await conntrack.deleteConntrack([filter], { signal });
    },
  })),
  {
    name: 'shows both directions',
    check: async (conntrack, connect) => {
      await connect([base6]);
      const [found] = conntrack.listConntrack({ family: 6, protocol: 'udp', port: 53 });
      assert.deepEqual({ ...found, id: 0, status: 0 }, entry(base6));
    },
  },
  {
    name: 'deletes by several filters at once',
    check: async (conntrack, connect) => {
      await connect(Object.values(connections));
      const filters: ConntrackFilter[] = [
        { family: 4, protocol: 'udp', port: 53 },
        { family: 6, protocol: 'udp', address: base6.to },
        { family: 4, protocol: 'sctp', port: 54 },
      ];
      await conntrack.deleteConntrack(filters, { signal: AbortSignal.timeout(60_000) });
      const left = ['sctp', 'tcp', 'tcp6', 'udp to another port', 'udp6 to another address'];
      assert.deepEqual(namesOf(conntrack.listConntrack()), left);
      await conntrack.deleteConntrack([]);
    },
  },
  {
    name: 'deletes what a function chooses, and says how much it was',
    check: async (conntrack, connect) => {
      await connect(Object.values(connections));
      const isChosen = ({ original }: ConntrackEntry): boolean => original.protocol === 'tcp';
      const { signal } = new AbortController();
      assert.equal(await conntrack.deleteEntries(isChosen, { signal }), 2);
      assert.equal(await conntrack.deleteEntries(isChosen, { signal }), 0);
      const left = Object.keys(connections).filter((name) => !name.startsWith('tcp'));
      assert.deepEqual(namesOf(conntrack.listConntrack()), left.sort());
      const late = { signal: AbortSignal.abort(new Error('too late')) };
      await assert.rejects(
        conntrack.deleteEntries(() => true, late),
        /too late/,
      );
    },
  },
  {
    name: 'refuses filters that mean everything or nothing, and keeps to the deadline',
    check: async (conntrack, connect) => {
      await connect([base]);
      const { signal } = new AbortController();
      const wrong: ConntrackFilter[] = [
        { family: 4 },
        { family: 4, port: 53 },
        { family: 6, protocol: 'udp', address: base.to },
        { family: 4, protocol: 'udp', address: 'nowhere' },
        { family: 4, protocol: 'udp', port: 65_536 },
      ];
      for (const filter of wrong)
        await assert.rejects(conntrack.deleteConntrack([filter], { signal }), RangeError);
      const reason = new Error('too late');
      const late = { signal: AbortSignal.abort(reason) };
      const all: ConntrackFilter = { family: 4, protocol: 'udp' };
      await assert.rejects(conntrack.deleteConntrack([all], late), (error) => error === reason);
      assert.equal(conntrack.listConntrack().length, 1);
    },
  },
];
