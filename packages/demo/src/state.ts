/** State while the demo runs. */
import type { PodView } from '@podwire/podlet';
import type { EndpointView } from '@podwire/cli/pods';
import type { DemoHost } from './host.js';
import type { OpenRecord } from './record.js';
import type { DemoNamespace } from './namespaces.js';
import type { Peer } from './peers.js';

/** A pod of the demo, as the pod agent and as the node agent see it. */
export interface DemoPod {
  readonly view: PodView;
  readonly endpoint: EndpointView;
  /** Milliseconds from its manifest until all of its containers were started. */
  readonly started: number;
}

/** State so far. */
export interface DemoState {
  readonly record: OpenRecord;
  host?: DemoHost;
  /** True once pods may be up. */
  up?: boolean;
  readonly peers: Map<string, Peer>;
  /** Of pods, opened for the peers. */
  readonly namespaces: DemoNamespace[];
}
