/** Readiness of the agent, and what stands against it. */
export interface Readiness {
  /** Records are read, leases adopted, and the last reconcile left the node's own part in order. */
  ready: boolean;
  /** Why not; or what is wrong although it is (a later reconcile that was not possible at all). */
  problem: string | undefined;
}
