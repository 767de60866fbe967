/**
 * Owners of addresses, as far as runtimes can know them from the answers they got. Between the answer to an ADD and the
 * next call that may remove the endpoint, no other pod may be given the address.
 */
import assert from 'node:assert/strict';

export interface ExpectedOwners {
  /** A call that may remove endpoints is about to be sent; tell when it is answered. */
  removing(pods: readonly number[]): () => void;
  /** An ADD is about to be sent; tell what it answered with. @throws AssertionError when another pod owns an address of it */
  adding(pod: number): (addresses: readonly string[]) => void;
  /** Certain owners: address → pod. */
  owners(): ReadonlyMap<string, number>;
  clear(): void;
}

export function createExpectedOwners(): ExpectedOwners {
  const owners = new Map<string, number>();
  /** How often something that may remove the pod's endpoint was sent, and how much of that has no answer yet. */
  const removals = new Map<number, { sent: number; open: number }>();
  const removalsOf = (pod: number) => removals.get(pod) ?? { sent: 0, open: 0 };

  function forget(pod: number): void {
    for (const [address, owner] of owners) if (owner === pod) owners.delete(address);
  }

  return {
    removing(pods) {
      for (const pod of pods) {
        const { sent, open } = removalsOf(pod);
        removals.set(pod, { sent: sent + 1, open: open + 1 });
        forget(pod);
      }
      return () => {
        for (const pod of pods) {
          const { sent, open } = removalsOf(pod);
          removals.set(pod, { sent, open: open - 1 });
        }
      };
    },
    adding(pod) {
      const before = removalsOf(pod);
      return (addresses) => {
        const certain = before.open === 0 && removalsOf(pod).sent === before.sent;
        if (!certain) return;
        for (const address of addresses) {
          const owner = owners.get(address) ?? pod;
          assert.equal(owner, pod, `${address} was given to pod ${pod} while pod ${owner} has it`);
          owners.set(address, pod);
        }
      };
    },
    owners: () => owners,
    clear() {
      owners.clear();
      removals.clear();
    },
  };
}
