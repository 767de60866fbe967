/** The registry of network models: a new model is a package and one line here. Nothing else may import a model. */
import type { NetworkModel } from '@podwire/network-contract';
import { createOvnModel } from '@podwire/network-ovn';
import { createRoutedModel } from '@podwire/network-routed';
import { createSdnModel } from '@podwire/network-sdn';

/** The first one is the default of `networks[].model`. */
export const networkModels: readonly [NetworkModel, ...NetworkModel[]] = [
  createRoutedModel(),
  createSdnModel(),
  createOvnModel(),
];

export const indexModels = (models: readonly NetworkModel[]): ReadonlyMap<string, NetworkModel> =>
  new Map(models.map((model) => [model.name, model]));
