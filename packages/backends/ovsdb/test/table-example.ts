import { createRowBackend, type DatabaseDescription, defineRowKind } from '@podwire/backend-ovsdb';
import type { Backend } from '@podwire/engine';
import * as is from '@podwire/engine/checks';
import type { OvsdbClient } from '@podwire/ovsdb';

/** A node on which a port of a logical router, which others have made, may be. */
export interface GatewayChassis {
  readonly kind: 'gateway-chassis';
  readonly name: string;
  readonly port: string;
  readonly chassis: string;
  readonly priority: number;
}

declare module '@podwire/engine' {
  interface ResourceKinds {
    'gateway-chassis': GatewayChassis;
  }
}

const northbound: DatabaseDescription = {
  database: 'OVN_Northbound',
  tables: {
    Logical_Router_Port: {
      ...{ word: 'router port', name: 'name' },
      columns: ['gateway_chassis', 'external_ids'],
    },
    Gateway_Chassis: {
      ...{ word: 'gateway', name: 'name', columns: ['chassis_name', 'priority', 'external_ids'] },
      parents: [{ table: 'Logical_Router_Port', column: 'gateway_chassis' }],
    },
  },
};

const gatewayChassis = defineRowKind<GatewayChassis>({
  ...{ kind: 'gateway-chassis', backend: 'gateways', database: northbound },
  check: is.resource<GatewayChassis>({
    ...{ name: is.text, port: is.text, chassis: is.text, priority: is.numberUpTo(32_767) },
  }),
  describe: ({ name, port }) => `gateway ${name} of ${port}`,
  rows: ({ name, port, chassis, priority }) => [
    {
      ...{ table: 'Gateway_Chassis', name, parent: { table: 'Logical_Router_Port', name: port } },
      columns: { chassis_name: { value: chassis }, priority: { value: priority } },
    },
  ],
});

export const createGatewayBackend = (client: OvsdbClient): Backend =>
  createRowBackend({ name: 'gateways', client, database: northbound, kinds: [gatewayChassis] });
