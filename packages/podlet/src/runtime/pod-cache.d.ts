import { type ObservedContainer, type ObservedPod, type ObservedSandbox } from '../lifecycle/observed.js';
import type { ContainerEnd, PodLabels } from './labels.js';
/** One sandbox or one container. */
export interface CacheEntry {
    readonly id: string;
    readonly uid: string;
    readonly sandbox?: ObservedSandbox;
    readonly container?: ObservedContainer;
    readonly end?: ContainerEnd;
}
/** Sandboxes and containers by pod and by id. Questions are numbered; see RuntimeView. */
export interface PodCache {
    /** The number of a question that is asked now. */
    nextSequence(): number;
    find(id: string): CacheEntry | undefined;
    put(entry: CacheEntry, labels: PodLabels, sequence: number): void;
    remove(id: string, sequence: number): void;
    /** Notes that a listing has it. @returns what is known of it */
    mark(id: string, sequence: number): CacheEntry | undefined;
    /** Everything that was neither marked nor answered since the sequence. */
    unmarked(sequence: number): CacheEntry[];
    removeOthers(uid: string, listed: ReadonlySet<string>, sequence: number): void;
    observed(uid: string): ObservedPod;
    labels(uid: string): PodLabels | undefined;
    uids(): Iterable<string>;
}
export declare function createPodCache(): PodCache;
//# sourceMappingURL=pod-cache.d.ts.map