/** Turns changes of the cluster's pods and nodes into changes of the inputs of policy. */
import type { PodKey } from '@podwire/policy';
import type { Log } from '../../log.js';
import type { PolicyCluster } from '../contract.js';
import type { Changed, PolicyInputs } from './inputs.js';
import { nodeFactOf } from './node-facts.js';
import { followRemoteFacts, type RemoteFacts } from './remote-facts.js';

export interface FollowClusterOptions {
  readonly cluster: PolicyCluster;
  readonly nodeName: string;
  readonly inputs: PolicyInputs;
  readonly push: (changed: Changed) => void;
  /** The store has nothing about a pod of this node any more. */
  readonly noteLost: (pod: PodKey) => void;
  /** This node's own object is another one. */
  readonly refreshNode: () => void;
  readonly log: Log;
}

export const unchanged: Changed = { inputs: [], links: [], released: [], taken: [] };

export function followCluster(options: FollowClusterOptions): RemoteFacts {
  followNodes(options);
  return followPods(options);
}

/** Pods that come in one batch of the store are one change. */
function followPods({ cluster, nodeName, inputs, push, noteLost, log }: FollowClusterOptions): RemoteFacts {
  const { store, keys } = cluster;
  const own = keys.podFactsOf(nodeName);
  let gathered: Changed[] = [];
  return followRemoteFacts(
    { store, keys, log },
    (key, pod, stored) => {
      gathered.push(inputs.noteRemote(key, pod, stored));
      if (stored === undefined && key.startsWith(own)) noteLost(pod);
    },
    () => {
      const all = gathered.flatMap((each) => each.inputs);
      const released = gathered.flatMap((each) => each.released);
      const taken = gathered.flatMap((each) => each.taken);
      gathered = [];
      if (all.length > 0) push({ inputs: all, links: [], released, taken });
    },
  );
}

function followNodes({ cluster, nodeName, inputs, push, refreshNode }: FollowClusterOptions): void {
  const { cache } = cluster;
  const note = (names: Iterable<string>): void => {
    const changes = [...names].flatMap((name) => {
      if (name === nodeName) return [];
      const stored = cache.nodes.get(name);
      return inputs.noteNode(name, stored === undefined ? undefined : nodeFactOf(stored.value));
    });
    if (changes.length > 0) push({ ...unchanged, inputs: changes });
  };
  cache.synced.then(
    () => {
      note(cache.nodes.keys());
      refreshNode();
    },
    () => undefined,
  );
  cache.onChange(({ nodes }) => {
    note(nodes);
    if (nodes.has(nodeName)) refreshNode();
  });
}
