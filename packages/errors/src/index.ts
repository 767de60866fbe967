export { type CatalogueEntry, errorCatalogue, type ErrorCode } from './catalogue.js';
export { describeCniCode } from './cni-code.js';
export { describeError, type ErrorDetails, type ErrorOptions, PodwireError } from './podwire-error.js';
export { redactUrl } from './redact.js';
