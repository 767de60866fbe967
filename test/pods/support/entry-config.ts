/** Configuration of the entries of these tests: a file of JSON. */
import type { LoopSettings } from '@podwire/podlet';

export interface NetworkPlaces {
  readonly configDirectory: string;
  readonly pluginPath: readonly string[];
  readonly stateDirectory: string;
  /** Milliseconds for one ADD or DEL of a whole network. */
  readonly timeoutMs?: number;
}

export interface RuntimeConfig {
  /** `embedded`, `docker`, or the path of a CRI socket. */
  readonly runtime: string;
  /** State, logs, socket of the API: all below it. */
  readonly directory: string;
  /** Stands for the boot. */
  readonly bootIdFile: string;
  /** State that a boot empties: namespaces that are pinned, and shared memory. */
  readonly netnsDirectory: string;
  readonly network: NetworkPlaces;
  readonly dockerSocket?: string;
  readonly sandboxImage?: string;
}

export interface PodAgentConfig extends RuntimeConfig {
  readonly manifests: readonly string[];
  /** An API server to take pods from, too. */
  readonly server?: string;
  readonly settings?: Partial<LoopSettings>;
}

export interface CriServiceConfig extends RuntimeConfig {
  /** Where it listens. */
  readonly socket: string;
}
