/** Content of docs/errors.md. No command needs it, so it is not loaded with the errors. */
export {
  type DocumentedCode,
  renderErrorCatalogue,
  renderSituation,
  withoutMarks,
} from './render-catalogue.js';
export { type Situation, situations } from './situations/index.js';
