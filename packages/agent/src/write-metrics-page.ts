import fs from 'node:fs';
import path from 'node:path';
import { renderMetricsPage } from './metrics-page.js';

/** Program: writes docs/metrics.md of the checkout it stands in. */
const file = path.resolve(import.meta.dirname, '../../../../docs/metrics.md');
fs.writeFileSync(file, renderMetricsPage());
console.log(file);
