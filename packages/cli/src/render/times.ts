const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** How long ago, in its two largest units as far as that says something: `42s`, `5m10s`, `3h`, `12d`. */
export function formatAge(milliseconds: number): string {
  const age = Math.max(0, milliseconds);
  if (age < 2 * minute) return `${Math.floor(age / second)}s`;
  if (age < 10 * minute) return `${Math.floor(age / minute)}m${Math.floor((age % minute) / second)}s`;
  if (age < 3 * hour) return `${Math.floor(age / minute)}m`;
  if (age < 2 * day) return `${Math.floor(age / hour)}h`;
  return `${Math.floor(age / day)}d`;
}

/** Milliseconds for people: three digits that count. */
export function formatMilliseconds(value: number): string {
  if (value >= 10_000) return `${(value / second).toFixed(1)} s`;
  if (value >= 100) return `${value.toFixed(0)} ms`;
  if (value >= 10) return `${value.toFixed(1)} ms`;
  return `${value.toFixed(2)} ms`;
}
