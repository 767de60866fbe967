/** Numbers and times for people. Pure. */

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** `5 s`, `3 min`, `4 h`, `2 d`: one unit is enough at a glance. */
export function formatAge(milliseconds: number): string {
  const age = Math.max(0, milliseconds);
  if (age < minute) return `${Math.floor(age / second)} s`;
  if (age < hour) return `${Math.floor(age / minute)} min`;
  if (age < 2 * day) return `${Math.floor(age / hour)} h`;
  return `${Math.floor(age / day)} d`;
}

/** `42 µs`, `2.13 ms`, `61 ms`, `6.2 s`: three digits at most. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds === 0) return '0';
  if (milliseconds < 1) return `${Math.round(milliseconds * 1_000)} µs`;
  if (milliseconds < 10) return `${trim(milliseconds.toFixed(2))} ms`;
  if (milliseconds < 100) return `${trim(milliseconds.toFixed(1))} ms`;
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < minute) return `${trim((milliseconds / second).toFixed(2))} s`;
  return `${trim((milliseconds / minute).toFixed(1))} min`;
}

const trim = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);

/** `65,536`; an IPv6 pool has more than anyone reads: `2^64`. */
export function formatCount(count: string | number): string {
  const value = BigInt(count);
  if (value < 10_000_000_000n) return Number(value).toLocaleString('en');
  const bits = value.toString(2).length - 1;
  return value === 1n << BigInt(bits) ? `2^${bits}` : `≈ 2^${bits + Number(value > 3n << BigInt(bits - 1))}`;
}

export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent === 0) return '0 %';
  if (percent < 0.1) return '< 0.1 %';
  return `${percent < 10 ? trim(percent.toFixed(1)) : Math.round(percent)} %`;
}

export const formatBytes = (bytes: number): string => `${Math.round(bytes / (1 << 20))} MiB`;

/** `14:03:07`, with the date if it is not today's. */
export function formatTime(at: number, now: number): string {
  const [then, today] = [new Date(at), new Date(now)];
  const time = then.toLocaleTimeString('en-GB');
  return then.toDateString() === today.toDateString() ? time : `${then.toLocaleDateString('en-CA')} ${time}`;
}

/** `1 peer`, `2 peers` */
export const plural = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;

/** Round values from 0 to `span`, about `most` of them: steps of 1, 2 or 5 times a power of ten. */
export function chooseTicks(span: number, most = 5): number[] {
  if (!(span > 0)) return [0];
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough)!;
  return Array.from({ length: Math.floor(span / step + 1e-9) + 1 }, (_, index) => index * step);
}
