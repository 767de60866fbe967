// Writes docs/errors.md from the catalogue. Run by `npm run docs -w @podwire/errors`, which builds the package first.
import fs from 'node:fs';
import { renderErrorCatalogue } from '../dist/src/page.js';

const page = new URL('../../../docs/errors.md', import.meta.url);
fs.mkdirSync(new URL('.', page), { recursive: true });
fs.writeFileSync(page, renderErrorCatalogue());
console.log(`wrote ${page.pathname}`);
