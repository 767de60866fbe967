import fs from 'node:fs';
import path from 'node:path';
import { renderConfigReference } from './reference.js';

/** Program: writes docs/configuration.md of the checkout it stands in. */
const file = path.resolve(import.meta.dirname, '../../../../../docs/configuration.md');
fs.writeFileSync(file, renderConfigReference());
console.log(file);
