/** Between a pod agent and its runtime: a CRI server that passes everything on, and whose connections can be cut at any call. */
import fs from 'node:fs';
import net from 'node:net';
import { CriError, connectCri, type CriRuntime, type MethodName, serveCri } from '@podwire/cri';

export interface Interposer {
  /** What the pod agent connects to. */
  readonly socket: string;
  /** All connections end at the next call of the method: before the runtime hears of it, or when it has done its work. */
  cut(method: MethodName, when: 'before' | 'after'): void;
  isPending(): boolean;
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
  let plan: Plan | undefined;
  const fires = (method: string, when: Plan['when']): boolean => {
    if (plan?.method !== method || plan.when !== when) return false;
    plan = undefined;
    for (const client of clients) client.destroy();
    return true;
  };
  const server = await serveCri(withCuts(connection, fires), { socket: `${upstream}.inner` });
  const door = net.createServer((client) => {
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
  await new Promise<void>((resolve) => door.listen(front, resolve));
  return {
    socket: front,
    cut: (method, when) => void (plan = { method, when }),
    isPending: () => plan !== undefined,
    runtime: connection,
    close: async () => {
      for (const client of clients) client.destroy();
      door.close();
      await server.close(100);
      connection.close();
    },
  };
}

type Fires = (method: string, when: Plan['when']) => boolean;
const lost = new CriError('UNAVAILABLE', 'the connection was cut, as the test asked for');

function withCuts(runtime: CriRuntime, fires: Fires): CriRuntime {
  return new Proxy(runtime, {
    get: (inner, name) => {
      const member: unknown = Reflect.get(inner, name);
      if (typeof member !== 'function') return member;
      const method = String(name);
      return (...args: unknown[]) => {
        const call = () => Reflect.apply(member, inner, args) as unknown;
        if (method === 'getContainerEvents') return cutStream(call() as AsyncIterable<unknown>, fires);
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
async function* cutStream(events: AsyncIterable<unknown>, fires: Fires): AsyncIterable<unknown> {
  for await (const event of events) {
    if (fires('getContainerEvents', 'before')) throw lost;
    yield event;
    if (fires('getContainerEvents', 'after')) throw lost;
  }
}
