/** Tools with which a package adds a command of its own: options, output, progress, interruption. */
export { checkoutFile } from './checkout.js';
export { addExamples, addOutput, optionsOf, outputOf } from './command.js';
export { withInterrupt } from './interrupt.js';
export { colorsFor, type Colors, exitCodes, type Io, widthOf, writeJson, writeLines } from './io.js';
export { ownName } from './own-name.js';
export { type Progress, startProgress } from './render/progress.js';
