export const unprobed = {
    probeResult: undefined,
    lastResult: undefined,
    count: 0,
    finished: false,
};
export function nextProbeState(state, { result }, kind, thresholds) {
    if (result === 'unknown')
        return state;
    const isSuccess = result === 'success';
    const count = state.lastResult === isSuccess ? state.count + 1 : 1;
    const counted = { ...state, lastResult: isSuccess, count };
    const threshold = isSuccess ? thresholds.successThreshold : thresholds.failureThreshold;
    if (count < threshold)
        return counted;
    return { ...counted, probeResult: isSuccess, finished: isFinal(kind, isSuccess) };
}
/** A startup probe that succeeded has done its work; a container that failed its life or start is about to be ended. */
function isFinal(kind, isSuccess) {
    if (kind === 'startup')
        return true;
    return kind === 'liveness' && !isSuccess;
}
export const success = (why = 'ok') => ({ result: 'success', why });
export const failure = (why) => ({ result: 'failure', why });
export const unknown = (why) => ({ result: 'unknown', why });
//# sourceMappingURL=probe-state.js.map