/** A bridge, fake or real, for the compliance suite of backends. */
import type { Backend, Owned, Resource } from '@podwire/engine';
import type { BackendSubject, ExchangeLists } from '@podwire/engine/compliance';
import {
  addFlow,
  addGroup,
  deleteFlow,
  type Flow,
  type Group,
  type Meter,
  type OpenOptions,
  type SwitchConnection,
} from '@podwire/openflow';
import { createFlowBackend, type FlowGroup, type FlowMeter, type SwitchFlow } from '../src/index.js';

export const BRIDGE = 'br0';

type Rest<R, Given> = Omit<R, 'kind' | 'bridge' | keyof Given>;

export const flow = (more: Partial<Rest<SwitchFlow, object>> & { table: number }): SwitchFlow => ({
  ...{ kind: 'flow', bridge: BRIDGE, priority: 100, match: {} },
  ...more,
});

const output = (port: number) => ({ type: 'output', port }) as const;

/** Sends what goes to this address somewhere else. */
export const route = (address: string, port: number, more: Partial<SwitchFlow> = {}): SwitchFlow =>
  flow({ table: 31, match: { eth_type: 0x0800, ip_dst: address }, actions: [output(port)], ...more });

export const group = (id: number, ...ports: readonly number[]): FlowGroup => ({
  ...{ kind: 'flow-group', bridge: BRIDGE, id, type: 'select' },
  buckets: ports.map((port) => ({ actions: [output(port)] })),
});

export const meter = (id: number, rate: number): FlowMeter => ({
  ...{ kind: 'flow-meter', bridge: BRIDGE, id: 0x7000 + id, unit: 'kbps', bands: [{ rate }] },
});

const toGroup = (id: number): SwitchFlow =>
  flow({ table: 60, match: { reg0: id }, actions: [{ type: 'group', group: id }] });
const metered = (id: number): SwitchFlow =>
  flow({ table: 61, match: { reg0: id }, meter: 0x7000 + id, actions: [output(1)] });

const broken = route('10.1.0.9', 4);

export const node: Owned = { owner: 'node', resources: [flow({ table: 0, priority: 0, goto: 31 })] };

export const owned: Owned = {
  owner: 'network:1',
  resources: [
    ...[meter(1, 1_000), group(7, 2, 3), toGroup(7), metered(1)],
    ...[route('10.1.0.0/16', 2, { mark: 0x1234 }), flow({ table: 31, priority: 0 }), broken],
  ],
};

const exchange: ExchangeLists = {
  first: [meter(2, 5), group(8, 1), toGroup(8), metered(2), route('10.2.0.1', 1), route('10.2.0.2', 2)],
  second: [meter(2, 9), group(9, 2), toGroup(9), metered(2), route('10.2.0.1', 3), route('10.2.0.3', 2)],
  refused: [meter(3, 1), group(10, 1), route('10.2.0.1', 5), route('10.2.0.4', 0xff05)],
};

/** Everything on a bridge, without counters. */
export interface Picture {
  readonly flows: readonly Flow[];
  readonly groups: readonly Group[];
  readonly meters: readonly Meter[];
}

const inOrder = <T>(list: readonly T[]): T[] =>
  list
    .map((one) => [JSON.stringify(one), one] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, one]) => one);

export async function pictureOf(connection: SwitchConnection): Promise<Picture> {
  return {
    flows: inOrder((await connection.dump('flow')).map((entry) => entry.flow)),
    groups: inOrder(await connection.dump('groupDescription')),
    meters: inOrder(await connection.dump('meterConfig')),
  };
}

export type OpenFlowConnection = (options?: OpenOptions) => Promise<SwitchConnection>;

/** @param connect to a bridge without flows of ours */
export function createSubject(connect: OpenFlowConnection): BackendSubject {
  const use = async <T>(work: (connection: SwitchConnection) => Promise<T>): Promise<T> => {
    const connection = await connect();
    try {
      return await work(connection);
    } finally {
      connection.close();
    }
  };
  const backend = (): Backend =>
    createFlowBackend({ bridges: [BRIDGE], open: (_, options) => connect(options) });
  const foreign = { table: 31, priority: 100, match: broken.match, actions: [output(9)] };
  return {
    base: node,
    owned,
    backends: () => [backend()],
    picture: () => use(pictureOf),
    exchange,
    replacement: [
      meter(1, 2_000),
      group(7, 4),
      route('10.1.0.0/16', 5, { mark: 0x5678 }),
      flow({ table: 31, priority: 0, clear: true, goto: 40 }),
    ] as readonly Resource[],
    many: (count) => Array.from({ length: count }, (_, n) => route(`10.9.${n >> 8}.${n & 255}`, 1)),
    broken,
    break: async () => {
      await use((connection) => connection.send([addFlow(foreign)]));
      return () => use((connection) => connection.send([deleteFlow(foreign)]));
    },
    damage: () =>
      use(async (connection) => {
        const { table, priority, match } = route('10.1.0.0/16', 2);
        await connection.send([
          deleteFlow({ table: 31, priority: 100, match: broken.match }),
          {
            ...{ type: 'flow_mod', command: 'modify_strict' },
            flow: { table, priority, match, actions: [output(9)] },
          },
          {
            ...{ type: 'meter_mod', command: 'modify' },
            meter: { id: 0x7001, unit: 'pktps', bands: [{ rate: 1 }] },
          },
        ]);
      }),
    addForeign: () =>
      use((connection) =>
        connection.send([
          addFlow({ ...foreign, priority: 99, cookie: '0x706f6477' }),
          addGroup({ id: 12, type: 'all', buckets: [{ actions: [output(3)] }] }),
          addFlow({ table: 60, match: { reg0: 12 }, actions: [{ type: 'group', group: 12 }] }),
        ]),
      ),
    close: () => undefined,
  };
}
