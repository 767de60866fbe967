/** Waits for it; how it ended is somebody else's affair. */
export async function ignoreFailure(promise: Promise<unknown> | undefined): Promise<void> {
  try {
    await promise;
  } catch {
    // Whoever began it is told.
  }
}
