import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const source = path.resolve(import.meta.dirname, '../src');

test('OpenTelemetry is loaded by import() alone: its modules are large, and most processes never export', () => {
  const files = fs
    .readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(5);
  for (const file of files) {
    const text = fs.readFileSync(path.join(source, file), 'utf8');
    const imports = text.match(/^(import|export) [^;()]*from '@opentelemetry[^;]*;/gm) ?? [];
    expect(imports.filter((each) => !/^(import|export) type /.test(each))).toEqual([]);
  }
});
