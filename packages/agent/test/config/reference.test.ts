import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { configShape, renderConfigReference } from '../../src/config/index.js';
import { optionShapes, type ShapeNode } from '../../src/config/shape.js';
import { networkModels } from '../../src/models.js';

test('docs/configuration.md is what the schema says', () => {
  const file = path.resolve(import.meta.dirname, '../../../../docs/configuration.md');
  expect(fs.readFileSync(file, 'utf8')).toBe(renderConfigReference());
});

test('every key is described', () => {
  const undescribed = (node: ShapeNode, at: string): string[] =>
    Object.entries(node.properties ?? node.items?.properties ?? {}).flatMap(([key, field]) => [
      ...(field.description === undefined ? [`${at}.${key}`] : []),
      ...undescribed(field, `${at}.${key}`),
    ]);
  const shapes = [configShape(), ...optionShapes(networkModels).values()];
  expect(shapes.flatMap((shape) => undescribed(shape, ''))).toEqual([]);
});
