/** Progress as people read it: one line when a step begins to take time, one when it is done. */

const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/**
 * Runs a step and prints what became of it. `work` gets `begin(text)`, to be called before anything slow, and returns a
 * few words on the outcome. An error ends the set-up; its message is all that is printed of it.
 */
export async function showStep(name, work) {
  const since = performance.now();
  const begin = (text) => console.log(`  … ${name}: ${text}`);
  const outcome = await work(begin);
  console.log(`  ✓ ${name}: ${outcome} (${seconds(since)})`);
}

/** An error whose message says everything; no stack is shown for it. */
export class SetupError extends Error {}
