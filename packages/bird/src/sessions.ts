import { compact } from '@podwire/platform';
import type { BgpSession } from './contract.js';
import type { BirdReply } from './control.js';
import { sessionName } from './render.js';

/**
 * Reads `show protocols all`: a head line for each protocol (name, kind, table, up or down, since, state), then indented
 * facts. Only sessions with these neighbours are returned, in their order.
 */
export function readSessions(reply: BirdReply, neighbours: readonly string[]): BgpSession[] {
  const sections = new Map<string, string[]>();
  let current: string[] = [];
  for (const { code, text } of reply.lines) {
    if (code === 1002) {
      current = [text];
      sections.set(text.split(/\s+/, 1)[0] ?? '', current);
    } else current.push(text);
  }
  return neighbours.map((neighbour) => readSession(neighbour, sections.get(sessionName(neighbour))));
}

function readSession(neighbour: string, section: readonly string[] | undefined): BgpSession {
  if (section === undefined) return { neighbour, state: 'Unknown', since: '' };
  const [, , , , since = ''] = section[0]!.split(/\s+/);
  const fact = (name: string): string | undefined =>
    section
      .map((line) => new RegExp(`^\\s*${name}:\\s*(.*)$`).exec(line)?.[1])
      .find((value) => value !== undefined);
  const lastError = fact('Last error');
  return {
    neighbour,
    state: fact('BGP state') ?? 'Down',
    since,
    ...compact({ lastError }),
  };
}
