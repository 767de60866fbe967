import type { SwitchFlow } from '@podwire/backend-openflow/resources';
import type { Flow } from '@podwire/openflow';
import { BRIDGE } from './names.js';

/** Keys of resources that a flow must not stand without. */
type OnlyWith = (flow: Flow) => readonly string[];

/** Flows as resources of the bridge: the lower half of the cookie is the one of OpenShift. */
export const flowResources = (flows: readonly Flow[], onlyWith: OnlyWith = () => []): SwitchFlow[] =>
  flows.map((flow) => {
    const { cookie, table = 0, priority = 0, match = {}, actions, goto: next } = flow;
    const keys = onlyWith(flow);
    return {
      ...{ kind: 'flow', bridge: BRIDGE, table, priority, match },
      ...(cookie === undefined ? {} : { mark: Number(cookie) }),
      ...(actions === undefined ? {} : { actions }),
      ...(next === undefined ? {} : { goto: next }),
      ...(keys.length === 0 ? {} : { onlyWith: keys }),
    };
  });
