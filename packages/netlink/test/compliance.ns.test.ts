import { test } from 'node:test';
import { createNamespace, deleteNamespace, openNamespace } from '@podwire/linux';
import { openRouteConnection } from '@podwire/netlink';
import { complianceCases } from './compliance/index.js';

let count = 0;

/** Runs `work` with a new namespace, which is gone afterwards. */
function withNamespace<T>(work: (namespace: { fd: number }) => T): T {
  const file = `/run/netns/netlink-compliance-${process.pid}-${count++}`;
  createNamespace(file);
  const handle = openNamespace(file);
  try {
    return work(handle);
  } finally {
    handle.close();
    deleteNamespace(file);
  }
}

/** As {@link withNamespace}, with a connection into it. */
function withConnection<T>(
  work: (namespace: { fd: number; connection: ReturnType<typeof openRouteConnection> }) => T,
): T {
  return withNamespace(({ fd }) => {
    const connection = openRouteConnection({ fd });
    try {
      return work({ fd, connection });
    } finally {
      connection.close();
    }
  });
}

for (const { name, run } of complianceCases) {
  test(`the real kernel: ${name}`, () => {
    withConnection((host) => withConnection((pod) => run({ host, pod })));
  });
}
