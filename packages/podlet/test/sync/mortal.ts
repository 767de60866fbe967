import type { CriRuntime } from '@podwire/cri';
import type { PodletFaults } from '../../src/sync/sync-context.js';
import type { PodPreparation } from '../../src/parts.js';

/** One life of a podlet, which can end between any two steps as if by kill -9: nothing that it does afterwards has an effect. */
export interface Life {
  readonly faults: PodletFaults;
  readonly steps: string[];
  wrap(runtime: CriRuntime): CriRuntime;
  wrapPreparation(preparation: PodPreparation): PodPreparation;
  kill(): void;
  /** It will not end at any step any more. */
  goOn(): void;
  isOver(): boolean;
}

/** @param lastStep the number of the step at which it ends; none by default */
export function createLife(lastStep = Infinity): Life {
  let over = false;
  let mortal = true;
  const steps: string[] = [];
  return {
    steps,
    faults: {
      at(step) {
        if (!over) steps.push(step);
        if (mortal && steps.length >= lastStep) over = true;
        if (over) throw new Error(`killed ${step}`);
      },
    },
    wrap: (runtime) => guard(runtime, () => over),
    wrapPreparation: (preparation) => guard(preparation, () => over),
    kill: () => {
      over = true;
    },
    goOn: () => {
      mortal = false;
    },
    isOver: () => over,
  };
}

/** A dead caller's calls are not made, and answers do not reach it. */
function guard<T extends object>(target: T, isOver: () => boolean): T {
  return new Proxy(target, {
    get: (inner, name) => {
      const member: unknown = Reflect.get(inner, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (name === 'getContainerEvents') return Reflect.apply(member, inner, args) as unknown;
        if (isOver()) return never;
        const answer = Promise.resolve(Reflect.apply(member, inner, args) as unknown);
        return answer.then(
          (value) => (isOver() ? never : value),
          (error: unknown) => (isOver() ? never : Promise.reject(error as Error)),
        );
      };
    },
  });
}

const never = new Promise<never>(() => undefined);
