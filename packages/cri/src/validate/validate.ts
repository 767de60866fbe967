/** Requests that no runtime can serve are refused here, before any runtime sees them. */
import type { ImageSpec } from '../messages.js';
import type { CriRuntime } from '../services.js';
import type { MethodName } from '../methods.js';
import { validateContainerConfig, validateImage, validateSandboxConfig } from './configs.js';
import * as rule from './rules.js';

type RequestOf<Name extends MethodName> = Parameters<CriRuntime[Name]>[0];
type Validators = { readonly [Name in MethodName]?: (request: RequestOf<Name>) => void };

const needsSandbox = ({ podSandboxId }: { readonly podSandboxId: string }): void =>
  rule.requireId('pod_sandbox_id', podSandboxId);
const needsContainer = ({ containerId }: { readonly containerId: string }): void =>
  rule.requireId('container_id', containerId);
const needsImage = ({ image }: { readonly image?: ImageSpec | undefined }): void =>
  validateImage('image', image);

/** Methods that are not here take whatever comes: lists, status, version. */
const validators: Validators = {
  runPodSandbox: ({ config }) => validateSandboxConfig(config),
  stopPodSandbox: needsSandbox,
  removePodSandbox: needsSandbox,
  podSandboxStatus: needsSandbox,
  podSandboxStats: needsSandbox,
  portForward: (request) => {
    needsSandbox(request);
    for (const [index, port] of request.port.entries()) rule.requirePort(`port[${index}]`, port, 1);
  },
  createContainer: (request) => {
    needsSandbox(request);
    validateContainerConfig(request.config);
  },
  startContainer: needsContainer,
  stopContainer: (request) => {
    needsContainer(request);
    rule.requireNotNegative('timeout', request.timeout);
  },
  removeContainer: needsContainer,
  containerStatus: needsContainer,
  containerStats: needsContainer,
  updateContainerResources: needsContainer,
  reopenContainerLog: needsContainer,
  execSync: (request) => {
    needsContainer(request);
    needsCommand(request.cmd);
    rule.requireNotNegative('timeout', request.timeout);
  },
  exec: (request) => {
    needsContainer(request);
    needsCommand(request.cmd);
    validateStreams(request);
  },
  attach: (request) => {
    needsContainer(request);
    validateStreams(request);
  },
  imageStatus: needsImage,
  pullImage: needsImage,
  removeImage: needsImage,
};

/** @throws CriError INVALID_ARGUMENT, naming the field as the interface spells it */
export function validateRequest(method: MethodName, request: unknown): void {
  const validate = validators[method] as ((request: unknown) => void) | undefined;
  validate?.(request);
}

function needsCommand(cmd: readonly string[]): void {
  if ((cmd[0] ?? '') === '') rule.refuse('cmd', 'is empty');
}

/** A terminal has one stream out, and without any stream there is nothing to do. */
function validateStreams(request: Omit<RequestOf<'attach'>, 'containerId'>): void {
  const { tty, stdin, stdout, stderr } = request;
  if (tty && stderr) rule.refuse('tty and stderr', 'cannot go together');
  if (!stdin && !stdout && !stderr) rule.refuse('stdin, stdout and stderr', 'are all off');
}
