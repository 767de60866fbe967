/** Access: for the bearer of the token, through a name of this machine. Pure, but for the token's making. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

export const createToken = (): string => randomBytes(32).toString('base64url');

/** Cookies are shared by all ports of a host, so each port has its own. */
export const cookieName = (port: number): string => `podwire-${port}`;

export function formatCookie(port: number, token: string): string {
  return `${cookieName(port)}=${token}; Path=/; HttpOnly; SameSite=Strict`;
}

/** Reports if the token is in the cookie, or in an `Authorization: Bearer` header as scripts send it. */
export function isAuthorized({ headers }: IncomingMessage, port: number, token: string): boolean {
  const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
  const cookies = (headers.cookie ?? '').split(';').map((each) => each.trim());
  const prefix = `${cookieName(port)}=`;
  const given = [
    bearer,
    ...cookies.filter((each) => each.startsWith(prefix)).map((each) => each.slice(prefix.length)),
  ];
  return given.some((each) => each !== undefined && isSame(each, token));
}

/** In the same time whatever is given: digests have one length. */
export function isSame(given: string, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

/**
 * Against DNS rebinding: a page of another origin that made its name point here sends its own name. A server that listens on
 * every address takes any address, since that trick needs a name.
 */
export function isOwnHost(host: string | undefined, listen: string, port: number): boolean {
  const [, name = '', given = ''] = /^(\[[0-9a-fA-F:.]+\]|[^:]+)(?::(\d+))?$/.exec(host ?? '') ?? [];
  if (Number(given === '' ? 80 : given) !== port) return false;
  const address = name.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (['localhost', '127.0.0.1', '::1', listen.toLowerCase()].includes(address)) return true;
  return ['0.0.0.0', '::'].includes(listen) && isIP(address) !== 0;
}

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** On every answer. */
export const safetyHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};
