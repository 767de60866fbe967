import { orAborted } from '@podwire/platform';

/** Work on one pod is serial, on different ones parallel. A key lives only while somebody holds it or waits for it. */
export interface SandboxLocks {
  /** @throws the signal's reason while it waits */
  hold<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
  /** How many keys are held or waited for. */
  readonly size: number;
}

export function createLocks(): SandboxLocks {
  const tails = new Map<string, Promise<void>>();
  return {
    get size() {
      return tails.size;
    },
    async hold(key, signal, work) {
      const before = tails.get(key) ?? Promise.resolve();
      let release = (): void => undefined;
      const own = new Promise<void>((resolve) => (release = resolve));
      const tail = before.then(() => own);
      tails.set(key, tail);
      void tail.then(() => tails.get(key) === tail && tails.delete(key));
      try {
        await orAborted(before, signal);
        return await work();
      } finally {
        release();
      }
    },
  };
}

export const podKey = (namespace: string, name: string): string => `${namespace}/${name}`;
