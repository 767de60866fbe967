export * from './names.js';
export * from './quantity.js';
