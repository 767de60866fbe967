/**
 * For backends whose changes are all or nothing: carries out as many steps as can be. Those that fail are left out; where
 * all of them fail as one, its halves are tried, so that one bad step costs no other.
 * @param carryOut all of the steps, or none and the failures
 */
export async function carryOutAsFarAsPossible<S, F extends { readonly step: S }>(
  steps: readonly S[],
  carryOut: (steps: readonly S[]) => Promise<readonly F[]>,
): Promise<readonly F[]> {
  if (steps.length === 0) return [];
  const failures = await carryOut(steps);
  if (failures.length === 0 || steps.length === 1) return failures;
  const failed = new Set(failures.map(({ step }) => step));
  if (failed.size < steps.length) {
    const others = steps.filter((step) => !failed.has(step));
    return [...failures, ...(await carryOutAsFarAsPossible(others, carryOut))];
  }
  const middle = Math.ceil(steps.length / 2);
  const first = await carryOutAsFarAsPossible(steps.slice(0, middle), carryOut);
  return [...first, ...(await carryOutAsFarAsPossible(steps.slice(middle), carryOut))];
}
