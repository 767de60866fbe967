export { type CatalogueEntry, errorCatalogue, type ErrorCode } from './catalogue.js';
export { describeError, type ErrorDetails, PodwireError } from './podwire-error.js';
