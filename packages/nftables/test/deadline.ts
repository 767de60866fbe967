/** Of one call: counted from the start of the file it would be up on a slow machine before the last tests begin. */
export const deadline = (): { readonly signal: AbortSignal } => ({ signal: AbortSignal.timeout(60_000) });
