import type { AnyObject } from '../contract.js';

/**
 * The object as it is saved over another: where it says nothing of its status, that of the other stays. People write objects without
 * one, and a controller writes both.
 */
export function withStatusOf(object: AnyObject, before: AnyObject | undefined): AnyObject {
  const { status } = (before ?? {}) as { readonly status?: unknown };
  return status === undefined || 'status' in object ? object : Object.assign({}, object, { status });
}
