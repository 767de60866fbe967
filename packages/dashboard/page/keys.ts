/** The keyboard: everything that the mouse can do. */
import { close, go } from './navigation.js';
import { change, sections, state } from './state.js';
import { switchTheme } from './theme.js';

export const keys: readonly (readonly [string, string])[] = [
  ['1 … 6', 'the sections'],
  ['↑ ↓ Home End', 'the rows of a list'],
  ['Enter', 'opens a row; zooms into a step of a trace'],
  ['← →', 'the tabs of details'],
  ['/', 'filters'],
  ['Esc', 'closes details, clears the filter'],
  ['t', 'dark or light'],
  ['?', 'these keys'],
];

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement && target.type !== 'checkbox';

export function handleKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Escape') return escape(event);
  if (isTyping(event.target) || document.querySelector('dialog[open]') !== null) return;
  const section = sections[Number(event.key) - 1];
  if (section !== undefined) return go(section);
  const action = actions[event.key];
  if (action?.(event.target) === true) event.preventDefault();
}

/** @returns whether the key was used */
type Action = (target: EventTarget | null) => boolean;

const actions: Readonly<Record<string, Action>> = {
  '/': () => {
    document.querySelector<HTMLInputElement>('#filter')?.focus();
    return true;
  },
  '?': () => {
    showKeys();
    return true;
  },
  t: () => {
    switchTheme();
    return true;
  },
  ArrowDown: (target) => walk(target, 1),
  ArrowUp: (target) => walk(target, -1),
  Home: (target) => walk(target, -Infinity),
  End: (target) => walk(target, Infinity),
  ArrowRight: (target) => turn(target, 1),
  ArrowLeft: (target) => turn(target, -1),
};

export const showKeys = (): void => document.querySelector<HTMLDialogElement>('#keys')?.showModal();

function escape(event: KeyboardEvent): void {
  if (document.querySelector('dialog[open]') !== null) return;
  if (isTyping(event.target)) {
    (event.target as HTMLInputElement).blur();
    return change({ filter: '' });
  }
  if (state.opened !== undefined) return close();
  if (state.filter !== '') change({ filter: '' });
}

/** To another row of the list; from anywhere else to the first list of the page. */
function walk(target: EventTarget | null, step: number): boolean {
  const from = target instanceof Element ? target.closest<HTMLElement>('.rowButton') : null;
  const list = from?.closest('[data-list]') ?? document.querySelector('main [data-list]');
  const rows = [...(list?.querySelectorAll<HTMLElement>('.rowButton') ?? [])];
  if (rows.length === 0 || (from === null && target !== document.body)) return false;
  const at = from === null ? -1 : rows.indexOf(from);
  const next = Math.max(0, Math.min(rows.length - 1, at + step));
  rows[next]!.focus();
  rows[next]!.scrollIntoView({ block: 'nearest' });
  return true;
}

/** To another tab. */
function turn(target: EventTarget | null, step: number): boolean {
  const from = target instanceof Element ? target.closest<HTMLElement>('[role=tab]') : null;
  if (from === null) return false;
  const all = [...document.querySelectorAll<HTMLElement>('[role=tab]')];
  const next = all[(all.indexOf(from) + step + all.length) % all.length];
  next?.click();
  next?.focus();
  return true;
}
