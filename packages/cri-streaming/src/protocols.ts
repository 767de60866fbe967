/** Names of the protocols on the wire, and which of two lists is spoken. */

export const spdyUpgrade = 'SPDY/3.1';

/** For exec and attach over SPDY, best first. v4 gives exit codes, v3 terminal sizes; v2 and v1 differ from it in nothing else. */
export const spdyCommandProtocols = [
  'v4.channel.k8s.io',
  'v3.channel.k8s.io',
  'v2.channel.k8s.io',
  'channel.k8s.io',
] as const;

export const spdyPortForwardProtocols = ['portforward.k8s.io'] as const;

/** For exec and attach over WebSocket. v5 adds the end of stdin. */
export const webSocketCommandProtocols = [
  'v5.channel.k8s.io',
  'v4.channel.k8s.io',
  'v4.base64.channel.k8s.io',
  'channel.k8s.io',
  'base64.channel.k8s.io',
] as const;

export const webSocketPortForwardProtocols = ['v4.channel.k8s.io', 'v4.base64.channel.k8s.io'] as const;

export const streamProtocolHeader = 'X-Stream-Protocol-Version';
export const acceptedProtocolsHeader = 'X-Accepted-Stream-Protocol-Versions';

/** @returns the client's first choice that the server knows */
export function negotiateProtocol(
  offered: readonly string[],
  supported: readonly string[],
): string | undefined {
  return offered.find((protocol) => supported.includes(protocol));
}

/** True if terminal sizes travel, on a stream of their own. */
export function hasResizeStream(protocol: string): boolean {
  return protocol.startsWith('v3.') || protocol.startsWith('v4.');
}

/** Channels of exec and attach over WebSocket: the first three are the process's file descriptors. */
export const commandChannels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;
