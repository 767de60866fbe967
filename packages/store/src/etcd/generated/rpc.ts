// Written by scripts/generate-messages.mjs from rpc.proto. Do not edit.
import {
  bool,
  bytes,
  defineMessage,
  enumeration,
  int64Number,
  int64Text,
  message,
  messages,
  one,
  optional,
  string,
  type MessageType,
  uint64Text,
} from '@podwire/protobuf';
import { Event, KeyValue } from './kv.js';

/** etcd's interface for clients, as far as Podwire uses it. Package, names and numbers are those of etcd 3.4 and 3.5. */

export interface ResponseHeader {
  readonly clusterId: string;
  readonly revision: number;
}

export const ResponseHeader: MessageType<ResponseHeader> = defineMessage({
  clusterId: one(1, uint64Text),
  revision: one(3, int64Number),
});

export interface RangeRequest {
  readonly key: Buffer;
  /** Where the range ends, exclusive; absent: this key alone; one zero byte: no end. */
  readonly rangeEnd: Buffer;
  readonly limit: number;
  /** As of this revision; 0: now. */
  readonly revision: number;
  /** Counts instead of giving the items. */
  readonly countOnly: boolean;
}

export const RangeRequest: MessageType<RangeRequest> = defineMessage({
  key: one(1, bytes),
  rangeEnd: one(2, bytes),
  limit: one(3, int64Number),
  revision: one(4, int64Number),
  countOnly: one(9, bool),
});

export interface RangeResponse {
  readonly header?: ResponseHeader | undefined;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
}

export const RangeResponse: MessageType<RangeResponse> = defineMessage({
  header: message(1, () => ResponseHeader),
  kvs: messages(2, () => KeyValue),
  more: one(3, bool),
});

export interface PutRequest {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly lease: string;
}

export const PutRequest: MessageType<PutRequest> = defineMessage({
  key: one(1, bytes),
  value: one(2, bytes),
  lease: one(3, int64Text),
});

export interface PutResponse {
  readonly header?: ResponseHeader | undefined;
}

export const PutResponse: MessageType<PutResponse> = defineMessage({
  header: message(1, () => ResponseHeader),
});

export interface DeleteRangeRequest {
  readonly key: Buffer;
}

export const DeleteRangeRequest: MessageType<DeleteRangeRequest> = defineMessage({
  key: one(1, bytes),
});

export interface DeleteRangeResponse {
  readonly header?: ResponseHeader | undefined;
  readonly deleted: number;
}

export const DeleteRangeResponse: MessageType<DeleteRangeResponse> = defineMessage({
  header: message(1, () => ResponseHeader),
  deleted: one(2, int64Number),
});

export interface RequestOp {
  readonly requestRange?: RangeRequest | undefined;
  readonly requestPut?: PutRequest | undefined;
  readonly requestDeleteRange?: DeleteRangeRequest | undefined;
}

export const RequestOp: MessageType<RequestOp> = defineMessage({
  requestRange: message(1, () => RangeRequest),
  requestPut: message(2, () => PutRequest),
  requestDeleteRange: message(3, () => DeleteRangeRequest),
});

export interface ResponseOp {
  readonly responseRange?: RangeResponse | undefined;
  readonly responsePut?: PutResponse | undefined;
  readonly responseDeleteRange?: DeleteRangeResponse | undefined;
}

export const ResponseOp: MessageType<ResponseOp> = defineMessage({
  responseRange: message(1, () => RangeResponse),
  responsePut: message(2, () => PutResponse),
  responseDeleteRange: message(3, () => DeleteRangeResponse),
});

export const Compare_CompareResult = {
  EQUAL: 0,
  GREATER: 1,
  LESS: 2,
  NOT_EQUAL: 3,
} as const;

export type Compare_CompareResult = (typeof Compare_CompareResult)[keyof typeof Compare_CompareResult];

export const Compare_CompareTarget = {
  VERSION: 0,
  CREATE: 1,
  MOD: 2,
  VALUE: 3,
  LEASE: 4,
} as const;

export type Compare_CompareTarget = (typeof Compare_CompareTarget)[keyof typeof Compare_CompareTarget];

export interface Compare {
  readonly result: Compare_CompareResult;
  readonly target: Compare_CompareTarget;
  readonly key: Buffer;
  /** 0: the key is absent. */
  readonly modRevision?: number | undefined;
}

export const Compare: MessageType<Compare> = defineMessage({
  result: one(1, enumeration<Compare_CompareResult>()),
  target: one(2, enumeration<Compare_CompareTarget>()),
  key: one(3, bytes),
  modRevision: optional(6, int64Number),
});

export interface TxnRequest {
  readonly compare: readonly Compare[];
  readonly success: readonly RequestOp[];
  readonly failure: readonly RequestOp[];
}

export const TxnRequest: MessageType<TxnRequest> = defineMessage({
  compare: messages(1, () => Compare),
  success: messages(2, () => RequestOp),
  failure: messages(3, () => RequestOp),
});

export interface TxnResponse {
  readonly header?: ResponseHeader | undefined;
  readonly succeeded: boolean;
  readonly responses: readonly ResponseOp[];
}

export const TxnResponse: MessageType<TxnResponse> = defineMessage({
  header: message(1, () => ResponseHeader),
  succeeded: one(2, bool),
  responses: messages(3, () => ResponseOp),
});

export interface WatchRequest {
  readonly createRequest?: WatchCreateRequest | undefined;
}

export const WatchRequest: MessageType<WatchRequest> = defineMessage({
  createRequest: message(1, () => WatchCreateRequest),
});

export interface WatchCreateRequest {
  readonly key: Buffer;
  readonly rangeEnd: Buffer;
  /** The first revision that is wanted. */
  readonly startRevision: number;
  /** Tells now and then how far it is while nothing happens. */
  readonly progressNotify: boolean;
  /** May tell a revision with many changes in several answers. */
  readonly fragment: boolean;
}

export const WatchCreateRequest: MessageType<WatchCreateRequest> = defineMessage({
  key: one(1, bytes),
  rangeEnd: one(2, bytes),
  startRevision: one(3, int64Number),
  progressNotify: one(4, bool),
  fragment: one(8, bool),
});

export interface WatchResponse {
  readonly header?: ResponseHeader | undefined;
  readonly created: boolean;
  readonly canceled: boolean;
  /** Above 0: what was asked for is forgotten. */
  readonly compactRevision: number;
  readonly cancelReason: string;
  /** More of this answer follows. */
  readonly fragment: boolean;
  readonly events: readonly Event[];
}

export const WatchResponse: MessageType<WatchResponse> = defineMessage({
  header: message(1, () => ResponseHeader),
  created: one(3, bool),
  canceled: one(4, bool),
  compactRevision: one(5, int64Number),
  cancelReason: one(6, string),
  fragment: one(7, bool),
  events: messages(11, () => Event),
});

export interface LeaseGrantRequest {
  /** Seconds. */
  readonly TTL: number;
}

export const LeaseGrantRequest: MessageType<LeaseGrantRequest> = defineMessage({
  TTL: one(1, int64Number),
});

export interface LeaseGrantResponse {
  readonly header?: ResponseHeader | undefined;
  readonly ID: string;
  readonly TTL: number;
}

export const LeaseGrantResponse: MessageType<LeaseGrantResponse> = defineMessage({
  header: message(1, () => ResponseHeader),
  ID: one(2, int64Text),
  TTL: one(3, int64Number),
});

export interface LeaseRevokeRequest {
  readonly ID: string;
}

export const LeaseRevokeRequest: MessageType<LeaseRevokeRequest> = defineMessage({
  ID: one(1, int64Text),
});

export interface LeaseRevokeResponse {
  readonly header?: ResponseHeader | undefined;
}

export const LeaseRevokeResponse: MessageType<LeaseRevokeResponse> = defineMessage({
  header: message(1, () => ResponseHeader),
});

export interface LeaseKeepAliveRequest {
  readonly ID: string;
}

export const LeaseKeepAliveRequest: MessageType<LeaseKeepAliveRequest> = defineMessage({
  ID: one(1, int64Text),
});

export interface LeaseKeepAliveResponse {
  readonly header?: ResponseHeader | undefined;
  readonly ID: string;
  /** 0: the lease has ended. */
  readonly TTL: number;
}

export const LeaseKeepAliveResponse: MessageType<LeaseKeepAliveResponse> = defineMessage({
  header: message(1, () => ResponseHeader),
  ID: one(2, int64Text),
  TTL: one(3, int64Number),
});

export interface AuthenticateRequest {
  readonly name: string;
  readonly password: string;
}

export const AuthenticateRequest: MessageType<AuthenticateRequest> = defineMessage({
  name: one(1, string),
  password: one(2, string),
});

export interface AuthenticateResponse {
  readonly header?: ResponseHeader | undefined;
  readonly token: string;
}

export const AuthenticateResponse: MessageType<AuthenticateResponse> = defineMessage({
  header: message(1, () => ResponseHeader),
  token: one(2, string),
});

export const KVDefinition = {
  fullName: 'etcdserverpb.KV',
  methods: {
    range: {
      name: 'Range',
      requestType: RangeRequest,
      requestStream: false,
      responseType: RangeResponse,
      responseStream: false,
    },
    put: {
      name: 'Put',
      requestType: PutRequest,
      requestStream: false,
      responseType: PutResponse,
      responseStream: false,
    },
    deleteRange: {
      name: 'DeleteRange',
      requestType: DeleteRangeRequest,
      requestStream: false,
      responseType: DeleteRangeResponse,
      responseStream: false,
    },
    txn: {
      name: 'Txn',
      requestType: TxnRequest,
      requestStream: false,
      responseType: TxnResponse,
      responseStream: false,
    },
  },
} as const;

export const WatchDefinition = {
  fullName: 'etcdserverpb.Watch',
  methods: {
    watch: {
      name: 'Watch',
      requestType: WatchRequest,
      requestStream: true,
      responseType: WatchResponse,
      responseStream: true,
    },
  },
} as const;

export const LeaseDefinition = {
  fullName: 'etcdserverpb.Lease',
  methods: {
    leaseGrant: {
      name: 'LeaseGrant',
      requestType: LeaseGrantRequest,
      requestStream: false,
      responseType: LeaseGrantResponse,
      responseStream: false,
    },
    leaseRevoke: {
      name: 'LeaseRevoke',
      requestType: LeaseRevokeRequest,
      requestStream: false,
      responseType: LeaseRevokeResponse,
      responseStream: false,
    },
    leaseKeepAlive: {
      name: 'LeaseKeepAlive',
      requestType: LeaseKeepAliveRequest,
      requestStream: true,
      responseType: LeaseKeepAliveResponse,
      responseStream: true,
    },
  },
} as const;

export const AuthDefinition = {
  fullName: 'etcdserverpb.Auth',
  methods: {
    authenticate: {
      name: 'Authenticate',
      requestType: AuthenticateRequest,
      requestStream: false,
      responseType: AuthenticateResponse,
      responseStream: false,
    },
  },
} as const;
