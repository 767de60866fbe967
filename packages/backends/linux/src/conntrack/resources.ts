/**
 * No connection-tracking entry of earlier owners survives for this destination: applied and removed alike by
 * deleting the entries whose original destination matches. It leaves nothing behind and is never adrift.
 */
export interface ConntrackReset {
  readonly kind: 'conntrack-reset';
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  /** Original destination address; any address of the family when absent. */
  readonly address?: string;
  readonly family: 4 | 6;
  /** Original destination port; any when absent. */
  readonly port?: number;
}

/** The kinds of this backend, by name. */
export interface ConntrackResources {
  'conntrack-reset': ConntrackReset;
}
