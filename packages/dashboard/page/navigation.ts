/** Where the page is: in the address after `#`, so that back, forward and bookmarks work. */
import { follow } from './connection.js';
import { change, type Opened, type Section, sections, state } from './state.js';

let before: Element | null = null;

export function open(opened: Opened): void {
  if (state.opened === undefined) before = document.activeElement;
  go(state.section, opened);
  requestAnimationFrame(() =>
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.detail h2')?.focus()),
  );
}

export function close(): void {
  go(state.section, undefined);
  if (before instanceof HTMLElement && before.isConnected) before.focus();
  before = null;
}

export function go(section: Section, opened?: Opened): void {
  const rest = opened === undefined ? '' : `/${opened.kind}/${encodeURIComponent(opened.id)}`;
  const next = `#${section}${rest}`;
  if (location.hash !== next) history.pushState(null, '', next);
  readLocation();
}

export function readLocation(): void {
  const [name = '', kind, id] = location.hash.slice(1).split('/');
  const section = sections.find((each) => each === name) ?? 'overview';
  const opened =
    (kind === 'pod' || kind === 'node') && id !== undefined ? ({ kind, id: decode(id) } as const) : undefined;
  change({ section, opened });
  follow(opened);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
