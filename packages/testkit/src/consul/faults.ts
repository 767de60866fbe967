/** Faults that a test plans for the next request that fits. */

export type Fault =
  /** This answer, and nothing is done. */
  | { readonly kind: 'answer'; readonly status: number; readonly text: string }
  /** Nothing is done, no answer comes. */
  | { readonly kind: 'hang' }
  /** The connection is cut before anything is done. */
  | { readonly kind: 'cut' }
  /** It is done, and the connection is cut instead of an answer. */
  | { readonly kind: 'cut-after' };

interface Order {
  /** Part of `METHOD /path?query`. */
  readonly request: string;
  readonly fault: Fault;
  /** Absent: it stays. */
  readonly done?: () => void;
}

export interface FaultQueue {
  /** Resolves when it has happened. */
  next(request: string, fault: Fault): Promise<void>;
  /** With every request that fits, until `clear`. */
  always(request: string, fault: Fault): void;
  take(request: string): Fault | undefined;
  clear(): void;
}

export function createFaultQueue(): FaultQueue {
  let orders: readonly Order[] = [];
  return {
    next: (request, fault) =>
      new Promise((done) => {
        orders = [...orders, { request, fault, done }];
      }),
    always(request, fault) {
      orders = [...orders, { request, fault }];
    },
    take(request) {
      const order = orders.find((each) => request.includes(each.request));
      if (order === undefined) return undefined;
      if (order.done !== undefined) orders = orders.filter((each) => each !== order);
      order.done?.();
      return order.fault;
    },
    clear() {
      orders = [];
    },
  };
}
