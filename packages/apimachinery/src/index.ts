export * from './names.js';
export { formatPath, type Path, show } from './path.js';
export * from './quantity.js';
export { suggest } from './suggest.js';
