/** The mirror of the node's bridge, by the names of Kube-OVN. Pods say themselves that they are in it. */
import type { Resource } from '@podwire/engine';
import type { ModelScopes, NodeView } from '@podwire/network-contract';
import { planSwitchedLink } from '@podwire/network-traffic/switched-pod';
import type { Read } from '@podwire/planner';
import { BRIDGE, MIRROR, MIRROR_LINK, MODEL } from '../names.js';
import { optionsOf } from '../options.js';

const kind = 'ovn-mirror';
const ID = 'node';

export const mirrorScope = `${kind}/${ID}`;

const findView = (read: Read): NodeView | undefined =>
  read('sides-for-peers').find(({ model }) => model.name === MODEL)?.view;

/** Also where nothing is mirrored: who listens on the link does not have to begin again when a pod is. */
export const mirrorScopes: ModelScopes = {
  kind,
  list: (read) => (findView(read) === undefined ? [] : [ID]),
  plan(_, read) {
    const view = findView(read);
    return view === undefined ? [] : planMirror(view);
  },
};

/** The node's kernel answers nothing that comes by the link: it is for who listens there. */
const planMirror = ({ network, mtu }: NodeView): Resource[] => [
  {
    ...{ kind: 'ovs-port', name: MIRROR_LINK, bridge: BRIDGE },
    interfaces: [{ name: MIRROR_LINK, type: 'internal', mtuRequest: mtu }],
  },
  { kind: 'ovs-port-ready', port: MIRROR_LINK, isLink: true },
  ...planSwitchedLink(MIRROR_LINK),
  {
    ...{ kind: 'ovs-mirror', name: MIRROR, bridge: BRIDGE, outputPort: MIRROR_LINK },
    selectAll: optionsOf(network).mirror,
  },
];
