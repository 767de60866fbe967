import type { MethodName } from '../methods.js';

const MINUTE = 60_000;
const usual = 2 * MINUTE;

/** How long requests themselves say that they may take, in seconds; 0 of ExecSync: as long as it takes. */
interface Timed {
  readonly timeout: bigint;
}

/**
 * Milliseconds until a call is given up when the caller does not say; undefined: never. As the kubelet does: pulls and
 * programs without a limit of their own end by the caller's signal, and events go on.
 */
export function defaultTimeoutMs(method: MethodName, request: unknown): number | undefined {
  switch (method) {
    case 'runPodSandbox':
      return 4 * MINUTE;
    case 'stopContainer':
      return usual + Number((request as Timed).timeout) * 1000;
    case 'execSync': {
      const seconds = Number((request as Timed).timeout);
      return seconds === 0 ? undefined : usual + seconds * 1000;
    }
    case 'pullImage':
    case 'getContainerEvents':
      return undefined;
    default:
      return usual;
  }
}
