/** Something that is started when it is first wanted. */
export interface OnDemand<T> {
  /** Starts it, or joins whoever does. One that could not be started is tried again by whoever wants it next. @throws as the start does */
  get(): Promise<T>;
  /** What was started, or is being started; undefined when nobody has wanted it, or it could not be started. Never rejects. */
  started(): Promise<T | undefined>;
}

export function createOnDemand<T>(start: () => Promise<T>): OnDemand<T> {
  let known: Promise<T> | undefined;
  const attempt = (): Promise<T> =>
    start().catch((error: unknown) => {
      known = undefined;
      throw error;
    });
  return {
    get: () => (known ??= attempt()),
    started: async () => known?.catch(() => undefined),
  };
}
