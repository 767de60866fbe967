import type { SwitchFlow } from '@podwire/backend-openflow/resources';
import type { Flow } from '@podwire/openflow';
import { BRIDGE } from './names.js';

/**
 * Flows as resources of the bridge: the lower half of the cookie is the one of OpenShift.
 * @param onlyWith keys of resources that they must not stand without
 */
export const flowResources = (flows: readonly Flow[], onlyWith: readonly string[] = []): SwitchFlow[] =>
  flows.map(({ cookie, table = 0, priority = 0, match = {}, actions, goto: next }) => ({
    ...{ kind: 'flow', bridge: BRIDGE, table, priority, match },
    ...(cookie === undefined ? {} : { mark: Number(cookie) }),
    ...(actions === undefined ? {} : { actions }),
    ...(next === undefined ? {} : { goto: next }),
    ...(onlyWith.length === 0 ? {} : { onlyWith }),
  }));
