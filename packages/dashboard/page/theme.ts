/** Dark or light: the system's choice until a person makes another. */
import { change } from './state.js';

const key = 'podwire-theme';

/** A browser that keeps nothing (private windows, blocked storage) throws. */
function remember(theme: string): void {
  try {
    localStorage.setItem(key, theme);
  } catch {
    // The choice then ends with the page.
  }
}

function recall(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

const prefersDark = (): boolean => matchMedia('(prefers-color-scheme: dark)').matches;

export const isDark = (): boolean => {
  const chosen = document.documentElement.dataset['theme'];
  return chosen === undefined ? prefersDark() : chosen === 'dark';
};

export function startTheme(): void {
  const chosen = recall();
  if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset['theme'] = chosen;
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => change());
}

export function switchTheme(): void {
  const next = isDark() ? 'light' : 'dark';
  document.documentElement.dataset['theme'] = next;
  remember(next);
  change();
}
