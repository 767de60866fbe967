/** One network of the configuration; which models it can have and what `options` they take comes from the registry. */
import type { NetworkModel } from '@podwire/network-contract';
import { z } from 'zod';
import { name } from './fields.js';
import { pool } from './pool.js';

export type Models = readonly [NetworkModel, ...NetworkModel[]];

export function networkSchema(models: Models) {
  const names = models.map((model) => model.name);
  const descriptions = models.map((model) => `\`${model.name}\`: ${model.description}`);
  return z
    .strictObject({
      name: name.meta({
        description: 'A plugin configuration chooses the network by `network`, or by its own name.',
        example: 'default',
      }),
      model: z
        .enum(names as [string, ...string[]])
        .default(models[0].name)
        .meta({ description: `How pods are wired. ${descriptions.join(' ')}` }),
      pools: z.array(pool).min(1).optional().meta({
        description:
          'Where addresses come from; a pod gets one of each family that a pool offers. Not with `cluster`: there the pools are in the store.',
        defaultText: '**required** without `cluster`',
      }),
      natOutgoing: z.boolean().default(true).meta({
        description: "Traffic that leaves the pools carries the node's address.",
      }),
      mtu: z.int().min(576).max(65_535).optional().meta({
        description:
          'MTU of pod links in bytes. By default that of the uplink (the link of the default route), or else the smallest of the links that are up.',
        example: 1450,
      }),
      ...optionsField(models),
    })
    .transform((network, context) => {
      const options = parseOptions(models, network, context);
      return options === undefined ? network : { ...network, options };
    });
}

/** The key is unknown as long as no model has options. */
function optionsField(models: Models): { options?: z.ZodOptional<z.ZodUnknown> } {
  if (models.every(({ optionsSchema }) => optionsSchema === undefined)) return {};
  return { options: z.unknown().optional().meta({ description: 'Options of the model; see below.' }) };
}

function parseOptions(
  models: Models,
  { model, options }: { readonly model: string; readonly options?: unknown },
  context: z.RefinementCtx,
): unknown {
  const schema = models.find(({ name: each }) => each === model)?.optionsSchema;
  if (schema === undefined) {
    if (options !== undefined) addIssue(context, [], `networks of model ${model} have no options`);
    return undefined;
  }
  const { success, data, error } = schema.safeParse(options ?? {});
  if (success) return data;
  for (const { path, message } of error.issues) addIssue(context, path, message);
  return undefined;
}

function addIssue(context: z.RefinementCtx, path: readonly PropertyKey[], message: string): void {
  context.addIssue({ code: 'custom', path: ['options', ...path], message });
}
