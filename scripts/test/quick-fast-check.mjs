/**
 * fast-check with a tenth of the runs, for `npm run test:unit`: vitest.config.js puts it in the place of fast-check.
 * `npm test` runs every property as often as its test says.
 */
import * as full from '../../node_modules/fast-check/lib/fast-check.js';

const shorten = (parameters = {}) => ({
  ...parameters,
  numRuns: Math.ceil((parameters.numRuns ?? full.readConfigureGlobal().numRuns ?? 100) / 10),
});

export * from '../../node_modules/fast-check/lib/fast-check.js';
export const assert = (property, parameters) => full.assert(property, shorten(parameters));
export const check = (property, parameters) => full.check(property, shorten(parameters));
export default { ...full.default, assert, check };
