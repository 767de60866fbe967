import { createNamespace, deleteNamespace, openNamespace } from '@podwire/linux';
import { type NetlinkConnection, openRouteConnection } from '@podwire/netlink';
import path from 'node:path';

let count = 0;

export interface PrivateNamespace {
  readonly fd: number;
  readonly file: string;
  /** As `ip -n` takes it. */
  readonly name: string;
  readonly connection: NetlinkConnection;
}

/** Runs `work` with a namespace of its own, which is gone afterwards. */
export function withNamespace<T>(work: (namespace: PrivateNamespace) => T): T {
  const namespace = makeNamespace();
  try {
    return work(namespace);
  } finally {
    namespace.dispose();
  }
}

/** As {@link withNamespace}, for asynchronous work. */
export async function withNamespaceAsync<T>(work: (namespace: PrivateNamespace) => Promise<T>): Promise<T> {
  const namespace = makeNamespace();
  try {
    return await work(namespace);
  } finally {
    namespace.dispose();
  }
}

function makeNamespace(): PrivateNamespace & { dispose(): void } {
  const file = `/run/netns/podwire-netlink-${process.pid}-${count++}`;
  createNamespace(file);
  const handle = openNamespace(file);
  const connection = openRouteConnection({ namespace: handle });
  const dispose = () => {
    connection.close();
    handle.close();
    deleteNamespace(file);
  };
  return { fd: handle.fd, file, name: path.basename(file), connection, dispose };
}
