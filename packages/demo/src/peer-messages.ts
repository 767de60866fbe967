/** Messages between the demo and the processes in its namespaces. */

export type PeerProtocol = 'tcp' | 'udp';

/** The argument of `peer.js`, as JSON. */
export interface PeerSettings {
  readonly name: string;
  readonly ports: readonly PeerPort[];
}

export interface PeerPort {
  readonly protocol: PeerProtocol;
  readonly port: number;
  /** When something in the pod listens there already, that answers. */
  readonly unlessTaken?: boolean;
}

/** Answer of a peer to a request. */
export interface PeerAnswer {
  readonly name: string;
  /** Whom it sees: the asker, after all translation. */
  readonly seen: { readonly address: string; readonly port: number };
}

export type PeerOrder = { readonly id: number; readonly address: string; readonly port: number } & (
  | { readonly kind: 'ask'; readonly protocol: PeerProtocol }
  | { readonly kind: 'pour'; readonly bytes: number }
);

export type PeerMessage =
  | 'ready'
  | { readonly id: number; readonly value: unknown; readonly milliseconds: number }
  | { readonly id: number; readonly error: string; readonly milliseconds: number };
