/** Open vSwitch of the node: its database, and the flows of its bridges. Connections are made when something needs them. */
import path from 'node:path';
import { createFlowBackend } from '@podwire/backend-openflow';
import { createSwitchBackend } from '@podwire/backend-ovsdb';
import type { Backend } from '@podwire/engine';
import { openSwitch } from '@podwire/openflow';
import { OvsdbClient } from '@podwire/ovsdb';

/** @param runDir of ovsdb-server and ovs-vswitchd, with their sockets */
export const openSwitchBackends = (runDir: string, bridges: readonly string[]): Backend[] => [
  createSwitchBackend(
    new OvsdbClient({ database: 'Open_vSwitch', endpoints: [`unix:${path.join(runDir, 'db.sock')}`] }),
  ),
  createFlowBackend({
    bridges,
    open: (bridge, options) => openSwitch(path.join(runDir, `${bridge}.mgmt`), options),
  }),
];
