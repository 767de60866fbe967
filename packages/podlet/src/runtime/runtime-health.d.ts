import type { CriRuntime, RuntimeHandlerFeatures } from '@podwire/cri';
import type { Clock } from '../contract.js';
import type { LoopSettings } from '../settings.js';
/** Whether the runtime answers, and is ready: the gate before the loop (specification §1.3). */
export interface RuntimeHealth {
    /** Why nothing new may begin. */
    problem(): string | undefined;
    /** Why pods cannot get a network; the rest may go on. */
    networkProblem(): string | undefined;
    /** What the runtime has told of a handler; the empty name is the default one's. Undefined where it tells nothing. */
    features(handler: string): RuntimeHandlerFeatures | undefined;
    /** A listing has succeeded. */
    noteRelist(): void;
    run(signal: AbortSignal): Promise<void>;
}
export interface RuntimeHealthOptions {
    readonly runtime: Pick<CriRuntime, 'status'>;
    readonly clock: Clock;
    readonly settings: LoopSettings;
    /** Called after every answer that differs from the one before. */
    readonly onChange: () => void;
}
export declare function createRuntimeHealth(options: RuntimeHealthOptions): RuntimeHealth;
//# sourceMappingURL=runtime-health.d.ts.map