/**
 * Which peers may have routes in the kernel: an agent that starts while the store is away must not take them for leftovers. A
 * line for each change, since with thousands of peers the whole would be written again and again.
 */
import type { Log } from '@podwire/platform';
import type { PeerView } from '@podwire/network-contract';
import { z } from 'zod';
import type { StateFiles } from './state-files.js';

const fileName = 'peers.jsonl';
/** Lines beyond twice the peers that are worth less than writing the file anew. */
const slack = 1_000;

const view = z.object({
  name: z.string(),
  ipv4: z.string().optional(),
  ipv6: z.string().optional(),
  tunnel: z.object({ mac: z.string(), ipv4: z.string().optional(), ipv6: z.string().optional() }).optional(),
  mtu: z.number().optional(),
  blocks: z.array(z.string()),
});
/** A peer as it was applied; only its name when it was removed. */
const line = z.union([view, z.object({ gone: z.string() })]);

export interface PeerJournal {
  /** What the last life has left behind. */
  readonly found: ReadonlyMap<string, PeerView>;
  /** Whether that is all of it: the file is there, and nothing of it is damaged. */
  readonly isComplete: boolean;
  /** Before a peer is applied, after one was removed (`undefined`). Never throws: a full disk is no reason to cut pods off. */
  note(changes: readonly (readonly [name: string, view: PeerView | undefined])[]): void;
}

/** @throws PodwireError RECORD_IO when it cannot be read */
export function openPeerJournal(files: StateFiles, nodeName: string, log: Log): PeerJournal {
  const text = files.read(fileName) ?? '';
  const found = readPeers(text);
  // A node that has been given another's name has known its new self as a peer.
  found.delete(nodeName);
  /** Lines of those that are there. */
  const current = new Map([...found].map(([name, peer]) => [name, JSON.stringify(peer)]));
  let lines = 0;
  /** A line that was torn, by a crash or a full disk, would make one with the next. */
  let isWhole = false;

  function rewrite(): void {
    files.write(fileName, inLines([...current.values()]));
    lines = current.size;
    isWhole = true;
  }
  function append(news: readonly string[]): void {
    isWhole = false;
    files.append(fileName, inLines(news));
    lines += news.length;
    isWhole = true;
  }
  /** Takes it over. Returns the line that says it; most peers that are looked at again are what they were. */
  function take(name: string, peer: PeerView | undefined): string | undefined {
    const before = current.get(name);
    const text = peer === undefined ? undefined : JSON.stringify(peer);
    if (text === before) return undefined;
    if (text === undefined) current.delete(name);
    else current.set(name, text);
    return text ?? JSON.stringify({ gone: name });
  }
  function attempt(work: () => void): void {
    try {
      work();
    } catch (err) {
      log.error(
        { err },
        'the peers could not be written down; an agent that restarts without the store forgets them',
      );
    }
  }
  return {
    found,
    isComplete: isComplete(text),
    note(changes) {
      if (changes.length === 0) return;
      const news = changes.map(([name, peer]) => take(name, peer)).filter((text) => text !== undefined);
      if (isWhole && news.length === 0) return;
      attempt(() => {
        if (!isWhole || lines + news.length > current.size * 2 + slack) rewrite();
        else append(news);
      });
    },
  };
}

const inLines = (texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('');

function readPeers(text: string): Map<string, PeerView> {
  const peers = new Map<string, PeerView>();
  for (const one of text.split('\n')) {
    const read = readLine(one);
    if (read === undefined) continue;
    if ('gone' in read) peers.delete(read.gone);
    else peers.set(read.name, read as PeerView);
  }
  return peers;
}

/** A peer whose line was torn by a full disk was applied all the same. */
function isComplete(text: string): boolean {
  const lines = text.split('\n');
  return lines.length > 1 && lines.pop() === '' && lines.every((one) => readLine(one) !== undefined);
}

/** The last line may have been torn; it was not applied then. */
function readLine(text: string): z.output<typeof line> | undefined {
  if (text === '') return undefined;
  try {
    const parsed = line.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
