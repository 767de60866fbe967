import type { IncomingMessage } from 'node:http';
import {
  negotiateProtocol,
  spdyCommandProtocols,
  spdyPortForwardProtocols,
  spdyUpgrade,
  streamProtocolHeader,
  acceptedProtocolsHeader,
  webSocketCommandProtocols,
  webSocketPortForwardProtocols,
} from '../protocols.js';
import type { StreamingRequest } from './requests.js';

export type Negotiated = { readonly transport: 'spdy' | 'websocket'; readonly protocol: string };

/** An answer instead of the upgrade. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Chooses what to speak, from the request's headers alone. */
export function negotiate(
  request: Pick<IncomingMessage, 'headers' | 'method'>,
  kind: StreamingRequest['kind'],
): Negotiated | Refusal {
  const upgrade = request.headers.upgrade?.toLowerCase() ?? '';
  if (upgrade === 'websocket') return negotiateWebSocket(request, kind);
  if (upgrade.includes(spdyUpgrade.toLowerCase())) return negotiateSpdy(request, kind);
  return { status: 400, message: `an upgrade to ${spdyUpgrade} or websocket is needed` };
}

function negotiateSpdy(request: Pick<IncomingMessage, 'headers'>, kind: string): Negotiated | Refusal {
  const offered = listOf(request.headers[streamProtocolHeader.toLowerCase()]);
  if (offered.length === 0) return { status: 400, message: `the header ${streamProtocolHeader} is needed` };
  const supported = kind === 'portforward' ? spdyPortForwardProtocols : spdyCommandProtocols;
  const protocol = negotiateProtocol(offered, supported);
  if (protocol !== undefined) return { transport: 'spdy', protocol };
  const accepted = supported.join(', ');
  return {
    status: 403,
    message: `none of ${offered.join(', ')} is spoken here, but ${accepted}`,
    headers: { [acceptedProtocolsHeader]: accepted },
  };
}

/** A client that asks for no protocol speaks the oldest, and the answer names none. */
function negotiateWebSocket(
  request: Pick<IncomingMessage, 'headers' | 'method'>,
  kind: string,
): Negotiated | Refusal {
  if (request.method !== 'GET') return { status: 405, message: 'a WebSocket begins with GET' };
  const offered = listOf(request.headers['sec-websocket-protocol']);
  const supported = kind === 'portforward' ? webSocketPortForwardProtocols : webSocketCommandProtocols;
  const protocol = offered.length === 0 ? '' : negotiateProtocol(offered, supported);
  if (protocol !== undefined) return { transport: 'websocket', protocol };
  return {
    status: 403,
    message: `none of ${offered.join(', ')} is spoken here, but ${supported.join(', ')}`,
  };
}

function listOf(header: string | readonly string[] | undefined): string[] {
  const text = typeof header === 'string' ? header : (header ?? []).join(',');
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
