import { type ContainerConfig, type CreateContainerRequest, CriError, nowNanoseconds } from '@podwire/cri';
import { emitContainerEvent } from '../emit-events.js';
import { type Context, newId } from '../context.js';
import { findImage, rootOf } from '../images/images.js';
import { writeContainer } from '../state/directory.js';
import {
  type ContainerEntry,
  containersOf,
  isReady,
  needSandbox,
  type SandboxEntry,
} from '../state/inventory.js';
import { checkContainer } from './plan.js';

/**
 * Writes down what is to be run; nothing is made before the start.
 * @throws CriError NOT_FOUND, FAILED_PRECONDITION when the sandbox is not ready, INVALID_ARGUMENT, ALREADY_EXISTS
 */
export function createContainer(context: Context, request: CreateContainerRequest): string {
  const { config } = request;
  if (config === undefined) throw new CriError('INVALID_ARGUMENT', 'config is missing');
  const sandbox = needSandbox(context.inventory, request.podSandboxId);
  if (!isReady(sandbox))
    throw new CriError('FAILED_PRECONDITION', `sandbox ${sandbox.record.id} is not ready`);
  checkContainer(config);
  refuseExisting(context, sandbox, config);
  return create(context, sandbox, config);
}

function create(context: Context, sandbox: SandboxEntry, config: ContainerConfig): string {
  const record = {
    id: newId(context.random),
    sandboxId: sandbox.record.id,
    config,
    createdAt: nowNanoseconds(context.clock),
    root: rootOf(config, sandbox.record.config),
    imageRef: findImage(config.image?.image ?? '')?.id ?? '',
  };
  context.faults.reach('create:begin');
  writeContainer(context.directory, record);
  context.faults.reach('create:recorded');
  const entry: ContainerEntry = {
    ...{ record, shim: undefined, state: undefined, starting: undefined, ended: undefined },
  };
  context.inventory.containers.set(record.id, entry);
  emitContainerEvent(context, entry, 'CREATED');
  return record.id;
}

function refuseExisting(context: Context, sandbox: SandboxEntry, { metadata }: ContainerConfig): void {
  const { name, attempt } = metadata ?? {};
  for (const { record } of containersOf(context.inventory, sandbox.record.id)) {
    const other = record.config.metadata;
    if (other?.name !== name || other?.attempt !== attempt) continue;
    const what = `container ${name} (attempt ${attempt})`;
    throw new CriError('ALREADY_EXISTS', `the sandbox has a ${what} already: ${record.id}`);
  }
}
