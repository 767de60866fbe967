export { type CatalogueEntry, errorCatalogue, type ErrorCode } from './catalogue.js';
export { describeCniCode } from './cni-code.js';
export { describeError, type ErrorDetails, PodwireError } from './podwire-error.js';
export { redactUrl } from './redact.js';
export { renderErrorCatalogue } from './render-catalogue.js';
