import { describeError } from '@podwire/errors';
import { formatTraceparent } from '@podwire/tracing';
export const noFaults = { at: () => undefined };
export const noSink = {
    statusChanged: () => undefined,
    terminated: () => undefined,
    event: () => undefined,
};
/** One CRI call: fault points before and after, a span of the pod's trace, a deadline. */
export async function callRuntime({ faults, worker, signal, settings }, name, run, timeoutMs = settings.callTimeoutMs) {
    faults.at(`before ${name}`);
    const span = worker.trace.child(name);
    try {
        const result = await run({ signal, timeoutMs, ...traceparentOf(span) });
        faults.at(`after ${name}`);
        span.end();
        return result;
    }
    catch (error) {
        span.end(error);
        throw error;
    }
}
function traceparentOf(span) {
    const traceparent = formatTraceparent(span.context);
    return traceparent === undefined ? {} : { traceparent };
}
/** A failure becomes an event as well, unless the sync was aborted. */
export async function withFailureEvent({ signal, recordEvent }, reason, what, work) {
    try {
        return await work();
    }
    catch (error) {
        if (!signal.aborted)
            recordEvent('Warning', reason, `${what}: ${describeError(error)}`);
        throw error;
    }
}
/** A pause, longer by up to a half, so that pods that failed together do not come back together. */
export function jittered(milliseconds, random) {
    return Math.round(milliseconds * (1 + random() / 2));
}
//# sourceMappingURL=sync-context.js.map