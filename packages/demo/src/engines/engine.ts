/** A real container engine for the demo: an instance of its own inside the private host. */
import type { OpenRecord } from '../record.js';
import type { DemoNamespace } from '../namespaces.js';
import type { Programs } from '../prerequisites.js';

export const runtimeNames = ['embedded', 'containerd', 'docker'] as const;
export type RuntimeName = (typeof runtimeNames)[number];

export interface EngineCall {
  readonly node: DemoNamespace;
  readonly record: OpenRecord;
  readonly programs: Programs;
  readonly signal: AbortSignal;
}

export interface Engine {
  /** Value of `podwire podlet --runtime`. */
  readonly runtime: string;
  /** Further words for it. */
  readonly more: readonly string[];
}
