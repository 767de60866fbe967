/** Memory that the requests of all connections share. */
export interface ByteBudget {
  /** @returns whether there was room */
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
}

export function createByteBudget(limit: number): ByteBudget {
  let taken = 0;
  return {
    take: (bytes) => {
      if (taken + bytes > limit) return false;
      taken += bytes;
      return true;
    },
    giveBack: (bytes) => void (taken -= bytes),
  };
}
