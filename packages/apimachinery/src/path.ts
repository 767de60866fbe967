/** Places within a value, and values in messages. */

export type Path = readonly (string | number)[];

/** A value in a message: as JSON, and not too much of it. */
export function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a map';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

/** `spec.containers[0].ports[1].hostPort`; keys that are no plain words stand in quotes. */
export function formatPath(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    const key = /^[\w-]+$/.test(step) ? step : JSON.stringify(step);
    return text === '' ? key : `${text}.${key}`;
  }, '');
}
