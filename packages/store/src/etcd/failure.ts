/** Translates etcd's and gRPC's errors for the caller. */
import { type ErrorCode, PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import { unavailable } from '../failures.js';

/**
 * - `unsent`: it never reached the member. Another one may be asked, whatever it was.
 * - `unready`: the member refused it before doing anything, and will take it in a while: there is no leader.
 * - `unknown`: it may have been done.
 * - `token`: the member does not know our token (any more); nothing was done.
 * - `compacted`, `future`: the revision is forgotten, or has not been yet.
 * - `no-lease`: the lease has ended.
 * - `final`: it is refused, and would be again.
 */
export type FailureKind =
  'unsent' | 'unready' | 'unknown' | 'token' | 'compacted' | 'future' | 'no-lease' | 'final';

/** Why one attempt at one member failed. Never seen outside of this folder. */
export class EtcdFailure extends Error {
  readonly kind: FailureKind;
  readonly code: ErrorCode;
  /** True if the member itself answered; otherwise it may be dead. */
  readonly isAnswer: boolean;

  constructor(
    kind: FailureKind,
    message: string,
    options: { readonly code?: ErrorCode; readonly isAnswer?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'EtcdFailure';
    this.kind = kind;
    this.code = options.code ?? 'STORE_UNAVAILABLE';
    this.isAnswer = options.isAnswer ?? true;
  }
}

interface Rule {
  readonly says: RegExp;
  readonly kind: FailureKind;
  readonly code?: ErrorCode;
}

/**
 * By their text, which is the interface: many share a status (etcd, api/v3rpc/rpctypes/error.go). Some of 3.4 come without the
 * prefix.
 */
const rules: readonly Rule[] = [
  // Of gRPC: another call has closed the connection.
  { says: /^Channel closed before call started/, kind: 'unready' },
  { says: /no leader|not leader|too many requests|not capable|not supported for learner/, kind: 'unready' },
  { says: /invalid auth token|user name is empty|auth.* revision .*old|revision of auth/, kind: 'token' },
  {
    says: /permission denied|authentication failed|user name not found/,
    kind: 'final',
    code: 'STORE_DENIED',
  },
  { says: /database space exceeded/, kind: 'final', code: 'STORE_FULL' },
  { says: /revision has been compacted/, kind: 'compacted' },
  { says: /future revision/, kind: 'future' },
  { says: /requested lease not found/, kind: 'no-lease', code: 'STORE_LEASE_LOST' },
  {
    says: /request is too large|too many operations|duplicate key|too large lease TTL|message larger than max/,
    kind: 'final',
    code: 'REQUEST_INVALID',
  },
  { says: /corrupt cluster/, kind: 'final' },
];

/** gRPC's messages for a call that found no connection; all others may have been sent. */
const unsent = /^No connection established|^Name resolution failed/;

/**
 * The other side ends the handshake because of our certificate. With TLS 1.3 a client learns of it after its handshake, when the
 * first call is under way; that call was never read.
 */
const refusedCertificate =
  /alert (bad certificate|certificate required|unknown ca|certificate (expired|revoked|unknown))/i;
/** grpc-js wraps what the connection failed with: `No connection established. Last error: TEXT (TIME). Resolution note: `. */
const shorten = (text: string): string =>
  /Last error: (.+?)(?: \(\d{4}-[^)]*\))?\. Resolution note/s.exec(text)?.[1] ?? text;

const untrusted =
  /unable to (get|verify)|self[- ]signed certificate|certificate has expired|certificate is not yet valid|altnames|does not match certificate/i;

// Of @grpc/grpc-js, which is loaded late.
const grpcStatus = { PERMISSION_DENIED: 7, UNIMPLEMENTED: 12 };

/** Of what a call of grpc-js rejects with, or a stream fails with. */
export function toFailure(cause: unknown): EtcdFailure {
  if (cause instanceof EtcdFailure) return cause;
  const { code, details } = (cause ?? {}) as { readonly code?: unknown; readonly details?: unknown };
  const text = typeof details === 'string' ? details : String(cause);
  if (refusedCertificate.test(text) || untrusted.test(text))
    return new EtcdFailure('unsent', shorten(text), { code: 'STORE_DENIED', isAnswer: false, cause });
  if (unsent.test(text)) return new EtcdFailure('unsent', shorten(text), { isAnswer: false, cause });
  const rule = rules.find(({ says }) => says.test(text));
  if (rule !== undefined) return new EtcdFailure(rule.kind, text, { ...compact({ code: rule.code }), cause });
  if (code === grpcStatus.UNIMPLEMENTED)
    return new EtcdFailure('final', `this is no etcd with version 3 of its interface: ${text}`, { cause });
  if (code === grpcStatus.PERMISSION_DENIED)
    return new EtcdFailure('final', text, { code: 'STORE_DENIED', cause });
  return new EtcdFailure('unknown', text, { isAnswer: text.startsWith('etcdserver:'), cause });
}

const howToFreeEtcd =
  'Compact, defragment and disarm the alarm, or raise the quota of etcd. Nodes go on with the blocks they have.';

/**
 * The error for the caller of the store.
 * @param where `Range at http://127.0.0.1:2379`
 * @param uncertain whether something may have been written nevertheless
 */
export function toPodwireError(failure: EtcdFailure, where: string, uncertain: boolean): PodwireError {
  const message = `${where}: ${failure.message}`;
  const code = failure.kind === 'token' ? 'STORE_DENIED' : failure.code;
  if (code === 'STORE_UNAVAILABLE') return unavailable(message, { uncertain, cause: failure });
  return new PodwireError(code, message, {
    cause: failure,
    details: { uncertain },
    ...(code === 'STORE_FULL' ? { action: howToFreeEtcd } : {}),
  });
}
