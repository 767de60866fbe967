/** When containers were made, to the nanosecond: Docker's lists have seconds, and which of two sandboxes is newer matters. */
import { type Docker, DockerError, type ListedContainer, parseTime } from './docker/index.js';

export interface CreationTimes {
  /** Nanoseconds since 1970 of each; every container is looked at once in its life. */
  of(listed: readonly ListedContainer[], signal: AbortSignal): Promise<ReadonlyMap<string, bigint>>;
}

/** More than fit on a node; then what is known is forgotten. */
const capacity = 10_000;

export function createCreationTimes(docker: Docker): CreationTimes {
  const known = new Map<string, bigint>();
  const look = async ({ Id, Created }: ListedContainer, signal: AbortSignal): Promise<void> => {
    try {
      known.set(Id, parseTime((await docker.inspectContainer(Id, {}, { signal })).Created));
    } catch (error) {
      // Docker may list what it cannot describe (moby's "RWLayer … is unexpectedly nil"); that must not hide all others.
      if (!(error instanceof DockerError) || error.status === 0) throw error;
      known.set(Id, BigInt(Created) * 1_000_000_000n);
    }
  };
  return {
    async of(listed, signal) {
      if (known.size > capacity) known.clear();
      await Promise.all(listed.filter(({ Id }) => !known.has(Id)).map((one) => look(one, signal)));
      return known;
    },
  };
}
