import type { Span } from '@podwire/tracing';

export const traceId = '0af7651916cd43dd8448eb211c80319c';

/** A span whose id is its name's number. */
export function makeSpan(id: number, more: Partial<Span> = {}): Span {
  return {
    traceId,
    spanId: idOf(id),
    name: `span ${id}`,
    startedAt: 1000,
    duration: 10,
    attributes: {},
    ...more,
  };
}

export const idOf = (id: number): string => id.toString(16).padStart(16, '0');
