/** Between a pod agent and its runtime: a CRI server that passes everything on, and whose connections can be cut at any call. */
import fs from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { CriError, connectCri, type CriRuntime, type MethodName, serveCri } from '@podwire/cri';

export interface Interposer {
  /** Socket that the pod agent connects to. */
  readonly socket: string;
  /** All connections end at the next call of the method: before the runtime hears of it, or when it has done its work. */
  cut(method: MethodName, when: 'before' | 'after'): void;
  /** Resolves when the connections have been cut: some calls are made on their own schedule. @throws Error after 30 s */
  untilCut(): Promise<void>;
  /** Resolves when a client follows the runtime's events: after a cut that takes a moment. */
  untilFollowed(): Promise<void>;
  /** The runtime itself, past all faults. */
  readonly runtime: CriRuntime;
  close(): Promise<void>;
}

interface Plan {
  readonly method: string;
  readonly when: 'before' | 'after';
}

/** @param upstream the runtime's socket; own sockets are made beside it */
export async function startInterposer(upstream: string): Promise<Interposer> {
  const connection = await connectCri({ socket: upstream });
  const front = `${upstream}.front`;
  const clients = new Set<net.Socket>();
  const following: Following = { count: 0, waiting: [] };
  let plan: Plan | undefined;
  const fires = (method: string, when: Plan['when']): boolean => {
    if (plan?.method !== method || plan.when !== when) return false;
    plan = undefined;
    for (const client of clients) client.destroy();
    return true;
  };
  const server = await serveCri(withCuts(connection, fires, following), { socket: `${upstream}.inner` });
  const listener = net.createServer((client) => {
    const inner = net.connect(server.socket);
    clients.add(client);
    client.on('close', () => clients.delete(client) && inner.destroy());
    inner.on('close', () => client.destroy());
    for (const [from, to] of [
      [client, inner],
      [inner, client],
    ] as const)
      from.on('error', () => to.destroy()).pipe(to);
  });
  fs.rmSync(front, { force: true });
  await new Promise<void>((resolve) => listener.listen(front, resolve));
  return {
    socket: front,
    cut: (method, when) => void (plan = { method, when }),
    untilCut: async () => {
      for (const end = performance.now() + 30_000; plan !== undefined; await sleep(20))
        if (performance.now() > end) throw new Error(`${plan.method} is not called`);
    },
    untilFollowed: () =>
      new Promise((resolve) => {
        if (following.count > 0) resolve();
        else following.waiting.push(resolve);
      }),
    runtime: connection,
    close: async () => {
      for (const client of clients) client.destroy();
      listener.close();
      await server.close(100);
      connection.close();
    },
  };
}

/** Client that follows events now, and those that wait for that. */
interface Following {
  count: number;
  readonly waiting: (() => void)[];
}

type Fires = (method: string, when: Plan['when']) => boolean;
const lost = new CriError('UNAVAILABLE', 'the connection was cut, as the test asked for');

function withCuts(runtime: CriRuntime, fires: Fires, following: Following): CriRuntime {
  return new Proxy(runtime, {
    get: (inner, name) => {
      const member: unknown = Reflect.get(inner, name);
      if (typeof member !== 'function') return member;
      const method = String(name);
      return (...args: unknown[]) => {
        const call = () => Reflect.apply(member, inner, args) as unknown;
        if (method === 'getContainerEvents')
          return cutStream(call() as AsyncIterable<unknown>, fires, following);
        return cutCall(call as () => Promise<unknown>, method, fires);
      };
    },
  });
}

async function cutCall(call: () => Promise<unknown>, method: string, fires: Fires): Promise<unknown> {
  if (fires(method, 'before')) throw lost;
  const answer = await call();
  if (fires(method, 'after')) throw lost;
  return answer;
}

/** Before and after an event goes through. */
async function* cutStream(
  events: AsyncIterable<unknown>,
  fires: Fires,
  following: Following,
): AsyncIterable<unknown> {
  following.count += 1;
  for (const tell of following.waiting.splice(0)) tell();
  try {
    for await (const event of events) {
      if (fires('getContainerEvents', 'before')) throw lost;
      yield event;
      if (fires('getContainerEvents', 'after')) throw lost;
    }
  } finally {
    following.count -= 1;
  }
}
