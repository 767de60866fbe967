import { OvsdbClient } from '@podwire/ovsdb';
import type { OpenVSwitchDatabase } from './switch.js';

type Client = OvsdbClient<OpenVSwitchDatabase>;

/** `unix:/run/openvswitch/db.sock`, `tcp:127.0.0.1:6640` */
export const openSwitch = (endpoint: string): Client =>
  new OvsdbClient({ endpoints: [endpoint], database: 'Open_vSwitch' });

/** Adds a port to a bridge, with its interface: all of it, or nothing when there is a port of this name. */
export async function addPort(client: Client, bridge: string, name: string, tag?: number): Promise<string> {
  const [, , { uuid }, { count }] = await client.transact([
    { op: 'wait', table: 'Port', where: [['name', '==', name]], columns: ['name'], until: '==', rows: [] },
    { op: 'insert', table: 'Interface', row: { name, type: 'internal' }, uuidName: 'interface' },
    {
      op: 'insert',
      table: 'Port',
      row: { name, tag, interfaces: [{ namedUuid: 'interface' }] },
      uuidName: 'port',
    },
    {
      op: 'mutate',
      table: 'Bridge',
      where: [['name', '==', bridge]],
      mutations: [['ports', 'insert', [{ namedUuid: 'port' }]]],
    },
  ]);
  if (count === 0) throw new Error(`there is no bridge ${bridge}`);
  return uuid;
}

/** Resolves with the number that the switch has given to a port. */
export async function untilConnected(client: Client, name: string, signal: AbortSignal): Promise<number> {
  const cache = await client.monitor(
    { Interface: { columns: ['name', 'ofport'] } },
    { indexes: { Interface: { name: (row) => row.name } }, signal },
  );
  const numberOf = (): number | undefined => cache.find('Interface', 'name', name)[0]?.ofport;
  await cache.until(() => numberOf() !== undefined, { signal });
  await cache.close();
  return numberOf() ?? -1;
}
