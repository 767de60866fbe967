/**
 * The seam between the protocol (`conversation.ts`) and whatever carries datagrams to a kernel: a socket, or the
 * fake kernel. Datagrams hold one or more netlink messages.
 */
export interface NetlinkPort {
  /** @throws SystemError */
  send(datagram: Uint8Array): void;
  /** As {@link send}, without blocking the caller. `datagram` belongs to the port until the promise settles. */
  sendAsync(datagram: Uint8Array): Promise<void>;
  /**
   * Receives one datagram into `into` and returns its real length, which is more than `into.length` when it was
   * cut. With `wait` false, or when the port's time limit has passed, `undefined` means that none is there.
   * @throws SystemError `ENOBUFS` when the kernel had to drop datagrams since the last call.
   */
  receive(into: Uint8Array, wait: boolean): number | undefined;
  /** Identifier of this end in events that its requests have caused; 0 before the first one. */
  portId(): number;
  /** Forgets every answer that is still to come: of a dump that is given up, the kernel would go on to send the rest. */
  renew(): void;
  close(): void;
}
