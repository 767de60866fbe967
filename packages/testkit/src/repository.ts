import path from 'node:path';

/** The checkout, absolute. */
export const repository = path.resolve(import.meta.dirname, '../../../..');
