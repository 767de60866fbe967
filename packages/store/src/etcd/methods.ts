/** etcd's calls, from the generated definitions. */
import {
  AuthDefinition,
  type AuthenticateRequest,
  type AuthenticateResponse,
  type DeleteRangeRequest,
  type DeleteRangeResponse,
  KVDefinition,
  LeaseDefinition,
  type LeaseGrantRequest,
  type LeaseGrantResponse,
  type LeaseKeepAliveRequest,
  type LeaseKeepAliveResponse,
  type LeaseRevokeRequest,
  type LeaseRevokeResponse,
  type PutRequest,
  type PutResponse,
  type RangeRequest,
  type RangeResponse,
  type TxnRequest,
  type TxnResponse,
  WatchDefinition,
  type WatchRequest,
  type WatchResponse,
} from './generated/rpc.js';

export interface Method<Request, Response> {
  /** `Range` */
  readonly name: string;
  /** `/etcdserverpb.KV/Range` */
  readonly path: string;
  readonly encode: (request: Request) => Buffer;
  readonly decode: (bytes: Buffer) => Response;
}

interface Definition {
  readonly name: string;
  readonly requestType: {
    fromPartial(object: unknown): unknown;
    encode(message: unknown): { finish(): Uint8Array };
  };
  readonly responseType: { decode(bytes: Uint8Array): unknown };
}

/** Fields that a request does not name have their defaults. */
type Request<T> = { readonly [Key in keyof T]?: Partial<T[Key]> | T[Key] };

function method<Q, A>(service: string, definition: unknown): Method<Request<Q>, A> {
  const { name, requestType, responseType } = definition as Definition;
  return {
    name,
    path: `/${service}/${name}`,
    encode: (request) => {
      const bytes = requestType.encode(requestType.fromPartial(request)).finish();
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
    decode: (bytes) => responseType.decode(bytes) as A,
  };
}

const { fullName: kv, methods: kvMethods } = KVDefinition;
const { fullName: lease, methods: leaseMethods } = LeaseDefinition;

export const range = method<RangeRequest, RangeResponse>(kv, kvMethods.range);
export const put = method<PutRequest, PutResponse>(kv, kvMethods.put);
export const deleteRange = method<DeleteRangeRequest, DeleteRangeResponse>(kv, kvMethods.deleteRange);
export const txn = method<TxnRequest, TxnResponse>(kv, kvMethods.txn);
export const leaseGrant = method<LeaseGrantRequest, LeaseGrantResponse>(lease, leaseMethods.leaseGrant);
export const leaseRevoke = method<LeaseRevokeRequest, LeaseRevokeResponse>(lease, leaseMethods.leaseRevoke);
/** A stream, of which one question and one answer are used: on the wire that is a plain call. */
export const leaseKeepAlive = method<LeaseKeepAliveRequest, LeaseKeepAliveResponse>(
  lease,
  leaseMethods.leaseKeepAlive,
);
export const authenticate = method<AuthenticateRequest, AuthenticateResponse>(
  AuthDefinition.fullName,
  AuthDefinition.methods.authenticate,
);
export const watch = method<WatchRequest, WatchResponse>(
  WatchDefinition.fullName,
  WatchDefinition.methods.watch,
);
