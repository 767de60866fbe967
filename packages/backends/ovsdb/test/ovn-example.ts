import { createRowBackend, type DatabaseDescription, defineRowKind } from '@podwire/backend-ovsdb';
import type { Backend } from '@podwire/engine';
import * as is from '@podwire/engine/checks';
import type { OvsdbClient } from '@podwire/ovsdb';

/** A port of a logical switch that others have made. */
export interface LogicalPort {
  readonly kind: 'logical-port';
  readonly name: string;
  readonly switch: string;
  readonly addresses: readonly string[];
}

declare module '@podwire/engine' {
  interface ResourceKinds {
    'logical-port': LogicalPort;
  }
}

const northbound: DatabaseDescription = {
  database: 'OVN_Northbound',
  tables: {
    Logical_Switch: { word: 'switch', name: 'name', columns: ['ports', 'external_ids'] },
    Logical_Switch_Port: {
      ...{ word: 'port', name: 'name', columns: ['addresses', 'external_ids'] },
      parent: { table: 'Logical_Switch', column: 'ports' },
    },
  },
};

const logicalPort = defineRowKind<LogicalPort>({
  ...{ kind: 'logical-port', backend: 'ovn', database: northbound },
  check: is.resource<LogicalPort>({ name: is.text, switch: is.text, addresses: is.listOf(is.text) }),
  describe: ({ name, switch: of }) => `port ${name} of ${of}`,
  rows: ({ name, switch: parent, addresses }) => [
    { table: 'Logical_Switch_Port', name, parent, columns: { addresses: { value: addresses } } },
  ],
});

export const createNorthboundBackend = (client: OvsdbClient): Backend =>
  createRowBackend({ name: 'ovn', client, database: northbound, kinds: [logicalPort] });
