import { type CriRuntime } from '@podwire/cri';
import type { ObservedPod } from '../lifecycle/observed.js';
import { type ContainerEnd, type PodLabels } from './labels.js';
/**
 * What the runtime has, as far as known. Each sandbox and container carries the number of the question that its
 * state is the answer to; an answer to an older sequence never replaces one to a newer, whoever asked.
 * So a worker that has just started a container is not set back by a listing that began before.
 */
export interface RuntimeView {
    observed(uid: string): ObservedPod;
    labels(uid: string): PodLabels | undefined;
    /** How a container ends, as written on it. */
    endOf(containerId: string): ContainerEnd | undefined;
    uids(): Iterable<string>;
    /** Asks for one thing anew. What the runtime does not know is forgotten. @throws CriError */
    refreshSandbox(id: string, signal: AbortSignal): Promise<void>;
    refreshContainer(id: string, sandboxId: string, signal: AbortSignal): Promise<void>;
    /** Lists one pod and fetches for everything of it anew. @throws CriError */
    refreshPod(uid: string, signal: AbortSignal): Promise<void>;
    /** We have removed it. */
    forget(id: string): void;
    /** Lists everything, fetches for what has changed. @returns whose pods have. @throws CriError when a listing fails */
    relist(signal: AbortSignal): Promise<Relisted>;
}
export interface Relisted {
    readonly changed: ReadonlySet<string>;
    /** Sandboxes that somebody else has removed: their network may still be there. */
    readonly vanished: readonly {
        readonly id: string;
        readonly uid: string;
    }[];
}
export interface RuntimeViewOptions {
    readonly runtime: CriRuntime;
    /** Only what carries this node's label is ours. */
    readonly node: string;
    readonly concurrentStatus: number;
    /** Of each sequence. */
    readonly callTimeoutMs: number;
}
export declare function createRuntimeView(options: RuntimeViewOptions): RuntimeView;
//# sourceMappingURL=runtime-view.d.ts.map