export const call = () => ({ signal: AbortSignal.timeout(20_000) });
