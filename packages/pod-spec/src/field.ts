/** One value of a manifest in its place, so that every complaint can name its path. */
import { type Path, show } from '@podwire/apimachinery';

export type Report = (path: Path, message: string) => void;

export interface ReadContext {
  /** True if unknown fields, and those that Podwire cannot honour, are reported. */
  readonly strict: boolean;
  readonly report: Report;
  /** Told what cannot be honoured where that is no reason not to take the text: it comes from an API server. */
  readonly unsupported?: Report;
}

export class Field {
  /** Undefined when it is absent or null, which mean the same in Kubernetes. */
  readonly value: unknown;
  readonly context: ReadContext;
  readonly #parent: Field | undefined;
  readonly #step: string | number;
  /** Below something of a wrong type: that has been said, and nothing more follows from it. */
  readonly #muted: boolean;

  constructor(
    value: unknown,
    context: ReadContext,
    parent?: Field,
    step: string | number = '',
    muted = false,
  ) {
    this.value = value ?? undefined;
    this.context = context;
    this.#parent = parent;
    this.#step = step;
    this.#muted = muted;
  }

  get path(): Path {
    return this.#parent === undefined ? [] : [...this.#parent.path, this.#step];
  }

  get absent(): boolean {
    return this.value === undefined;
  }

  complain(message: string): void {
    if (!this.#muted) this.context.report(this.path, message);
  }

  /** It would change what the pod does, and cannot be honoured. */
  refuse(why: string): void {
    const message = `is not supported: ${why}`;
    if (this.context.strict) this.complain(message);
    else if (!this.#muted && !isEmpty(this.value)) this.context.unsupported?.(this.path, message);
  }

  /** An entry of a map; absent when there is none. */
  at(key: string): Field {
    const map = asMap(this.value);
    const value = map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
    return new Field(value, this.context, this, key, this.#muted || (!this.absent && map === undefined));
  }

  /** The items of a list; complains about anything else that is there. */
  items(): Field[] {
    if (this.absent) return [];
    if (Array.isArray(this.value)) {
      return this.value.map((item, index) => new Field(item, this.context, this, index, this.#muted));
    }
    this.complain(`must be a list, is ${show(this.value)}`);
    return [];
  }

  /** The keys of a map that have a value; complains about anything else that is there. */
  keys(): string[] {
    if (this.absent) return [];
    const map = asMap(this.value);
    if (map === undefined) this.complain(`must be a map, is ${show(this.value)}`);
    return Object.keys(map ?? {}).filter((key) => (map?.[key] ?? undefined) !== undefined);
  }
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === '';
}

function asMap(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isOne = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isOne ? (value as Record<string, unknown>) : undefined;
}
