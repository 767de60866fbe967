import { expect, test } from 'vitest';
import { carryOutAsFarAsPossible } from '../src/index.js';

/** Carries out all steps or none. @param refused steps that fail; `asOne` fails all of the others with them */
function transactions(refused: readonly number[], asOne: boolean) {
  const done: number[] = [];
  let calls = 0;
  const carryOut = async (steps: readonly number[]) => {
    calls += 1;
    const wrong = steps.filter((step) => refused.includes(step));
    if (wrong.length === 0) done.push(...steps);
    const failed = asOne && wrong.length > 0 ? steps : wrong;
    return Promise.resolve(failed.map((step) => ({ step, error: 'refused' })));
  };
  return { carryOut, done, calls: () => calls };
}

const steps = [1, 2, 3, 4, 5, 6, 7, 8];

test.each([
  [false, 2],
  [true, 11],
])('a step that is refused costs no other; all fail with it: %s', async (asOne, most) => {
  const { carryOut, done, calls } = transactions([3, 8], asOne);
  const failures = await carryOutAsFarAsPossible(steps, carryOut);
  expect(failures.map(({ step }) => step)).toEqual([3, 8]);
  expect(done).toEqual([1, 2, 4, 5, 6, 7]);
  expect(calls()).toBeLessThanOrEqual(most);
});

test('nothing to do is no call', async () => {
  const { carryOut, calls } = transactions([], false);
  expect(await carryOutAsFarAsPossible([], carryOut)).toEqual([]);
  expect(calls()).toBe(0);
});
