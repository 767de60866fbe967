/** Program: writes docs/tables.md of the checkout it stands in. */
import fs from 'node:fs';
import path from 'node:path';
import { renderPage } from './tables-page.js';

fs.writeFileSync(path.resolve(import.meta.dirname, '../../../../../docs/tables.md'), renderPage());
