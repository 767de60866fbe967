/** The schema as data (JSON Schema), for what is said about the configuration: suggestions and the reference. */
import type { NetworkModel } from '@podwire/network-contract';
import { z } from 'zod';
import { configSchema } from './schema.js';

export interface ShapeNode {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  /** In words, where the default is no constant. */
  readonly defaultText?: string;
  /** In words, where the type is a choice. */
  readonly typeText?: string;
  readonly example?: string | number;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, ShapeNode>>;
  readonly required?: readonly string[];
  readonly items?: ShapeNode;
}

let shape: ShapeNode | undefined;

/** The JSON Schema of the configuration file, for editors too. */
export function configShape(): ShapeNode {
  shape ??= z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as ShapeNode;
  return shape;
}

/** The options of each model that has any, by its name. */
export const optionShapes = (models: readonly NetworkModel[]): ReadonlyMap<string, ShapeNode> =>
  new Map(
    models.flatMap(({ name, optionsSchema: schema }) =>
      schema === undefined
        ? []
        : [[name, z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as ShapeNode]],
    ),
  );

/** The keys that the object at `path` may have. */
export function keysAt(path: readonly PropertyKey[]): readonly string[] {
  const node = path.reduce<ShapeNode | undefined>(
    (at, step) => (typeof step === 'number' ? at?.items : at?.properties?.[String(step)]),
    configShape(),
  );
  return Object.keys(node?.properties ?? {});
}
