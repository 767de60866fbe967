/** What stands while the demo runs. */
import type { EndpointView } from '../api/shapes.js';
import type { PodManifest } from '../manifest.js';
import type { DemoAgent } from './agent.js';
import type { DemoRuntime } from './attach.js';
import type { DemoHost } from './host.js';
import type { OpenLedger } from './ledger.js';
import type { DemoNamespace } from './namespaces.js';
import type { Peer } from './peers.js';

/** A pod of the demo, attached. */
export interface DemoPod {
  readonly endpoint: EndpointView;
  /** Milliseconds from before the plugin's start until it had ended. */
  readonly add: number;
}

export interface Scene {
  readonly ledger: OpenLedger;
  readonly host: DemoHost;
  readonly agent: DemoAgent;
  readonly runtime: DemoRuntime;
  readonly attached: Attached[];
  readonly peers: Map<string, Peer>;
}

export interface Attached {
  readonly pod: PodManifest;
  readonly namespace: DemoNamespace;
  readonly add: number;
}

/** A scene that may not be complete. */
export type Standing = Partial<Scene> & Pick<Scene, 'ledger' | 'attached' | 'peers'>;
