/** A member of etcd that says what a test wants it to say. */
import * as grpc from '@grpc/grpc-js';
import {
  AuthDefinition,
  KVDefinition,
  type WatchRequest,
  WatchDefinition,
} from '../src/etcd/generated/rpc.js';

export interface FakeCall {
  readonly name: string;
  readonly request: unknown;
  readonly token: string | undefined;
  readonly needsLeader: boolean;
}

/** Status and words of etcd's errors. */
export class Refusal extends Error {
  readonly code: grpc.status;

  constructor(code: grpc.status, message: string) {
    super(message);
    this.code = code;
  }
}

export const refusals = {
  noLeader: new Refusal(grpc.status.UNAVAILABLE, 'etcdserver: no leader'),
  timedOut: new Refusal(grpc.status.UNAVAILABLE, 'etcdserver: request timed out'),
  invalidToken: new Refusal(grpc.status.UNAUTHENTICATED, 'etcdserver: invalid auth token'),
  denied: new Refusal(grpc.status.PERMISSION_DENIED, 'etcdserver: permission denied'),
  noLease: new Refusal(grpc.status.NOT_FOUND, 'etcdserver: requested lease not found'),
  compacted: new Refusal(grpc.status.OUT_OF_RANGE, 'etcdserver: mvcc: required revision has been compacted'),
} as const;

export interface FakeEtcd {
  readonly endpoint: string;
  /** Of all calls so far. */
  readonly calls: readonly FakeCall[];
  close(): void;
}

export interface Behaviour {
  /** The answer's fields. @throws Refusal */
  readonly answer: (call: FakeCall) => object;
  /** Responses to a watch after its request. */
  readonly watch?: (request: WatchRequest, tell: (response: object | Refusal) => void) => void;
}

interface Codec {
  decode(bytes: Uint8Array): unknown;
  encode(message: unknown): { finish(): Uint8Array };
  fromPartial(object: unknown): unknown;
}

interface Definition {
  readonly name: string;
  readonly requestType: Codec;
  readonly responseType: Codec;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
}

export async function startFakeEtcd(behaviour: Behaviour): Promise<FakeEtcd> {
  const server = new grpc.Server();
  const calls: FakeCall[] = [];
  const note = (name: string, request: unknown, metadata: grpc.Metadata): FakeCall => {
    const [token] = metadata.get('token');
    const call = {
      name,
      request,
      token: typeof token === 'string' ? token : undefined,
      needsLeader: metadata.get('hasleader')[0] === 'true',
    };
    calls.push(call);
    return call;
  };
  for (const service of [KVDefinition, AuthDefinition, WatchDefinition])
    server.addService(describeService(service.fullName, service.methods), {
      ...Object.fromEntries(
        Object.values(service.methods).map(({ name }: { name: string }) => [
          name,
          (
            { request, metadata }: grpc.ServerUnaryCall<unknown, unknown>,
            reply: grpc.sendUnaryData<unknown>,
          ) => {
            try {
              reply(null, behaviour.answer(note(name, request, metadata)));
            } catch (error) {
              const { code, message } = error as Refusal;
              reply({ code, details: message });
            }
          },
        ]),
      ),
      Watch: (call: grpc.ServerDuplexStream<WatchRequest, object>) => {
        call.on('error', () => undefined);
        call.on('data', (request: WatchRequest) => {
          note('Watch', request, call.metadata);
          behaviour.watch?.(request, (response) => {
            if (response instanceof Refusal)
              call.emit('error', { code: response.code, details: response.message });
            else call.write(response);
          });
        });
      },
    });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { endpoint: `http://127.0.0.1:${port}`, calls, close: () => server.forceShutdown() };
}

function describeService(fullName: string, methods: object): grpc.ServiceDefinition {
  return Object.fromEntries(
    (Object.values(methods) as Definition[]).map((each) => [
      each.name,
      {
        path: `/${fullName}/${each.name}`,
        requestStream: each.requestStream,
        responseStream: each.responseStream,
        requestSerialize: (message: unknown) => Buffer.from(each.requestType.encode(message).finish()),
        requestDeserialize: (bytes: Buffer) => each.requestType.decode(bytes),
        responseSerialize: (message: unknown) =>
          Buffer.from(each.responseType.encode(each.responseType.fromPartial(message)).finish()),
        responseDeserialize: (bytes: Buffer) => each.responseType.decode(bytes),
      },
    ]),
  );
}
