import type { Resource } from './resource.js';

/** One resource that could not be made or removed. */
export interface Failure {
  readonly resource: Resource;
  readonly error: unknown;
}
