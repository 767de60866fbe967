import type { PodEvent, PodEventType } from '../contract.js';
/** What people are told of one pod. The same thing said again counts up instead of filling the list. */
export interface PodEvents {
    /** @returns the event as it stands now. */
    add(type: PodEventType, reason: string, message: string, now: number): PodEvent;
    list(): readonly PodEvent[];
}
export declare function createPodEvents(): PodEvents;
//# sourceMappingURL=pod-events.d.ts.map